package cli

import (
	"bytes"
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
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/publish/translog"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/public/archive"
)

// archived implements archive.Source for the snapshots of a folder or bucket.
type archived struct{ place publish.Place }

// Stamp implements archive.Source. Of a bucket it is the pointer to the current snapshot, which
// publishers move, and the head of the log, which corrections move too.
func (a archived) Stamp(ctx context.Context) (string, error) {
	root, remote := a.place.Folder()
	if remote {
		_, tag, err := a.place.CurrentChanged(ctx, "")
		if err != nil && !errors.Is(err, publish.ErrNotFound) {
			return "", err
		}
		_, head, err := storage.ReadAll(ctx, a.place.Store, "log/checkpoint")
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return tag + " " + head, err
	}
	entries, err := os.ReadDir(string(root))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, e := range entries {
		for _, name := range []string{"", "manifest.json", "manifest.sig", "checkpoint"} {
			if info, err := os.Lstat(filepath.Join(string(root), e.Name(), name)); err == nil && !info.IsDir() {
				fmt.Fprintln(&b, e.Name(), name, info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	return b.String(), nil
}

// Snapshots implements archive.Source.
func (a archived) Snapshots(ctx context.Context) ([]archive.Snapshot, error) {
	infos, err := a.place.List(ctx)
	if len(infos) == 0 {
		return nil, err
	}
	entries, err := logged(ctx, a.place.Store)
	if err != nil {
		return nil, err
	}
	corrections, live := translog.Corrections(entries), translog.Live(entries)
	var out []archive.Snapshot
	for _, i := range infos {
		var entry *int
		if at, ok := live[i.ID]; ok {
			entry = &at
		}
		out = append(out, archive.Snapshot{
			ID: i.ID, AsOf: i.AsOf, PublishedAt: i.CreatedAt, Counts: archive.Counts(i.Counts), Synthetic: i.Synthetic, Signed: i.Signed, Current: i.Current,
			Retracted: corrections[i.ID].Retracted, Errata: corrections[i.ID].Errata, Entry: entry,
		})
	}
	return out, nil
}

// Files implements archive.Source.
func (a archived) Files(ctx context.Context, id string) ([]trialset.File, error) {
	m, err := a.place.Manifest(ctx, id)
	if errors.Is(err, publish.ErrNotFound) {
		err = fs.ErrNotExist
	}
	return m.Files, err
}

// Open implements archive.Source. A snapshot of a bucket is copied first, if it has no copy.
func (a archived) Open(ctx context.Context, name string) (archive.File, int64, error) {
	if !fs.ValidPath(name) {
		return nil, 0, fs.ErrNotExist
	}
	root, remote := a.place.Folder()
	id, _, inSnapshot := strings.Cut(name, "/")
	if remote && (!inSnapshot || id == "log") {
		data, _, err := storage.ReadAll(ctx, a.place.Store, name)
		return buffered{bytes.NewReader(data)}, int64(len(data)), err
	}
	f, size, err := openIn(root, name)
	if !remote || !errors.Is(err, fs.ErrNotExist) {
		return f, size, err
	}
	if _, err := a.place.Fetch(ctx, id); errors.Is(err, publish.ErrNotFound) {
		return nil, 0, fs.ErrNotExist
	} else if err != nil {
		return nil, 0, err
	}
	return openIn(root, name)
}

// openIn opens a file of a folder.
func openIn(folder storage.Folder, name string) (archive.File, int64, error) {
	root, err := os.OpenRoot(string(folder))
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = root.Close() }()
	f, info, err := content.Open(root, name)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// A buffered file is in memory.
type buffered struct{ *bytes.Reader }

// Close implements io.Closer.
func (buffered) Close() error { return nil }

// History implements archive.Source.
func (a archived) History(ctx context.Context, category string) (nights.Series, error) {
	past, err := publishedNights(ctx, a.place, []string{category})
	if err != nil {
		return nights.Series{}, err
	}
	h, err := readHistory(ctx, a.place, category, past[category], func(nights.Night) {})
	if err != nil {
		return nights.Series{}, err
	}
	return h.Series(), nil
}

// Changes implements archive.Source.
func (a archived) Changes(ctx context.Context, older, newer string) ([]analytics.Change, error) {
	was, err := a.place.Load(ctx, older)
	if err != nil {
		return nil, err
	}
	is, err := a.place.Load(ctx, newer)
	if err != nil {
		return nil, err
	}
	return compareSnapshots(ctx, was, is)
}
