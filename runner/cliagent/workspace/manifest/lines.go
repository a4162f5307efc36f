package manifest

import (
	"path"
	"strings"
	"unicode"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
)

// A Line is a package that a line of a manifest asks for.
type Line struct {
	Dep
	At  int  // index of the line
	Dev bool // for tests and tools of the developers only
}

// maxLine is the length in bytes of the longest line that is read.
const maxLine = 16 << 10

// Lines returns the packages on lines that were added to a manifest, without comments.
// The lines may lack their context, such as the header of their table: then what looks
// like a package is one. The name of a Maven package without its group begins with the
// colon.
func Lines(name string, lines []string) []Line {
	_, read := lineReader(name)
	if read == nil {
		return nil
	}
	r := &fragment{dev: isDevFile(name)}
	for i, line := range lines {
		if line = strings.TrimRightFunc(line, unicode.IsSpace); line != "" && len(line) <= maxLine {
			r.at = i
			read(r, line)
		}
	}
	r.flush()
	return r.out
}

// lineReader returns how the lines of a file are read.
func lineReader(name string) (kind string, read func(*fragment, string)) {
	base := path.Base(name)
	ext := path.Ext(base)
	switch {
	case base == "package.json":
		return "npm", (*fragment).packageJSON
	case base == "deno.json" || base == "deno.jsonc" || base == "import_map.json":
		return "npm", (*fragment).deno
	case base == "pyproject.toml":
		return "pypi", (*fragment).pyproject
	case base == "Pipfile":
		return "pypi", (*fragment).pipfile
	case base == "setup.py" || base == "setup.cfg":
		return "pypi", (*fragment).setup
	case base == "Cargo.toml":
		return "cargo", (*fragment).cargo
	case base == "composer.json":
		return "composer", (*fragment).composer
	case base == "pom.xml":
		return "maven", (*fragment).pom
	case base == "libs.versions.toml":
		return "maven", (*fragment).versionCatalog
	case base == "build.gradle" || base == "build.gradle.kts" || base == "build.sbt":
		return "maven", (*fragment).gradle
	case base == "packages.config":
		return "nuget", (*fragment).packagesConfig
	case ext == ".txt" && path.Base(path.Dir(name)) == "requirements":
		return "pypi", whole(requirements)
	case base == "Brewfile" || base == "Aptfile":
		return "system", (*fragment).systemList
	case base == "environment.yml" || base == "environment.yaml":
		return "pypi", (*fragment).conda
	case strings.HasPrefix(base, "Dockerfile"):
		return "docker", (*fragment).dockerfile
	}
	kind, all := reader(base)
	if all == nil {
		return "", nil
	}
	return kind, whole(func(line []byte) []Dep { deps, _ := all(line); return deps })
}

// whole reads each line as Deps reads a file: for kinds whose lines stand alone.
func whole(read func([]byte) []Dep) func(*fragment, string) {
	return func(r *fragment, line string) {
		dev := r.dev || devLine.MatchString(line)
		for _, d := range read([]byte(line)) {
			r.add(d, dev)
		}
	}
}

var devLine = lazyregexp.MustCompile(`^\s*(?:test\w*|androidTest\w*)\b|\bgroups?:?\s*(?:=>)?\s*\[?:(?:test|development)\b|add_development_dependency|PrivateAssets="all"`)

// isDevFile reports whether a file lists packages of the developers: requirements-dev.txt.
func isDevFile(name string) bool {
	base := strings.TrimSuffix(path.Base(name), path.Ext(name))
	for _, part := range strings.FieldsFunc(base, func(r rune) bool { return r == '-' || r == '_' || r == '.' }) {
		if isDevGroup(part) {
			return true
		}
	}
	return false
}

func isDevGroup(name string) bool {
	switch strings.ToLower(name) {
	case "dev", "develop", "development", "test", "tests", "testing", "lint", "docs", "doc", "dev-packages", "devdependencies", "require-dev":
		return true
	}
	return false
}

// A fragment is the state of reading lines of a manifest.
type fragment struct {
	out []Line
	at  int
	dev bool // every package is for developers

	section string // the table or object of the line; empty while unknown
	array   string // the key whose list of strings is open
	// pending are group, artifact and scope of a Maven package, artifactAt its line.
	pending    [3]string
	artifactAt int
}

func (r *fragment) add(d Dep, dev bool) {
	if d.Name != "" {
		r.out = append(r.out, Line{d, r.at, dev || r.dev})
	}
}

// flush adds what waits for its end.
func (r *fragment) flush() {
	if artifact := r.pending[1]; artifact != "" && !strings.HasSuffix(artifact, "-plugin") {
		name := r.pending[0] + ":" + artifact
		r.out = append(r.out, Line{Dep{name, name}, r.artifactAt, r.dev || r.pending[2] == "test"})
	}
	r.pending = [3]string{}
}

var (
	jsonObject = lazyregexp.MustCompile(`"([\w-]+)"\s*:\s*\{`)
	jsonPair   = lazyregexp.MustCompile(`"(@?[\w.~-]+(?:/[\w.-]+)?)"\s*:\s*"([^"]*)"`)
	version    = lazyregexp.MustCompile(`^(?:[\^~>=<!*]|v?\d|latest$|next$|npm:|catalog:|dev-)`)
)

// object follows the objects of JSON: a pair is in the last one that was opened.
func (r *fragment) object(line string, pair func(section, name, value string)) {
	for line != "" {
		open, found := jsonObject.FindStringSubmatchIndex(line), jsonPair.FindStringSubmatchIndex(line)
		end := strings.IndexByte(line, '}')
		switch {
		case open != nil && (found == nil || open[0] < found[0]) && (end < 0 || open[0] < end):
			r.section, line = line[open[2]:open[3]], line[open[1]:]
		case found != nil && (end < 0 || found[0] < end):
			pair(r.section, line[found[2]:found[3]], line[found[4]:found[5]])
			line = line[found[1]:]
		case end >= 0:
			r.section, line = "", line[end+1:]
		default:
			return
		}
	}
}

func (r *fragment) packageJSON(line string) {
	r.object(line, func(section, name, value string) {
		switch section {
		case "", "dependencies", "devDependencies", "peerDependencies", "optionalDependencies":
			if (section != "" || !isField(name)) && version.MatchString(value) {
				r.add(versioned(name, "@", value), section == "devDependencies")
			}
		}
	})
}

// isField reports whether a name is a field of package.json with a version for a value.
func isField(name string) bool {
	switch name {
	case "version", "name", "node", "npm", "yarn", "pnpm", "bun", "vscode", "packageManager", "lockfileVersion", "$schema":
		return true
	}
	return false
}

func (r *fragment) composer(line string) {
	r.object(line, func(section, name, value string) {
		if (section == "" || section == "require" || section == "require-dev") && strings.Contains(name, "/") && version.MatchString(value) {
			d := versioned(name, " ", value)
			d.Name = strings.ToLower(d.Name)
			r.add(d, section == "require-dev")
		}
	})
}

// deno reads imports of npm packages; those of other registries are not known.
func (r *fragment) deno(line string) {
	for _, m := range jsonPair.FindAllStringSubmatch(line, -1) {
		if spec, ok := strings.CutPrefix(m[2], "npm:"); ok {
			name := spec
			if i := strings.LastIndexByte(spec, '@'); i > 0 {
				name = spec[:i]
			}
			r.add(Dep{name, spec}, false)
		}
	}
}

var packageID = lazyregexp.MustCompile(`<package\s[^>]*\bid\s*=\s*"([^"]+)"`)

func (r *fragment) packagesConfig(line string) {
	for _, m := range packageID.FindAllStringSubmatch(line, -1) {
		r.add(Dep{strings.ToLower(m[1]), m[1]}, false)
	}
}

var brewLine = lazyregexp.MustCompile(`^\s*(?:(?:brew|cask)\s+)?["']?([\w.+@/-]+)["']?`)

func (r *fragment) systemList(line string) {
	if m := brewLine.FindStringSubmatch(line); m != nil && m[1] != "tap" {
		r.add(Dep{m[1], m[1]}, false)
	}
}

// conda reads items of a list; without a header every item may be a package.
func (r *fragment) conda(line string) {
	if line[0] != ' ' && line[0] != '-' {
		r.section = line
		return
	}
	if r.section == "" || strings.HasPrefix(r.section, "dependencies:") {
		for _, d := range conda([]byte("dependencies:\n  " + strings.TrimSpace(line))) {
			r.add(d, false)
		}
	}
}

// dockerfile leaves out stages that are built in the file itself.
func (r *fragment) dockerfile(line string) {
	for _, m := range fromLine.FindAllStringSubmatch(line, -1) {
		if !strings.Contains(r.section, " "+strings.ToLower(m[1])+" ") && m[1] != "scratch" {
			r.add(image(m[1]), false)
		}
		if m[2] != "" {
			r.section += " " + strings.ToLower(m[2]) + " "
		}
	}
}

var (
	xmlTag    = lazyregexp.MustCompile(`<(/?)(project|dependency|exclusions?|parent|plugin|groupId|artifactId|scope)\b[^>]*>\s*([^<]*)`)
	gradleMap = lazyregexp.MustCompile(`^\s*(\w+)\b[^'"\n]*\bgroup\s*[:=]\s*['"]([\w.-]+)['"]\s*,\s*name\s*[:=]\s*['"]([\w.-]+)['"]`)
	sbtLine   = lazyregexp.MustCompile(`"([\w.-]+)"\s*%%?%?\s*"([\w.-]+)"\s*%\s*["\w]`)
)

// pom reads a group and its artifact, which lines of their own name.
func (r *fragment) pom(line string) {
	for _, m := range xmlTag.FindAllStringSubmatch(line, -1) {
		closing, text := m[1] == "/", strings.TrimSpace(m[3])
		switch m[2] {
		case "exclusion", "exclusions", "parent", "plugin":
			if !closing {
				r.flush()
				r.section = m[2]
			} else if r.section == m[2] {
				r.section, r.pending = r.array, [3]string{}
			}
		case "project": // what is outside of its dependencies is its own
			r.flush()
			r.section, r.array = "project", "project"
		case "dependency":
			r.flush()
			if r.section = ""; closing {
				r.section = r.array
			}
		case "groupId", "artifactId", "scope":
			if closing || r.section != "" {
				continue
			}
			if m[2] == "groupId" || m[2] == "artifactId" && r.pending[1] != "" {
				r.flush()
			}
			if m[2] == "artifactId" {
				r.artifactAt = r.at
			}
			r.pending[map[string]int{"groupId": 0, "artifactId": 1, "scope": 2}[m[2]]] = text
		}
	}
}

func (r *fragment) gradle(line string) {
	whole(gradle)(r, line)
	if m := gradleMap.FindStringSubmatch(line); m != nil {
		r.add(Dep{m[2] + ":" + m[3], m[2] + ":" + m[3]}, strings.HasPrefix(m[1], "test"))
	}
	for _, m := range sbtLine.FindAllStringSubmatch(line, -1) {
		r.add(Dep{m[1] + ":" + m[2], m[1] + ":" + m[2]}, strings.Contains(line, "% Test"))
	}
}
