package manifest

import (
	"strings"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
)

var (
	tomlHeader = lazyregexp.MustCompile(`^\s*\[\[?([^\]]+)\]\]?\s*$`)
	tomlPair   = lazyregexp.MustCompile(`^\s*["']?([A-Za-z0-9_.-]+?)["']?\s*=\s*([^=\s].*)$`)
	tomlString = lazyregexp.MustCompile(`"([^"]*)"|'([^']*)'`)
	// inlineTable is a table of an item of a list.
	inlineTable = lazyregexp.MustCompile(`\{[^{}\[\]:]*=[^{}\[\]:]*\}`)
	tomlField   = lazyregexp.MustCompile(`\b(version|package|module|group|name|path|workspace|git)\s*(?:\.\w+)?\s*=\s*["']?([^"',}\s]*)`)
	// requirement is a line of a list with one package, by its version or alone.
	requirement = lazyregexp.MustCompile(`^[A-Za-z][\w.-]*(?:\[[\w\s,.-]+\])?\s*(?:$|[=<>~!;@(])`)
)

// table follows headers of tables and lists of strings. It returns the pair of a line, and
// calls item with each string of a list.
func (r *fragment) table(line string, item func(key, text string)) (key, value string) {
	if m := tomlHeader.FindStringSubmatch(line); m != nil {
		r.section, r.array = strings.ReplaceAll(strings.TrimSpace(m[1]), " ", ""), ""
		return "", ""
	}
	rest := line
	if r.array == "" {
		m := tomlPair.FindStringSubmatch(line)
		if m == nil {
			if text := strings.TrimSpace(line); r.section == "" && strings.ContainsAny(text[:1], `"'`) {
				r.items(text, func(s string) { item("", s) })
			}
			return "", ""
		}
		if !strings.HasPrefix(m[2], "[") {
			return m[1], m[2]
		}
		r.array, rest = m[1], m[2][1:]
	}
	if end := r.items(rest, func(s string) { item(r.array, s) }); end {
		r.array = ""
	}
	return "", ""
}

// items calls each with the strings of a part of a list, and reports whether the list
// ends there. A bracket inside a string is not the end.
func (r *fragment) items(text string, each func(string)) (end bool) {
	text = inlineTable.ReplaceAllString(text, "") // it includes another list
	for _, m := range tomlString.FindAllStringSubmatch(text, -1) {
		each(m[1] + m[2])
	}
	return strings.Contains(tomlString.ReplaceAllString(text, ""), "]")
}

func (r *fragment) pyproject(line string) {
	key, value := r.table(line, func(key, text string) {
		section := r.section
		switch {
		case section == "project" && key == "dependencies",
			section == "project.optional-dependencies", section == "dependency-groups", section == "tool.pdm.dev-dependencies",
			section == "tool.uv" && key == "dev-dependencies",
			strings.HasPrefix(section, "tool.hatch.envs.") && strings.HasSuffix(key, "dependencies"),
			section == "" && (key == "dependencies" || key == "" && strings.ContainsAny(text, "=<>~!")):
			if requirement.MatchString(text) {
				r.add(python(text), isDevGroup(key) || strings.HasSuffix(section, "dev-dependencies") || key == "dev-dependencies")
			}
		}
	})
	if rest, ok := strings.CutPrefix(r.section, "tool.poetry"); key != "" && (r.section == "" || ok && strings.HasSuffix(rest, "dependencies")) {
		r.pythonPair(key, value, strings.Contains(rest, "dev-") || isDevGroup(strings.TrimSuffix(strings.TrimPrefix(rest, ".group."), ".dependencies")))
	}
}

// pythonPair reads `name = "^1"` and `name = {version = "^1"}`.
func (r *fragment) pythonPair(key, value string, dev bool) {
	switch key {
	case "python", "python_version", "version", "requires-python", "name", "exclude-newer":
		return
	}
	text := strings.Trim(value, `"'`)
	switch value[0] {
	case '"', '\'':
		if !version.MatchString(text) {
			return
		}
	case '{':
		fields := tomlFields(value)
		if fields["path"] != "" || r.section == "" && fields["version"] == "" {
			return
		}
		text = fields["version"]
	default:
		return
	}
	d := python(key)
	d.Text = versioned(key, " ", text).Text
	r.add(d, dev)
}

func tomlFields(value string) map[string]string {
	out := map[string]string{}
	for _, m := range tomlField.FindAllStringSubmatch(value, -1) {
		out[m[1]] = m[2]
	}
	return out
}

func (r *fragment) pipfile(line string) {
	key, value := r.table(line, func(string, string) {})
	if key != "" && (r.section == "" || r.section == "packages" || r.section == "dev-packages") {
		r.pythonPair(key, value, r.section == "dev-packages")
	}
}

// cargo reads tables of crates, and tables of one crate: [dependencies.serde].
func (r *fragment) cargo(line string) {
	before := r.section
	key, value := r.table(line, func(string, string) {})
	at := strings.LastIndex(r.section, "dependencies")
	if r.section != before && at >= 0 && strings.HasPrefix(r.section[at:], "dependencies.") {
		name := strings.Trim(r.section[at+len("dependencies."):], `"'`)
		r.add(Dep{name, name}, strings.HasSuffix(r.section[:at], "dev-"))
		return
	}
	if key == "" || r.section != "" && !strings.HasSuffix(r.section, "dependencies") {
		if key == "package" && at >= 0 { // [dependencies.alias] package = "name"
			r.add(Dep{strings.Trim(value, `"'`), strings.Trim(value, `"'`)}, strings.HasSuffix(r.section[:at], "dev-"))
		}
		return
	}
	name, field, dotted := strings.Cut(key, ".")
	fields := tomlFields(value)
	switch {
	case fields["path"] != "", dotted && field != "workspace" && field != "version":
		return
	case fields["package"] != "":
		name = fields["package"]
	}
	text := strings.Trim(value, `"'`)
	if value[0] == '{' {
		text = fields["version"]
	}
	if r.section == "" {
		switch key {
		case "version", "edition", "name", "rust-version", "resolver", "rev", "tag", "branch", "git", "features", "opt-level", "codegen-units":
			return
		}
		if value[0] != '{' && value[0] != '"' && value[0] != '\'' && !dotted || value[0] != '{' && !version.MatchString(text) && !dotted || value[0] == '{' && text == "" && fields["workspace"] == "" && fields["git"] == "" {
			return
		}
	}
	if dotted {
		text = ""
	}
	r.add(versioned(name, " ", text), strings.HasSuffix(r.section, "dev-dependencies"))
}

// versionCatalog reads Gradle's table of libraries.
func (r *fragment) versionCatalog(line string) {
	key, value := r.table(line, func(string, string) {})
	if key == "" || r.section != "" && r.section != "libraries" {
		return
	}
	name := strings.Trim(value, `"'`)
	if value[0] == '{' {
		fields := tomlFields(value)
		if name = fields["module"]; name == "" && fields["group"] != "" && fields["name"] != "" {
			name = fields["group"] + ":" + fields["name"]
		}
	}
	if parts := strings.SplitN(name, ":", 3); len(parts) >= 2 && parts[0] != "" && parts[1] != "" && !strings.ContainsAny(name, " {}/") {
		r.add(Dep{parts[0] + ":" + parts[1], name}, false)
	}
}

var setupList = lazyregexp.MustCompile(`\b(install_requires|extras_require|tests_require|requires)\s*=\s*(.*)$`)

// setup reads the lists of setup.py and setup.cfg.
func (r *fragment) setup(line string) {
	trimmed := strings.TrimSpace(line)
	if m := tomlHeader.FindStringSubmatch(line); m != nil {
		r.section, r.array = m[1], ""
		return
	}
	if m := setupList.FindStringSubmatch(line); m != nil {
		r.array, trimmed = m[1], m[2]
	} else if r.array == "" && r.section == "options.extras_require" {
		_, trimmed, _ = strings.Cut(trimmed, "=")
		r.array = "extras_require"
	} else if r.array == "" && (r.section != "" || !strings.ContainsAny(trimmed[:1], `"'`)) {
		return
	}
	dev := r.array == "tests_require"
	plain := !strings.ContainsAny(trimmed, `"'`)
	if plain && requirement.MatchString(strings.TrimSpace(trimmed)) && r.array != "" {
		r.add(python(strings.TrimSpace(trimmed)), dev)
	}
	end := r.items(trimmed, func(s string) {
		if requirement.MatchString(s) && (r.array != "" || strings.ContainsAny(s, "=<>~")) {
			r.add(python(s), dev)
		}
	})
	if r.array != "" && (end && !strings.Contains(trimmed, "{") || strings.HasPrefix(trimmed, "}")) && (r.array != "extras_require" || strings.HasPrefix(trimmed, "}")) {
		r.array = ""
	}
}
