package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/public/archive"
)

// An archived place implements archive.Source for a folder of snapshots.
type archived struct{ root string }

// Stamp implements archive.Source.
func (a archived) Stamp(context.Context) (string, error) {
	entries, err := os.ReadDir(a.root)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, e := range entries {
		for _, name := range []string{"", "manifest.json", "manifest.sig"} {
			if info, err := os.Lstat(filepath.Join(a.root, e.Name(), name)); err == nil && !info.IsDir() {
				fmt.Fprintln(&b, e.Name(), name, info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	return b.String(), nil
}

// Snapshots implements archive.Source.
func (a archived) Snapshots(context.Context) ([]archive.Snapshot, error) {
	infos, err := publish.List(a.root)
	if len(infos) == 0 {
		return nil, err
	}
	var out []archive.Snapshot
	for _, i := range infos {
		out = append(out, archive.Snapshot{
			ID: i.ID, AsOf: i.AsOf, PublishedAt: i.CreatedAt, Counts: archive.Counts(i.Counts), Synthetic: i.Synthetic, Signed: i.Signed, Current: i.Current,
		})
	}
	return out, nil
}

// Files implements archive.Source.
func (a archived) Files(_ context.Context, id string) ([]trialset.File, error) {
	m, err := publish.ReadManifest(a.root, id)
	if errors.Is(err, publish.ErrNotFound) {
		err = fs.ErrNotExist
	}
	return m.Files, err
}

// Open implements archive.Source. It follows no link that leaves the folder.
func (a archived) Open(_ context.Context, name string) (archive.File, int64, error) {
	if !fs.ValidPath(name) {
		return nil, 0, fs.ErrNotExist
	}
	root, err := os.OpenRoot(a.root)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = root.Close() }()
	name = filepath.FromSlash(name)
	info, err := root.Lstat(name)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() { // opening a device could block for ever
		return nil, 0, fs.ErrNotExist
	}
	f, err := root.Open(name)
	return f, info.Size(), err
}

// History implements archive.Source.
func (a archived) History(ctx context.Context, category string) (nights.Series, error) {
	past, err := publishedNights(a.root, []string{category})
	if err != nil {
		return nights.Series{}, err
	}
	h, err := readHistory(ctx, a.root, category, past[category], func(nights.Night) {})
	if err != nil {
		return nights.Series{}, err
	}
	return h.Series(), nil
}

// Changes implements archive.Source.
func (a archived) Changes(ctx context.Context, older, newer string) ([]analytics.Change, error) {
	was, err := publish.Load(a.root, older)
	if err != nil {
		return nil, err
	}
	is, err := publish.Load(a.root, newer)
	if err != nil {
		return nil, err
	}
	changes := analytics.Diff(was.Boards, is.Boards)
	return changes, (&snapshotOptions{root: a.root}).testChanges(ctx, changes, was, is)
}
