package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxLock limits the size of a lockfile, in bytes.
const maxLock = 64 << 20

// Locked returns the names of the packages in a lockfile, sorted, transitive ones
// included. kind is the ecosystem, empty if the file is not a lockfile. Unlike Deps it
// reads files of the user's own, so that an unreadable file is an error.
func Locked(name string, data []byte) (kind string, names []string, err error) {
	base := path.Base(name)
	kind, read := lockReader(base)
	if read == nil {
		return "", nil, nil
	}
	if len(data) > maxLock {
		return kind, nil, fmt.Errorf("%s: %d bytes; a lockfile may have %d", name, len(data), maxLock)
	}
	names, err = read(data)
	if err != nil {
		return kind, nil, fmt.Errorf("%s: %w", name, err)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return kind, slices.DeleteFunc(names, func(n string) bool { return n == "" }), nil
}

func lockReader(base string) (kind string, read func([]byte) ([]string, error)) {
	switch base {
	case "package-lock.json", "npm-shrinkwrap.json":
		return "npm", npmLock
	case "yarn.lock":
		return "npm", lines(regexp.MustCompile(`^"?(@?[^@\s",]+)@`))
	case "pnpm-lock.yaml":
		return "npm", lines(regexp.MustCompile(`^  ['"]?/?(@?[^@\s'":]+)@[^\s]+:`))
	case "bun.lock":
		return "npm", lines(regexp.MustCompile(`^\s+"[^"]+": \["(@?[^@"]+)@`))
	case "poetry.lock", "uv.lock", "pdm.lock":
		return "pypi", lines(regexp.MustCompile(`^name = "([^"]+)"`))
	case "Pipfile.lock":
		return "pypi", pipfileLock
	case "go.sum":
		return "go", lines(regexp.MustCompile(`^(\S+) v[^\s/]+ h1:`))
	case "Cargo.lock":
		return "cargo", lines(regexp.MustCompile(`^name = "([^"]+)"`))
	case "Gemfile.lock", "gems.locked":
		return "rubygems", lines(regexp.MustCompile(`^    ([\w.-]+) \(\d`))
	case "composer.lock":
		return "composer", composerLock
	case "gradle.lockfile":
		return "maven", lines(regexp.MustCompile(`^([\w.-]+:[\w.-]+):[^=]+=`))
	case "packages.lock.json":
		return "nuget", nugetLock
	}
	return "", nil
}

// lines reads the lines that match a pattern, whose group is the name.
func lines(re *regexp.Regexp) func([]byte) ([]string, error) {
	return func(data []byte) ([]string, error) {
		var out []string
		for line := range strings.Lines(string(data)) {
			if m := re.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
				out = append(out, m[1])
			}
		}
		return out, nil
	}
}

// npmLock reads all three versions of npm's lockfile.
func npmLock(data []byte) ([]string, error) {
	type tree map[string]json.RawMessage
	var f struct {
		Packages     map[string]struct{ Name string } `json:"packages"`
		Dependencies tree                             `json:"dependencies"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	var out []string
	for key := range f.Packages {
		if i := strings.LastIndex(key, "node_modules/"); i >= 0 {
			out = append(out, key[i+len("node_modules/"):])
		}
	}
	if len(f.Packages) > 0 {
		return out, nil
	}
	for queue := []tree{f.Dependencies}; len(queue) > 0; queue = queue[1:] {
		for name, raw := range queue[0] {
			var d struct {
				Dependencies tree `json:"dependencies"`
			}
			out = append(out, name)
			if json.Unmarshal(raw, &d) == nil && len(d.Dependencies) > 0 {
				queue = append(queue, d.Dependencies)
			}
		}
	}
	return out, nil
}

func pipfileLock(data []byte) ([]string, error) {
	var f struct {
		Default, Develop map[string]json.RawMessage
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	return append(slices.Collect(maps.Keys(f.Default)), slices.Collect(maps.Keys(f.Develop))...), nil
}

func composerLock(data []byte) ([]string, error) {
	type named []struct {
		Name string `json:"name"`
	}
	var f struct {
		Packages named `json:"packages"`
		Dev      named `json:"packages-dev"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	var out []string
	for _, p := range slices.Concat(f.Packages, f.Dev) {
		out = append(out, strings.ToLower(p.Name))
	}
	return out, nil
}

func nugetLock(data []byte) ([]string, error) {
	var f struct {
		Dependencies map[string]map[string]json.RawMessage `json:"dependencies"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	var out []string
	for _, framework := range f.Dependencies {
		out = append(out, slices.Collect(maps.Keys(framework))...)
	}
	return out, nil
}
