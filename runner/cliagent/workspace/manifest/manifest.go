// Package manifest reads the dependencies in a project's manifests.
//
// It reads files of agents: to all but Read, an invalid or too large file has no packages.
package manifest

import (
	"bytes"
	"fmt"
	"path"
	"strings"
)

// A Dep is a package that a manifest asks for.
type Dep struct {
	Name string // in the form that the registry compares names in
	Text string // with its version as that ecosystem writes it: "stripe@^17.0.0"
}

// MaxSize limits the size of a manifest, in bytes. Manifests are far smaller, and the
// TOML parser's stack grows with the nesting depth.
const MaxSize = 64 << 10

// Deps returns the packages that a manifest asks for itself, in the order of the
// file or by name, each once. kind is the ecosystem, empty if the file is not a manifest.
func Deps(name string, data []byte) (kind string, deps []Dep) {
	kind, deps, _ = Read(name, data)
	return kind, deps
}

// Read is Deps with an error for a manifest that is larger than MaxSize or malformed: deps
// lacks packages then. A blank manifest has none.
func Read(name string, data []byte) (kind string, deps []Dep, err error) {
	kind, read := reader(path.Base(name))
	if read == nil || len(bytes.TrimSpace(data)) == 0 {
		return kind, nil, nil
	}
	if len(data) > MaxSize {
		return kind, nil, fmt.Errorf("%s: %d bytes; a manifest may have %d", name, len(data), MaxSize)
	}
	all, err := read(data)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	seen := map[string]bool{"": true}
	for _, d := range all {
		if !seen[d.Name] {
			seen[d.Name] = true
			deps = append(deps, d)
		}
	}
	return kind, deps, err
}

// Kind returns the ecosystem of a manifest by its path, as the catalogue names it; empty
// if the file is not a manifest. It is that of Lines, which reads more kinds than Deps.
func Kind(name string) string {
	kind, _ := lineReader(name)
	return kind
}

// reader returns how a file of a name is read.
func reader(base string) (kind string, read func([]byte) ([]Dep, error)) {
	ext := path.Ext(base)
	loose := func(read func([]byte) []Dep) func([]byte) ([]Dep, error) { // for formats that are searched, not parsed
		return func(data []byte) ([]Dep, error) { return read(data), nil }
	}
	switch {
	case base == "package.json":
		return "npm", packageJSON
	case strings.HasPrefix(base, "requirements") && (ext == ".txt" || ext == ".in"):
		return "pypi", loose(requirements)
	case base == "pyproject.toml":
		return "pypi", pyproject
	case base == "Pipfile":
		return "pypi", pipfile
	case base == "environment.yml" || base == "environment.yaml":
		return "pypi", loose(conda)
	case base == "go.mod":
		return "go", loose(goMod)
	case base == "Cargo.toml":
		return "cargo", cargo
	case base == "Gemfile" || ext == ".gemspec":
		return "rubygems", loose(gemfile)
	case base == "composer.json":
		return "composer", composer
	case base == "pom.xml":
		return "maven", pom
	case base == "build.gradle" || base == "build.gradle.kts":
		return "maven", loose(gradle)
	case base == "libs.versions.toml":
		return "maven", versionCatalog
	case ext == ".csproj" || ext == ".fsproj" || base == "Directory.Packages.props":
		return "nuget", loose(msbuild)
	case strings.HasPrefix(base, "Dockerfile") || ext == ".dockerfile":
		return "docker", loose(dockerfile)
	case strings.Contains(base, "compose") && (ext == ".yml" || ext == ".yaml"):
		return "docker", loose(compose)
	}
	return "", nil
}

// versioned joins a name and a version; an unconstrained version is omitted.
func versioned(name, sep, version string) Dep {
	if version == "" || version == "*" {
		return Dep{name, name}
	}
	return Dep{name, name + sep + version}
}
