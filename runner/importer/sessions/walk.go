package sessions

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// path reads one argument.
func (r *reader) path(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	dir, name := path, "."
	if !info.IsDir() {
		dir, name = filepath.Split(path)
	}
	root, err := os.OpenRoot(cmp.Or(dir, "."))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return fs.WalkDir(root.FS(), name, func(rel string, d fs.DirEntry, err error) error {
		full := filepath.Join(dir, filepath.FromSlash(rel))
		if r.files++; r.files > maxFiles {
			return fmt.Errorf("%s: more than %d files; import fewer folders at a time", path, maxFiles)
		}
		switch {
		case err != nil && rel == name:
			return err
		case err != nil:
			r.report.Files++
			r.skip(full, Unreadable, withoutPath(err))
			return nil
		case d.IsDir():
			return nil
		}
		r.report.Files++
		r.file(root, rel, full)
		return nil
	})
}

// file reads one file.
func (r *reader) file(root *os.Root, rel, full string) {
	info, err := root.Stat(rel)
	switch {
	case err != nil && isLink(root, rel):
		r.skip(full, NotSession, "symbolic link out of the folder, or to nothing")
		return
	case err != nil:
		r.skip(full, Unreadable, withoutPath(err))
		return
	case info.IsDir():
		r.skip(full, NotSession, "symbolic link to a folder")
		return
	case !info.Mode().IsRegular():
		r.skip(full, NotSession, "not a regular file")
		return
	}
	if why := r.format.unlikely(rel); why != "" {
		r.skip(full, NotSession, why)
		return
	}
	if slices.Contains(strings.Split(rel, "/"), "subagents") {
		r.skip(full, SideChain, "")
		return
	}
	f, err := root.Open(rel)
	if err != nil {
		r.skip(full, Unreadable, withoutPath(err))
		return
	}
	defer func() { _ = f.Close() }()
	s, skip := r.session(f, full)
	if s != nil && s.At.IsZero() {
		s.At = info.ModTime()
	}
	switch {
	case skip != nil:
		r.skip(full, skip.Reason, skip.Detail)
	default:
		r.keep(s)
	}
}

func isLink(root *os.Root, rel string) bool {
	info, err := root.Lstat(rel)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// withoutPath is the error of an operation on a file whose path is reported beside it.
func withoutPath(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
