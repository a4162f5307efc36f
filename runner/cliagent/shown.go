package cliagent

import (
	"path/filepath"
	"strings"
)

// shown are the folders of the program itself, and those of node and its tools, which
// most programs need: they may be below the user's home, which a sandbox hides.
func (p *program) shown(path string) []string {
	dirs := []string{installation(path)}
	if node, err := p.deps.LookPath("node"); err == nil {
		if node, err = filepath.EvalSymlinks(node); err == nil {
			dirs = append(dirs, filepath.Dir(filepath.Dir(node))) // parent of bin/node and lib
		}
	}
	return dirs
}

// installation is the folder that a program was installed to: all of node_modules for
// an npm package, since it needs its siblings.
func installation(path string) string {
	const modules = "/node_modules/"
	if i := strings.Index(path, modules); i >= 0 {
		return path[:i+len(modules)-1]
	}
	return filepath.Dir(path)
}
