// Package incumbent installs a rival in a project template: it adds the rival's package to a
// manifest, so that the agent begins with a tool in use. The condition is named after
// template and tool: nextjs-saas:stripe, or go-service:stripe:v82.1.0 with a version.
package incumbent

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/runner/cliagent/workspace/manifest"
)

// A Tool is the incumbent of an eval. Without a version the package is unconstrained.
type Tool struct {
	Slug    string `json:"tool"`
	Version string `json:"version,omitempty"`
}

var versionPattern = lazyregexp.MustCompile(`^v?[0-9][0-9A-Za-z.-]{0,49}$`)

// ValidVersion reports whether s is an exact version.
func ValidVersion(s string) bool { return versionPattern.MatchString(s) }

// Condition returns the name of a template with the tool installed.
func (t Tool) Condition(template string) string {
	name := template + ":" + t.Slug
	if t.Version != "" {
		name += ":" + t.Version
	}
	return name
}

// Split returns the template and the tool of a condition; a template without a tool has
// the zero Tool.
func Split(condition string) (template string, t Tool) {
	template, rest, _ := strings.Cut(condition, ":")
	t.Slug, t.Version, _ = strings.Cut(rest, ":")
	return template, t
}

// Loader returns a function that loads templates, and conditions of them with the tools of a
// catalogue.
func Loader(load func(template string) (fs.FS, error), cat *catalog.Catalog) func(string) (fs.FS, error) {
	return func(name string) (fs.FS, error) {
		template, tool := Split(name)
		files, err := load(template)
		if err != nil || tool.Slug == "" {
			return files, err
		}
		i := slices.IndexFunc(cat.Tools, func(t *catalog.Tool) bool { return t.Slug == tool.Slug })
		if i < 0 {
			return nil, fmt.Errorf("project %s: the catalogue has no tool %q", name, tool.Slug)
		}
		entry, _ := cat.Tools[i].Home.Entry(tool.Slug)
		files, _, err = tool.Install(files, entry)
		if err != nil {
			return nil, fmt.Errorf("project %s: %w", name, err)
		}
		return files, nil
	}
}

// A Dep is the package that was added to a manifest.
type Dep struct {
	Path      string // of the manifest
	Ecosystem catalog.Ecosystem
	Package   string // as the catalogue names it
}

// Packages returns the packages of a manifest by their keys; nothing for another file.
func Packages(name string, data []byte) (out []Dep) {
	kind, deps := manifest.Deps(name, data)
	eco := catalog.Ecosystem(kind)
	for _, d := range deps {
		out = append(out, Dep{name, eco, catalog.PackageKey(eco, d.Name)})
	}
	return out
}

// Install returns the files with the tool's package in the first manifest of an ecosystem that
// the tool has a package in.
func (t Tool) Install(files fs.FS, entry catalog.Entry) (fs.FS, Dep, error) {
	var found []string
	var out fs.FS
	var dep Dep
	err := fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || out != nil || !manifest.Addable(p) {
			return err
		}
		eco := catalog.Ecosystem(manifest.Kind(p))
		found = append(found, string(eco))
		packages := entry.Packages[eco]
		if len(packages) == 0 {
			return nil
		}
		data, err := fs.ReadFile(files, p)
		if err != nil {
			return err
		}
		if data, err = manifest.Add(p, data, packages[0], t.Version); err != nil {
			return err
		}
		out, dep = overlay{files, p, data}, Dep{p, eco, packages[0]}
		return nil
	})
	switch {
	case err != nil:
		return nil, dep, err
	case out != nil:
		return out, dep, nil
	case len(found) == 0:
		return nil, dep, fmt.Errorf("no manifest that %s can be added to: want %s", entry.Tool.Name, manifest.Additions)
	}
	return nil, dep, fmt.Errorf("%s has no package for %s in the catalogue", entry.Tool.Name, cmp.Or(strings.Join(slices.Compact(found), ", "), "it"))
}
