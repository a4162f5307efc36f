package storage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/runner/filelock"
)

// partial starts the names of files and folders that are not there for readers: not yet,
// or not any more.
const partial = ".writing-"

// swapLock is locked by a process that swaps a file.
const swapLock = ".lock"

// A Folder is a Store in a folder of the file system. The folder is created when the first
// file is written.
type Folder string

// String implements Store. It is the path, which FromURL reads too.
func (d Folder) String() string { return string(d) }

type localFile struct {
	*os.File
	info Info
}

// Info implements File.
func (f localFile) Info() Info { return f.info }

// Open implements Opener. It follows no link to a file.
func (d Folder) Open(_ context.Context, name string) (File, error) {
	if err := valid("open", name); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	f, stat, err := content.Open(root, name)
	if err != nil {
		return nil, err
	}
	info := Info{Name: name, Size: stat.Size(), ModTime: stat.ModTime()}
	if info.Size <= maxSwapped {
		if info.ETag, err = tagOf(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return localFile{f, info}, nil
}

// maxSwapped limits the files that have a tag: those that Swap writes are small.
const maxSwapped = 1 << 20

func tagOf(f io.ReadSeeker) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	_, err := f.Seek(0, io.SeekStart)
	return hex.EncodeToString(h.Sum(nil)), err
}

// Put implements Store.
func (d Folder) Put(_ context.Context, name string, body io.ReadSeeker) error {
	if err := valid("put", name); err != nil {
		return err
	}
	place := d.path(name)
	if _, err := os.Lstat(place); err == nil {
		return &fs.PathError{Op: "put", Path: name, Err: fs.ErrExist}
	}
	tmp, err := d.write(place, body)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp) }()
	if err := os.Link(tmp, place); err != nil { // unlike a rename, it fails where the name is taken
		return err
	}
	return content.Sync(filepath.Dir(place))
}

// write writes a synced temporary file beside its place.
func (d Folder) write(place string, body io.Reader) (_ string, err error) {
	var f *os.File
	for range attempts { // Remove may remove the empty folder in between
		if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
			return "", err
		}
		if f, err = os.CreateTemp(filepath.Dir(place), partial+"*"); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return "", err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err := f.Chmod(0o644); err != nil {
		return "", err
	}
	if _, err := io.Copy(f, body); err != nil {
		return "", err
	}
	return f.Name(), f.Sync()
}

// Swap implements Store.
func (d Folder) Swap(ctx context.Context, name string, data []byte, etag string) (_ string, err error) {
	if err := valid("swap", name); err != nil {
		return "", err
	}
	if err := os.MkdirAll(string(d), 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(string(d), swapLock), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := filelock.Lock(lock); err != nil {
		return "", err
	}
	var now string
	switch f, err := d.Open(ctx, name); {
	case err == nil:
		now = f.Info().ETag
		if err := f.Close(); err != nil {
			return "", err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	if now != etag {
		return "", &fs.PathError{Op: "swap", Path: name, Err: ErrChanged}
	}
	place := d.path(name)
	tmp, err := d.write(place, bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	if err := os.Rename(tmp, place); err != nil {
		return "", errors.Join(err, os.Remove(tmp))
	}
	return content.Digest(data), content.Sync(filepath.Dir(place))
}

// List implements Store.
func (d Folder) List(_ context.Context, prefix string) (out []Info, err error) {
	err = filepath.WalkDir(string(d), func(place string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile, or nothing was written yet
		}
		if err != nil {
			return err
		}
		name := "."
		if place != string(d) {
			name = filepath.ToSlash(strings.TrimPrefix(place, filepath.Clean(string(d))+string(filepath.Separator)))
		}
		base := path.Base(name)
		if e.IsDir() {
			if name == "." || strings.HasPrefix(name+"/", prefix) && !strings.HasPrefix(base, partial) || strings.HasPrefix(prefix, name+"/") {
				return nil
			}
			return fs.SkipDir
		}
		if !strings.HasPrefix(name, prefix) || strings.HasPrefix(base, partial) || base == swapLock {
			return nil
		}
		stat, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile
		}
		if err == nil && stat.Mode().IsRegular() {
			out = append(out, Info{Name: name, Size: stat.Size(), ModTime: stat.ModTime()})
		}
		return err
	})
	sorting.Func(out, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}

// Sweep removes what writers that were interrupted before a time have left.
func (d Folder) Sweep(before time.Time) error {
	return filepath.WalkDir(string(d), func(place string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !strings.HasPrefix(e.Name(), partial) {
			return err
		}
		if stat, err := e.Info(); err == nil && stat.ModTime().Before(before) {
			if err := os.RemoveAll(place); err != nil {
				return err
			}
		}
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

// Staging creates a folder for files that are not there for readers yet. The caller removes
// it; Sweep removes one of an interrupted process.
func (d Folder) Staging() (string, error) {
	if err := os.MkdirAll(string(d), 0o755); err != nil {
		return "", err
	}
	return os.MkdirTemp(string(d), partial+"*")
}

// Remove implements Store. It also removes the folders that the file leaves empty.
func (d Folder) Remove(_ context.Context, name string) error {
	if err := valid("remove", name); err != nil {
		return err
	}
	if err := os.Remove(d.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if os.Remove(d.path(dir)) != nil {
			return nil //nolint:nilerr // not empty
		}
	}
	return nil
}

func (d Folder) path(name string) string { return filepath.Join(string(d), filepath.FromSlash(name)) }
