// Package manifest reads the dependencies in a project's manifests.
//
// It reads files of agents, so there are no errors: an invalid or too large file has no
// packages.
package manifest

import (
	"path"
	"strings"
)

// A Dep is a package that a manifest asks for.
type Dep struct {
	Name string // in the form that the registry compares names in
	Text string // with its version as that ecosystem writes it: "stripe@^17.0.0"
}

// maxSize limits the size of a manifest, in bytes. Manifests are far smaller, and the
// TOML parser's stack grows with the nesting depth.
const maxSize = 64 << 10

// Deps returns the packages that a manifest asks for itself, in the order of the
// file or by name, each once. kind is the ecosystem, empty if the file is not a manifest.
func Deps(name string, data []byte) (kind string, deps []Dep) {
	kind, read := reader(path.Base(name))
	if read == nil {
		return "", nil
	}
	if len(data) > maxSize {
		return kind, nil
	}
	seen := map[string]bool{"": true}
	for _, d := range read(data) {
		if !seen[d.Name] {
			seen[d.Name] = true
			deps = append(deps, d)
		}
	}
	return kind, deps
}

// Kind returns the ecosystem of a manifest by its path, as the catalogue names it; empty
// if the file is not a manifest. It is that of Lines, which reads more kinds than Deps.
func Kind(name string) string {
	kind, _ := lineReader(name)
	return kind
}

// reader returns how a file of a name is read.
func reader(base string) (kind string, read func([]byte) []Dep) {
	ext := path.Ext(base)
	switch {
	case base == "package.json":
		return "npm", packageJSON
	case strings.HasPrefix(base, "requirements") && (ext == ".txt" || ext == ".in"):
		return "pypi", requirements
	case base == "pyproject.toml":
		return "pypi", pyproject
	case base == "Pipfile":
		return "pypi", pipfile
	case base == "environment.yml" || base == "environment.yaml":
		return "pypi", conda
	case base == "go.mod":
		return "go", goMod
	case base == "Cargo.toml":
		return "cargo", cargo
	case base == "Gemfile" || ext == ".gemspec":
		return "rubygems", gemfile
	case base == "composer.json":
		return "composer", composer
	case base == "pom.xml":
		return "maven", pom
	case base == "build.gradle" || base == "build.gradle.kts":
		return "maven", gradle
	case base == "libs.versions.toml":
		return "maven", versionCatalog
	case ext == ".csproj" || ext == ".fsproj" || base == "Directory.Packages.props":
		return "nuget", msbuild
	case strings.HasPrefix(base, "Dockerfile"):
		return "docker", dockerfile
	case strings.Contains(base, "compose") && (ext == ".yml" || ext == ".yaml"):
		return "docker", compose
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
