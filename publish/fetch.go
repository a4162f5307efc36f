package publish

import (
	"context"
	"crypto/ed25519"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/publish/storage"
)

const (
	// cached is how many copies a cache keeps, the most recently used ones.
	cached = 16
	// inUse protects a copy from being removed: a process that reads it for longer calls
	// Fetch again.
	inUse = time.Hour
)

// Folder returns the folder of the snapshots that can be read here: the place itself, or
// the copies of a bucket.
func (p Place) Folder() (folder storage.Folder, remote bool) {
	if folder, ok := p.Store.(storage.Folder); ok {
		return folder, false
	}
	return storage.Folder(p.Cache), true
}

// Fetch makes a snapshot readable as the folder root/id: in a folder it is, and a bucket is
// copied to the cache, with every digest checked. A signature is read again each time.
// The copy stays for an hour at least, and one that Remember names stays. The error is ErrNotFound or a *DamageError if they
// apply.
func (p Place) Fetch(ctx context.Context, id string) (root string, err error) {
	cache, remote := p.Folder()
	if !remote {
		return string(cache), nil
	}
	data, from, err := p.manifest(ctx, id)
	if err != nil {
		return "", err
	}
	if from == p.Store {
		if err := p.trim(ctx, p.Now()); err != nil {
			return "", err
		}
		if err := p.copy(ctx, cache, p.Store, id, data); err != nil {
			return "", err
		}
	}
	if err := copySignature(ctx, cache, p.Store, id); err != nil && from == p.Store {
		return "", err // a copy is read also while the bucket does not answer
	}
	now := p.Now()
	return p.Cache, os.Chtimes(filepath.Join(p.Cache, id), now, now)
}

// Remember keeps the copy of a snapshot for Remembered.
func (p Place) Remember(ctx context.Context, id string) error {
	cache, remote := p.Folder()
	if !remote {
		return nil
	}
	return point(ctx, cache, id)
}

// Remembered returns the snapshot of the last Remember, to be read while the bucket does not
// answer; empty without one.
func (p Place) Remembered(ctx context.Context) string {
	cache, remote := p.Folder()
	if !remote {
		return ""
	}
	id, _ := Local(string(cache)).Current(ctx) // without one, the error of the bucket counts
	return id
}

// copy copies a snapshot with the given manifest, unless its files are there.
func (p Place) copy(ctx context.Context, to storage.Store, from storage.Opener, id string, manifest []byte) error {
	m, err := ParseManifest(id, manifest)
	if err != nil {
		return err
	}
	var set []storage.Entry
	for _, f := range m.Files {
		set = append(set, storage.Entry{Name: path.Join(id, f.Path), SHA256: f.SHA256, Bytes: f.Bytes})
	}
	err = storage.Copy(ctx, to, from, append(set, storage.EntryOf(path.Join(id, manifestName), manifest)))
	var differs *storage.DigestError
	if errors.As(err, &differs) {
		return &DamageError{Path: strings.TrimPrefix(differs.Name, id+"/"), Reason: differs.Reason}
	}
	return err
}

// copySignature copies the signature, which may be newer than the snapshot. Another reader may
// copy it to the same cache meanwhile.
func copySignature(ctx context.Context, to storage.Store, from storage.Opener, id string) error {
	name := path.Join(id, signatureName)
	sig, _, err := storage.ReadAll(ctx, from, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	for range promotions {
		var was []byte
		var tag string
		was, tag, err = storage.ReadAll(ctx, to, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && string(was) == string(sig) {
			return err
		}
		if _, err = to.Swap(ctx, name, sig, tag); !errors.Is(err, storage.ErrChanged) {
			return err
		}
	}
	return err
}

// trim removes the copies beyond the number that the cache keeps.
func (p Place) trim(ctx context.Context, now time.Time) error {
	entries, err := os.ReadDir(p.Cache)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	var copies []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && CheckID(e.Name()) == nil {
			copies = append(copies, info)
		}
	}
	served := p.Remembered(ctx)
	sorting.Func(copies, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for i, info := range copies {
		if i < cached-1 || info.Name() == served || info.ModTime().After(now.Add(-inUse)) {
			continue
		}
		dir := filepath.Join(p.Cache, info.Name())
		if err := errors.Join(removeIfThere(filepath.Join(dir, manifestName)), os.RemoveAll(dir)); err != nil {
			return err
		}
	}
	return storage.Folder(p.Cache).Sweep(now.Add(-unfinished))
}

// Load is LoadSigned for a snapshot of the place. A damaged copy in the cache is
// fetched again.
func (p Place) Load(ctx context.Context, id string, trusted ...ed25519.PublicKey) (*Snapshot, error) {
	return p.load(ctx, id, trusted, LoadSigned)
}

func (p Place) load(ctx context.Context, id string, trusted []ed25519.PublicKey,
	load func(root, id string, trusted []ed25519.PublicKey) (*Snapshot, error),
) (*Snapshot, error) {
	root, err := p.Fetch(ctx, id)
	if err != nil {
		return nil, err
	}
	s, err := load(root, id, trusted)
	var damage *DamageError
	if _, remote := p.Folder(); !remote || !errors.As(err, &damage) || damage.Path == signatureName {
		return s, err
	}
	if err := os.RemoveAll(filepath.Join(root, id)); err != nil {
		return nil, err
	}
	if root, err = p.Fetch(ctx, id); err != nil {
		return nil, err
	}
	return load(root, id, trusted)
}

// Verify is the function Verify for a snapshot of the place. Of a bucket it reads every
// file, also those that the cache has.
func (p Place) Verify(ctx context.Context, id string, pub ed25519.PublicKey) (_ VerifyReport, err error) {
	cache, remote := p.Folder()
	if !remote {
		return Verify(ctx, string(cache), id, pub)
	}
	dir, err := cache.Staging()
	if err != nil {
		return VerifyReport{ID: id}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	fresh := Place{Store: p.Store, Cache: dir, Now: p.Now}
	if _, err := fresh.Fetch(ctx, id); err != nil {
		return VerifyReport{ID: id}, err
	}
	m, err := fresh.Manifest(ctx, id)
	if err != nil {
		return VerifyReport{ID: id}, err
	}
	extra, err := p.extra(ctx, id, m)
	if err == nil && len(extra) > 0 {
		err = &DamageError{Path: extra[0], Reason: "not listed in the manifest"}
	}
	if err != nil {
		return VerifyReport{ID: id}, err
	}
	return Verify(ctx, dir, id, pub)
}

// extra returns the files below an id that the manifest does not list.
func (p Place) extra(ctx context.Context, id string, m Manifest) (names []string, err error) {
	list, err := p.Store.List(ctx, id+"/")
	for _, f := range list {
		name := strings.TrimPrefix(f.Name, id+"/")
		if name != manifestName && name != signatureName && !slices.ContainsFunc(m.Files, func(f File) bool { return f.Path == name }) {
			names = append(names, name)
		}
	}
	return names, err
}
