package publish

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// currentName is the file that holds the id of the current snapshot.
const currentName = "current"

// Promote makes a snapshot the current one. A damaged snapshot is refused.
// Readers see the old one or the new one, also across a crash.
func Promote(root, id string) error {
	if _, err := Load(root, id); err != nil {
		return fmt.Errorf("promote %s: %w", id, err)
	}
	return advise(root, replaceFile(filepath.Join(root, currentName), []byte(id+"\n")))
}

// Current returns the id of the current snapshot, or ErrNotFound before the first
// promotion.
func Current(root string) (string, error) {
	data, err := os.ReadFile(filepath.Join(root, currentName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("no current snapshot in %s: %w", root, ErrNotFound)
	}
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(data))
	if !validID(id) {
		return "", &DamageError{Path: currentName, Reason: "not a snapshot id; promote a snapshot again"}
	}
	return id, nil
}

// An Info is a line of the list of snapshots.
type Info struct {
	ID string
	// CreatedAt is when it was written here; a snapshot itself does not know.
	CreatedAt time.Time
	AsOf      *time.Time
	Counts    Counts
	Synthetic bool
	// Signed reports that a signature exists; it is not verified.
	Signed, Current bool
}

// List returns the snapshots under root, newest first. It reads manifests only.
// Unreadable snapshots are reported as an error along with the others. A missing root
// has no snapshots.
func List(root string) ([]Info, error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	current, err := Current(root)
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	errs := []error{err}
	var all []Info
	for _, e := range entries {
		if !e.IsDir() || !validID(e.Name()) {
			continue
		}
		info, err := inspect(root, e.Name())
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", e.Name(), err))
			continue
		}
		info.Current = info.ID == current
		all = append(all, info)
	}
	slices.SortFunc(all, func(a, b Info) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return all, errors.Join(errs...)
}

func inspect(root, id string) (Info, error) {
	dir, err := openSnapshot(root, id)
	if err != nil {
		return Info{}, err
	}
	defer func() { _ = dir.Close() }()
	m, err := readManifest(dir, id)
	if err != nil {
		return Info{}, err
	}
	stat, err := dir.Stat(manifestName)
	if err != nil {
		return Info{}, err
	}
	_, sigErr := dir.Stat(signatureName)
	return Info{ID: id, CreatedAt: stat.ModTime().UTC(), AsOf: m.AsOf, Counts: m.Counts, Synthetic: m.Synthetic, Signed: sigErr == nil}, nil
}

// Prune removes all but the newest keep snapshots, never the current one, and leftovers
// of interrupted writers. It returns the removed ids. An unreadable snapshot is kept
// for inspection. Do not prune while another process publishes to the same root: Prune
// would remove its unfinished snapshot.
func Prune(root string, keep int) ([]string, error) {
	if keep < 0 {
		return nil, fmt.Errorf("keep %d snapshots: the number must be 0 or more", keep)
	}
	if _, err := Current(root); err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err // without the pointer the current one is not known
	}
	all, err := List(root)
	errs := []error{err}
	var removed []string
	for i, info := range all {
		if i < keep || info.Current {
			continue
		}
		// A reader must not see half of it.
		aside := filepath.Join(root, partial+"pruned-"+info.ID)
		if err := os.Rename(filepath.Join(root, info.ID), aside); err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, info.ID)
	}
	return removed, errors.Join(append(errs, sweep(root))...)
}

func sweep(root string) error {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), partial) {
			errs = append(errs, os.RemoveAll(filepath.Join(root, e.Name())))
		}
	}
	return errors.Join(errs...)
}
