package cliagent

import (
	"path/filepath"
	"strings"
)

// shown are the folders that the program itself lies in, and those of node and its
// tools, which most need: they may be below the user's home, which a sandbox hides.
func (p *program) shown(path string) []string {
	dirs := []string{installation(path)}
	if node, err := p.deps.LookPath("node"); err == nil {
		if node, err = filepath.EvalSymlinks(node); err == nil {
			dirs = append(dirs, filepath.Dir(filepath.Dir(node))) // of bin/node, with lib beside it
		}
	}
	return dirs
}

// installation is the folder that a program came with: all of node_modules where
// it is a package of npm, for its parts lie beside it.
func installation(path string) string {
	const modules = "/node_modules/"
	if i := strings.Index(path, modules); i >= 0 {
		return path[:i+len(modules)-1]
	}
	return filepath.Dir(path)
}
