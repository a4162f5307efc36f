package setup

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
)

// A Found is a stack that a project seems to have.
type Found struct {
	Stack *Stack
	File  string // by which it was found, from the project's root
	Why   string // the matched text; empty if the file's existence matched
}

// Limits of the search of a project. Code is near the root, also in a repository of
// several projects.
const (
	maxDepth  = 3
	maxDirs   = 500
	maxRead   = 256 << 10 // bytes of a file
	maxListed = 2000      // names of a folder
)

// Detect returns the stacks of a project, in the order of [Stacks]; each is found once,
// by the file nearest to the root. It skips unreadable files.
func Detect(project fs.FS) ([]Found, error) {
	if _, err := fs.Stat(project, "."); err != nil {
		return nil, err
	}
	all := Stacks()
	found := make([]*Found, len(all))
	s := &search{project: project}
	for dirs, n := []string{"."}, 0; len(dirs) > 0 && n < maxDirs; n++ {
		dir := dirs[0]
		names, folders := s.list(dir)
		dirs = append(dirs[1:], folders...)
		for i := range all {
			if found[i] == nil {
				found[i] = s.match(&all[i], dir, names)
			}
		}
	}
	var out []Found
	for _, f := range found {
		if f != nil {
			out = append(out, *f)
		}
	}
	return plausible(out), nil
}

// plausible removes stacks that another stack implies: PHP in WordPress, static pages of
// a server.
func plausible(found []Found) []Found {
	has := func(slug string) bool {
		return slices.ContainsFunc(found, func(f Found) bool { return f.Stack.Slug == slug })
	}
	served := slices.ContainsFunc(found, func(f Found) bool {
		return f.Stack.Slug != "static" && f.Stack.Slug != "mcp" && f.Stack.Slug != "conversions"
	})
	return slices.DeleteFunc(found, func(f Found) bool {
		return f.Stack.Slug == "static" && served || f.Stack.Slug == "php" && has("wordpress")
	})
}

type search struct {
	project fs.FS
	// read holds the files of the folder that is looked at, by path.
	read map[string][]byte
}

// list returns the names in a folder, and the folders of it to look into.
func (s *search) list(dir string) (names, folders []string) {
	s.read = map[string][]byte{}
	entries, err := fs.ReadDir(s.project, dir)
	if err != nil {
		return nil, nil
	}
	for _, e := range entries[:min(len(entries), maxListed)] {
		name := e.Name()
		names = append(names, name)
		if e.IsDir() && name[0] != '.' && !notOurs(name) && depth(path.Join(dir, name)) < maxDepth {
			folders = append(folders, path.Join(dir, name))
		}
	}
	return names, folders
}

// notOurs reports folders of third-party code or tests.
func notOurs(name string) bool {
	switch name {
	case "node_modules", "vendor", "testdata", "dist", "build", "target", "venv", "env", "__pycache__", "site-packages", "test", "tests", "examples":
		return true
	}
	return false
}

func depth(dir string) int {
	n := 1
	for ; path.Dir(dir) != "."; dir = path.Dir(dir) {
		n++
	}
	return n
}

func (s *search) match(stack *Stack, dir string, names []string) *Found {
	for _, c := range stack.Clues {
		for _, name := range names {
			if ok, err := path.Match(c.Name, name); err != nil || !ok {
				continue
			}
			file := path.Join(dir, name)
			if why, ok := s.holds(file, c); ok {
				return &Found{Stack: stack, File: file, Why: why}
			}
		}
	}
	return nil
}

// holds reports whether a file matches a clue, and the matched text.
func (s *search) holds(file string, c Clue) (why string, ok bool) {
	switch {
	case c.Dep != "":
		var doc struct{ Dependencies, DevDependencies map[string]any }
		if json.Unmarshal(s.content(file), &doc) != nil {
			return "", false
		}
		_, ok = doc.Dependencies[c.Dep]
		if !ok {
			_, ok = doc.DevDependencies[c.Dep]
		}
		return "depends on " + c.Dep, ok
	case c.Has != "":
		match := regexp.MustCompile(c.Has).Find(s.content(file))
		return "holds " + string(trim(match)), match != nil
	}
	return "", true
}

// trim reduces a match to one line.
func trim(match []byte) []byte {
	return regexp.MustCompile(`^\W+|\W+$`).ReplaceAll(match, nil)
}

// content returns the beginning of a file; nothing of one that cannot be read.
func (s *search) content(file string) []byte {
	if data, known := s.read[file]; known {
		return data
	}
	data, err := beginning(s.project, file)
	if err != nil {
		data = nil
	}
	s.read[file] = data
	return data
}

func beginning(fsys fs.FS, file string) (data []byte, err error) {
	f, err := fsys.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, maxRead))
}
