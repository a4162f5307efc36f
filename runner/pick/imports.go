package pick

import (
	"path"
	"regexp"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
)

// A module is an imported name and the ecosystem of the language it is in.
type module struct {
	eco  catalog.Ecosystem
	name string
}

func languageOf(p string) (eco catalog.Ecosystem, known bool) {
	switch strings.ToLower(path.Ext(p)) {
	case ".py", ".ipynb":
		return catalog.PyPI, true
	case ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".vue", ".svelte", ".astro", ".html":
		return catalog.NPM, true
	case ".go":
		return catalog.Go, true
	case ".rb", ".erb":
		return catalog.RubyGems, true
	case ".rs":
		return catalog.Cargo, true
	case ".php":
		return catalog.Composer, true
	case ".java", ".kt", ".scala":
		return catalog.Maven, true
	case ".cs":
		return catalog.NuGet, true
	case ".txt", "":
		return "", false
	default:
		return "", true // a known kind of file without imports
	}
}

var (
	pyImport   = regexp.MustCompile(`^\s*import\s+([\w.]+(?:\s+as\s+\w+)?(?:\s*,\s*[\w.]+(?:\s+as\s+\w+)?)*)\s*(?:#.*)?$`)
	pyFrom     = regexp.MustCompile(`^\s*from\s+([\w.]+)\s+import\b`)
	jsImport   = regexp.MustCompile(`(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*['"]([^'"]+)['"]`)
	goImport   = regexp.MustCompile(`^\s*(?:import\s+)?(?:[\w.]+\s+)?"([\w.-]+(?:/[^"\s]*)?)"\s*$`)
	rubyImport = regexp.MustCompile(`^\s*require\s*\(?\s*['"]([^'"]+)['"]`)
	rustImport = regexp.MustCompile(`^\s*(?:pub\s+)?use\s+(?:::)?(\w+(?:::\w+)*)`)
	phpImport  = regexp.MustCompile(`^\s*use\s+\\?([\w\\]+)`)
	javaImport = regexp.MustCompile(`^\s*import\s+(?:static\s+)?([\w.]+)`)
	csImport   = regexp.MustCompile(`^\s*using\s+(?:static\s+)?([\w.]+)\s*;`)
)

// importsOf returns the modules that a line imports. In a file of unknown kind every
// grammar that needs quotes or `from` is tried.
func importsOf(eco catalog.Ecosystem, known bool, line string) []module {
	if !known {
		return append(importsOf(catalog.PyPI, true, line), importsOf(catalog.NPM, true, line)...)
	}
	switch eco {
	case catalog.PyPI:
		return pythonImports(line)
	case catalog.NPM:
		return all(eco, jsImport, line)
	case catalog.Go:
		return all(eco, goImport, line)
	case catalog.RubyGems:
		return all(eco, rubyImport, line)
	case catalog.Cargo:
		return all(eco, rustImport, line)
	case catalog.Composer:
		return all(eco, phpImport, line)
	case catalog.Maven:
		return all(eco, javaImport, line)
	case catalog.NuGet:
		return all(eco, csImport, line)
	default:
		return nil
	}
}

func all(eco catalog.Ecosystem, re *regexp.Regexp, line string) []module {
	var out []module
	for _, m := range re.FindAllStringSubmatch(line, -1) {
		out = append(out, module{eco, m[1]})
	}
	return out
}

func pythonImports(line string) []module {
	if m := pyFrom.FindStringSubmatch(line); m != nil {
		return []module{{catalog.PyPI, m[1]}}
	}
	m := pyImport.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	var out []module
	for _, part := range strings.Split(m[1], ",") {
		out = append(out, module{catalog.PyPI, strings.Fields(part)[0]})
	}
	return out
}

// imports reports whether a module is the target's, or inside it.
func (t *target) imports(m module) bool {
	for _, name := range t.Imports[m.eco] {
		rest, inside := strings.CutPrefix(m.name, name)
		if inside && (rest == "" || strings.ContainsAny(rest[:1], `./:\`)) {
			return true
		}
	}
	return false
}
