package sandbox

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A hiding is a resolved Options.Hide: existing folders, and names in folders. A name
// may be a file's, or may not exist yet. A mount cannot cover a file that is created or
// replaced later, so the folder is covered and its other entries are shown.
type hiding struct {
	dirs  []string
	names map[string][]string // by folder
}

func newHiding(paths []string) hiding {
	h := hiding{names: map[string][]string{}}
	for _, path := range paths {
		real, found := resolve(path)
		switch {
		case real == "" || real == "/":
		case found && isDir(real):
			h.dirs = append(h.dirs, real)
		default:
			dir := filepath.Dir(real)
			h.names[dir] = append(h.names[dir], real)
		}
	}
	return h
}

// resolve follows links as far as there is something. Of a path that is not there it
// returns the first part that is missing.
func resolve(path string) (real string, found bool) {
	if path == "" {
		return "", false
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", false
	}
	if real, err = filepath.EvalSymlinks(path); err == nil {
		return real, true
	}
	parent, found := resolve(filepath.Dir(path))
	if !found {
		return parent, false
	}
	return filepath.Join(parent, filepath.Base(path)), false
}

// cover returns the mounts that hide names, and the folders that they cover. Visible
// reports whether the program sees a folder at all; folders in own are bound later.
func (h hiding) cover(visible func(dir string) bool, own []string) (mounts, covered []string) {
	for _, dir := range slices.Sorted(maps.Keys(h.names)) { // parents first
		if dir == "/" || !visible(dir) || slices.ContainsFunc([]string{"/proc", "/dev", "/sys"}, func(of string) bool { return within(dir, of) }) ||
			slices.ContainsFunc(own, func(of string) bool { return of != "" && within(dir, of) }) {
			continue
		}
		covered = append(covered, dir)
		mounts = append(mounts, "--tmpfs", dir)
		entries, _ := os.ReadDir(dir) // an unreadable folder stays hidden
		for _, e := range entries {
			mounts = append(mounts, h.show(dir, e)...)
		}
	}
	return mounts, covered
}

// show returns the mounts that make an entry of a covered folder visible again, except
// its hidden parts.
func (h hiding) show(dir string, e os.DirEntry) []string {
	path := filepath.Join(dir, e.Name())
	switch {
	case slices.Contains(h.names[dir], path):
		return nil
	case e.Type()&os.ModeSymlink != 0:
		target, err := os.Readlink(path)
		if err != nil {
			return nil
		}
		return []string{"--symlink", target, path}
	}
	out := []string{"--ro-bind-try", path, path}
	for _, hidden := range h.dirs {
		if within(hidden, path) {
			out = append(out, "--tmpfs", hidden)
		}
	}
	return out
}

// blank returns the mounts that hide files in the program's folders, which are bound
// last.
func (h hiding) blank(own []string) []string {
	var out []string
	for _, dir := range slices.Sorted(maps.Keys(h.names)) {
		if !slices.ContainsFunc(own, func(of string) bool { return of != "" && within(dir, of) }) {
			continue
		}
		for _, path := range h.names[dir] {
			if _, err := os.Lstat(path); err == nil {
				out = append(out, "--ro-bind", os.DevNull, path)
			}
		}
	}
	return out
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}
