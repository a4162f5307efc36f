package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// try runs a program that writes to the folders of a trial. A mount that fails, fails
// here once, and not in every trial.
func (s Sandbox) try(ctx context.Context, c Config) (err error) {
	argv, o := []string{"/bin/sh", "-c", "exit 0"}, Options{Hide: c.Hide}
	if c.Root != "" {
		defer made(c.Root)()
		if err := os.MkdirAll(c.Root, 0o700); err != nil {
			return err
		}
		dir, err := os.MkdirTemp(c.Root, "try-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		o.Home, o.Workdir, o.Tmp = filepath.Join(dir, "home"), filepath.Join(dir, "app"), filepath.Join(dir, "tmp")
		for _, folder := range []string{o.Home, o.Workdir, o.Tmp} {
			if err := os.Mkdir(folder, 0o700); err != nil {
				return err
			}
		}
		if err := s.Own(dir); err != nil {
			return err
		}
		argv = []string{"/bin/sh", "-c", `for dir in "$@"; do : > "$dir/written" || exit 1; done`, "sh", o.Home, ".", "/tmp", "/dev/shm"}
	}
	return c.Try(ctx, s.Wrap(argv, o))
}

// made returns a function that removes dir and its missing parents if they are empty: a
// check leaves no folders.
func made(dir string) func() {
	var missing []string
	for _, err := os.Stat(dir); err != nil && dir != filepath.Dir(dir); _, err = os.Stat(dir) {
		missing = append(missing, dir)
		dir = filepath.Dir(dir)
	}
	return func() {
		for _, dir := range missing {
			_ = os.Remove(dir)
		}
	}
}

// Own gives a trial's folder and its contents to the user of programs. No program may
// run in it meanwhile.
func (s Sandbox) Own(dir string) error {
	if s.user == nil {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, s.user.UID, s.user.GID))
	})
}
