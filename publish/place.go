package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/publish/storage"
)

// currentName is the file that holds the id of the current snapshot.
const currentName = "current"

// unfinished is the age at which Prune removes a snapshot without a manifest, and other
// leftovers of interrupted writers.
const unfinished = 24 * time.Hour

// promotions is how often Promote tries when other publishers promote at the same time.
const promotions = 4

// A Place holds published snapshots: a folder or a bucket. The files of a snapshot are
// below its id. Its manifest is written last and removed first: without one it is not there.
type Place struct {
	Store storage.Store
	// Cache is the folder for copies of the snapshots of a bucket; a folder needs neither it
	// nor Now.
	Cache string
	Now   func() time.Time
}

// Local returns the place of a folder.
func Local(root string) Place { return Place{Store: storage.Folder(root)} }

// Current returns the id of the current snapshot, or ErrNotFound before the first
// promotion.
func (p Place) Current(ctx context.Context) (string, error) {
	id, _, err := p.CurrentChanged(ctx, "")
	return id, err
}

// CurrentChanged is Current, with a tag for the next call. It fails with
// storage.ErrUnchanged, and sends little, while the current snapshot has the given tag.
func (p Place) CurrentChanged(ctx context.Context, known string) (id, tag string, err error) {
	data, tag, err := storage.ReadChanged(ctx, p.Store, currentName, known)
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", fmt.Errorf("no current snapshot in %s: %w", p.Store, ErrNotFound)
	}
	if err != nil {
		return "", tag, err
	}
	if id = strings.TrimSpace(string(data)); CheckID(id) != nil {
		return "", tag, &DamageError{Path: currentName, Reason: "not a snapshot id; promote a snapshot again"}
	}
	return id, tag, nil
}

// Promote makes a snapshot the current one. A damaged or incomplete snapshot is refused.
// Readers see the old one or the new one, also across a crash. Of two publishers, the last
// one wins.
func (p Place) Promote(ctx context.Context, id string) error {
	if err := p.complete(ctx, id); err != nil {
		return fmt.Errorf("promote %s: %w", id, err)
	}
	return p.advise(point(ctx, p.Store, id))
}

// point makes an id the current one of a store.
func point(ctx context.Context, in storage.Store, id string) error {
	for range promotions {
		_, tag, err := storage.ReadAll(ctx, in, currentName)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if _, err = in.Swap(ctx, currentName, []byte(id+"\n"), tag); !errors.Is(err, storage.ErrChanged) {
			return err
		}
	}
	return fmt.Errorf("promote %s: other publishers changed the current snapshot %d times meanwhile; see `firstpick snapshot list`, then run `firstpick snapshot promote %s` if it should be the current one",
		id, promotions, id)
}

// ErrMoved means that another snapshot became the current one.
var ErrMoved = errors.New("another snapshot became the current one")

// PromoteFrom is Promote for somebody who decided on what was current: it fails with
// ErrMoved when before is not the current snapshot any more. before is empty where none was.
func (p Place) PromoteFrom(ctx context.Context, id, before string) error {
	if err := p.complete(ctx, id); err != nil {
		return fmt.Errorf("promote %s: %w", id, err)
	}
	data, tag, err := storage.ReadAll(ctx, p.Store, currentName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	current := strings.TrimSpace(string(data))
	if CheckID(current) != nil { // as Current has it
		current = ""
	}
	if current != before {
		return ErrMoved
	}
	_, err = p.Store.Swap(ctx, currentName, []byte(id+"\n"), tag)
	if errors.Is(err, storage.ErrChanged) {
		return ErrMoved
	}
	return p.advise(err)
}

// complete checks that a snapshot loads, and that no file of it is missing.
func (p Place) complete(ctx context.Context, id string) error {
	s, err := p.load(ctx, id, nil, load)
	if err != nil {
		return err
	}
	list, err := p.Store.List(ctx, id+"/")
	if err != nil {
		return err
	}
	sizes := map[string]int64{}
	for _, f := range list {
		sizes[strings.TrimPrefix(f.Name, id+"/")] = f.Size
	}
	if _, ok := sizes[manifestName]; !ok {
		return fmt.Errorf("%s: %w", id, ErrNotFound)
	}
	for _, f := range s.Manifest.Files {
		if size, ok := sizes[f.Path]; !ok || size != f.Bytes {
			return &DamageError{Path: f.Path, Reason: "missing or of another size"}
		}
	}
	return nil
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

// A listing is the files of a snapshot, by path.
type listing map[string]storage.Info

// list returns the files of all snapshots by id, also of those without a manifest.
func (p Place) list(ctx context.Context) (map[string]listing, error) {
	list, err := p.Store.List(ctx, "")
	all := map[string]listing{}
	for _, f := range list {
		id, name, ok := strings.Cut(f.Name, "/")
		if !ok || CheckID(id) != nil {
			continue
		}
		if all[id] == nil {
			all[id] = listing{}
		}
		all[id][name] = f
	}
	return all, err
}

// List returns the snapshots, newest first. It reads manifests only. Unreadable snapshots
// are reported as an error along with the others. A missing folder has no snapshots.
func (p Place) List(ctx context.Context) ([]Info, error) {
	files, err := p.list(ctx)
	if err != nil {
		return nil, err
	}
	var all []Info
	current, err := p.Current(ctx)
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	errs := []error{err}
	for id, list := range files {
		manifest, ok := list[manifestName]
		if !ok {
			continue // it is being written
		}
		m, err := p.Manifest(ctx, id)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", id, err))
			continue
		}
		_, signed := list[signatureName]
		all = append(all, Info{
			ID: id, CreatedAt: manifest.ModTime.UTC(), AsOf: m.AsOf, Counts: m.Counts, Synthetic: m.Synthetic,
			Signed: signed, Current: id == current,
		})
	}
	sorting.Func(all, func(a, b Info) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return all, errors.Join(errs...)
}

// Manifest reads the manifest of a snapshot.
func (p Place) Manifest(ctx context.Context, id string) (Manifest, error) {
	data, _, err := p.manifest(ctx, id)
	if err != nil {
		return Manifest{}, err
	}
	return ParseManifest(id, data)
}

// manifest returns the manifest's bytes, and the opener that has them: the cache or the
// store.
func (p Place) manifest(ctx context.Context, id string) ([]byte, storage.Opener, error) {
	name := path.Join(id, manifestName)
	if cache, ok := p.Folder(); ok {
		if data, _, err := storage.ReadAll(ctx, cache, name); err == nil && snapshotID(data) == id {
			return data, cache, nil
		}
	}
	if err := CheckID(id); err != nil {
		return nil, nil, err
	}
	data, _, err := storage.ReadAll(ctx, p.Store, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s: %w", id, ErrNotFound)
	}
	if err == nil {
		err = checkDigest(id, data)
	}
	return data, p.Store, err
}

// Prunable returns the ids of all but the newest keep snapshots, without the current one.
// Unreadable snapshots are not among them: they are kept for inspection, and reported as an
// error along with the ids.
func (p Place) Prunable(ctx context.Context, keep int) (ids []string, err error) {
	if keep < 0 {
		return nil, fmt.Errorf("keep %d snapshots: the number must be 0 or more", keep)
	}
	if _, err := p.Current(ctx); err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err // without the pointer the current one is not known
	}
	all, err := p.List(ctx)
	for i, info := range all {
		if i >= keep && !info.Current {
			ids = append(ids, info.ID)
		}
	}
	return ids, err
}

// Prune removes snapshots, never the current one, and what interrupted writers left a day
// before now. It returns the removed ids.
func (p Place) Prune(ctx context.Context, ids []string, now time.Time) (removed []string, err error) {
	files, err := p.list(ctx)
	if err != nil {
		return nil, err
	}
	var errs []error
	for id, list := range files {
		_, complete := list[manifestName]
		switch {
		case slices.Contains(ids, id):
			err := p.remove(ctx, id, list)
			if errs = append(errs, err); err == nil {
				removed = append(removed, id)
			}
		case !complete && list.newest().Before(now.Add(-unfinished)):
			errs = append(errs, p.remove(ctx, id, list))
		}
	}
	if folder, ok := p.Store.(storage.Folder); ok {
		errs = append(errs, folder.Sweep(now.Add(-unfinished)))
	}
	slices.Sort(removed)
	return removed, errors.Join(errs...)
}

func (l listing) newest() (at time.Time) {
	for _, f := range l {
		if f.ModTime.After(at) {
			at = f.ModTime
		}
	}
	return at
}

// remove removes a snapshot, its manifest first: a reader must not see half of it. It stops
// if the snapshot has become the current one.
func (p Place) remove(ctx context.Context, id string, list listing) error {
	if current, err := p.Current(ctx); err == nil && current == id {
		return fmt.Errorf("%s became the current snapshot meanwhile; it stays", id)
	}
	names := slices.Sorted(maps.Keys(list))
	names = append([]string{manifestName}, names...)
	for _, name := range names {
		if err := p.Store.Remove(ctx, path.Join(id, name)); err != nil {
			return err
		}
	}
	return nil
}
