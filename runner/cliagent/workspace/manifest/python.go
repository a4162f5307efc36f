package manifest

import (
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/fixtures/sorting"
)

var pythonName = lazyregexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*`)

// python reads a requirement: "passlib[bcrypt]>=1.7; python_version > '3'".
func python(requirement string) Dep {
	requirement, _, _ = strings.Cut(requirement, ";")
	requirement, _, _ = strings.Cut(requirement, " #")
	requirement = strings.TrimSpace(requirement)
	name := pythonName.FindString(requirement)
	return Dep{strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(name)), requirement}
}

func pythons(requirements []string) []Dep {
	var out []Dep
	for _, r := range requirements {
		out = append(out, python(r))
	}
	return out
}

func requirements(data []byte) []Dep {
	var out []Dep
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		// Other lines are options, paths, URLs or comments.
		if !strings.Contains(line, "://") || strings.Contains(line, "@ ") {
			out = append(out, python(line))
		}
	}
	return out
}

// pyproject reads the groups of PEP 621 and 735 and those of poetry, uv and PDM.
func pyproject(data []byte) ([]Dep, error) {
	type poetry struct {
		Dependencies map[string]any `toml:"dependencies"`
	}
	var f struct {
		Project struct {
			Dependencies []string            `toml:"dependencies"`
			Optional     map[string][]string `toml:"optional-dependencies"`
		} `toml:"project"`
		Groups map[string][]any `toml:"dependency-groups"`
		Tool   struct {
			Poetry struct {
				poetry
				Dev   map[string]any    `toml:"dev-dependencies"`
				Group map[string]poetry `toml:"group"`
			} `toml:"poetry"`
			UV struct {
				Dev []string `toml:"dev-dependencies"`
			} `toml:"uv"`
			PDM struct {
				Dev map[string][]string `toml:"dev-dependencies"`
			} `toml:"pdm"`
		} `toml:"tool"`
	}
	if err := toml.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	out := pythons(f.Project.Dependencies)
	for _, group := range sorted(f.Project.Optional) {
		out = append(out, pythons(group.value)...)
	}
	for _, group := range sorted(f.Groups) {
		for _, item := range group.value {
			if s, ok := item.(string); ok { // else it includes a group
				out = append(out, python(s))
			}
		}
	}
	out = append(out, pythonTable(f.Tool.Poetry.Dependencies)...)
	out = append(out, pythonTable(f.Tool.Poetry.Dev)...)
	for _, group := range sorted(f.Tool.Poetry.Group) {
		out = append(out, pythonTable(group.value.Dependencies)...)
	}
	out = append(out, pythons(f.Tool.UV.Dev)...)
	for _, group := range sorted(f.Tool.PDM.Dev) {
		out = append(out, pythons(group.value)...)
	}
	return out, nil
}

// pythonTable reads a table of names and versions; a version may be a table too.
func pythonTable(table map[string]any) []Dep {
	var out []Dep
	for _, e := range sorted(table) {
		if e.key == "python" || e.key == "python_version" {
			continue
		}
		version, _ := e.value.(string)
		if t, ok := e.value.(map[string]any); ok {
			version, _ = t["version"].(string)
		}
		d := python(e.key)
		d.Text = versioned(e.key, " ", version).Text
		out = append(out, d)
	}
	return out
}

func pipfile(data []byte) ([]Dep, error) {
	var f struct {
		Packages map[string]any `toml:"packages"`
		Dev      map[string]any `toml:"dev-packages"`
	}
	if err := toml.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	return append(pythonTable(f.Packages), pythonTable(f.Dev)...), nil
}

// conda reads an environment line by line: its packages, and those that pip
// installs. YAML parsers are too slow on malicious input.
func conda(data []byte) []Dep {
	var out []Dep
	inside := false
	for line := range strings.Lines(string(data)) {
		item, isItem := strings.CutPrefix(strings.TrimSpace(line), "- ")
		switch {
		case !isItem && strings.Trim(line, " \t\r\n") != "" && line[0] != ' ' && line[0] != '#':
			inside = strings.HasPrefix(line, "dependencies:")
		case isItem && inside:
			if i := strings.LastIndex(item, "::"); i >= 0 { // "channel::name=1.2"
				item = item[i+2:]
			}
			item = strings.Trim(strings.TrimSpace(item), `"'`)
			if d := python(item); d.Name != "python" && d.Name != "pip" {
				out = append(out, d)
			}
		}
	}
	return out
}

type entry[V any] struct {
	key   string
	value V
}

func sorted[V any](m map[string]V) []entry[V] {
	out := make([]entry[V], 0, len(m))
	for k, v := range m {
		out = append(out, entry[V]{k, v})
	}
	sorting.Func(out, func(a, b entry[V]) int { return strings.Compare(a.key, b.key) })
	return out
}
