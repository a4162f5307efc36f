package bundle

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/runner/filelock"
)

// partial starts the names of folders that are not bundles: not yet, or not any more.
const partial = ".writing-"

// A staging is the temporary folder in which a bundle is written. Its lock
// distinguishes it from a leftover of a killed process.
type staging struct {
	root, dir       string
	bundle, scratch string // in dir
	lock            *os.File
}

// openStaging creates a staging folder and removes those of dead processes.
func openStaging(root string) (_ *staging, err error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, err
	}
	// Without this lock, a folder that is not locked yet would look like a leftover.
	gate, err := lockPath(filepath.Join(root, ".lock"), os.O_CREATE|os.O_RDWR, filelock.Lock)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, gate.Close()) }()
	if err := sweep(root); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(root, partial+"*")
	if err != nil {
		return nil, err
	}
	d := &staging{root: root, dir: dir, bundle: filepath.Join(dir, "bundle"), scratch: filepath.Join(dir, "scratch")}
	err = errors.Join(os.Mkdir(d.bundle, 0o755), os.Mkdir(d.scratch, 0o700))
	if err == nil {
		d.lock, err = lockPath(dir, os.O_RDONLY, filelock.TryLock)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return d, nil
}

func lockPath(path string, flags int, lock func(*os.File) error) (*os.File, error) {
	f, err := os.OpenFile(path, flags, 0o644)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(&fs.PathError{Op: "lock", Path: path, Err: err}, f.Close())
	}
	return f, nil
}

func sweep(root string) error {
	entries, err := os.ReadDir(root)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), partial) {
			continue
		}
		path := filepath.Join(root, e.Name())
		lock, err := lockPath(path, os.O_RDONLY, filelock.TryLock)
		if errors.Is(err, filelock.ErrHeld) || errors.Is(err, fs.ErrNotExist) {
			continue // in use, or just finished
		}
		if err != nil {
			return err
		}
		if err := errors.Join(os.RemoveAll(path), lock.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (s *staging) close() error { return errors.Join(os.RemoveAll(s.dir), s.lock.Close()) }

// settle moves the bundle to its place. An existing bundle is replaced only if it is
// damaged.
func (s *staging) settle(m format.Manifest) error {
	if err := content.Sync(s.bundle); err != nil {
		return err
	}
	place := filepath.Join(s.root, m.ID)
	if _, err := os.Lstat(place); err == nil {
		if intact(place, m) {
			return nil
		}
		if err := os.Rename(place, filepath.Join(s.dir, "damaged")); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(s.bundle, place); err != nil {
		// Another process made the same bundle in between.
		if intact(place, m) {
			return nil
		}
		return err
	}
	return content.Sync(s.root)
}

// intact reports whether the files of a bundle match its manifest.
func intact(dir string, m format.Manifest) bool {
	manifest, err := content.HashFile(filepath.Join(dir, format.ManifestName))
	if err != nil || manifest.SHA256[:len(m.ID)] != m.ID {
		return false
	}
	for _, f := range m.Files {
		if got, err := content.HashFile(filepath.Join(dir, f.Path)); err != nil || got != f {
			return false
		}
	}
	return true
}
