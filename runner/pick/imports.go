package pick

import (
	"path"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
)

// A module is an imported name and the ecosystem of the language it is in.
type module struct {
	eco  catalog.Ecosystem
	name string
}

func languageOf(p string) (eco catalog.Ecosystem, known bool) {
	switch strings.ToLower(path.Ext(p)) {
	case ".py", ".pyi", ".pyw", ".ipynb":
		return catalog.PyPI, true
	case ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".astro", ".html", ".mdx":
		return catalog.NPM, true
	case ".go":
		return catalog.Go, true
	case ".rb", ".erb", ".rake", ".gemspec":
		return catalog.RubyGems, true
	case ".rs":
		return catalog.Cargo, true
	case ".php":
		return catalog.Composer, true
	case ".java", ".kt", ".kts", ".scala", ".groovy":
		return catalog.Maven, true
	case ".cs", ".csx", ".fs", ".vb", ".razor", ".cshtml":
		return catalog.NuGet, true
	case ".txt", "":
		return "", false
	default:
		return "", true // a known kind of file without imports
	}
}

var (
	goImport   = lazyregexp.MustCompile(`^\s*(?:import\s+)?(?:[\w.]+\s+)?"([\w.-]+(?:/[^"\s]*)?)"\s*;?\s*$`)
	rubyImport = lazyregexp.MustCompile(`^\s*(?:require|gem)\b\s*\(?\s*['"]([^'"]+)['"]`)
	rustImport = lazyregexp.MustCompile(`^\s*(?:pub(?:\([^)]*\))?\s+)?(?:use\s+(?:::)?|extern\s+crate\s+|#!?\[)(\w+(?:::\w+)*)`)
	phpImport  = lazyregexp.MustCompile(`\\?\b([A-Z]\w*(?:\\\w+)+)`)
	javaImport = lazyregexp.MustCompile(`^\s*import\s+(?:static\s+)?([\w.]+)`)
	csImport   = lazyregexp.MustCompile(`^\s*(?:@|global\s+)?(?:using|open|Imports)\s+(?:static\s+|\w+\s*=\s*)?([\w.]+)\s*;?\s*$`)
)

// importsOf calls found with each module that a line of code imports. In a file of
// unknown kind every grammar that needs quotes or `from` is tried.
func importsOf(eco catalog.Ecosystem, known bool, line string, found func(module)) {
	if !known {
		pythonImports(line, found)
		scriptImports(line, found)
		return
	}
	switch eco {
	case catalog.PyPI:
		pythonImports(line, found)
	case catalog.NPM:
		scriptImports(line, found)
	case catalog.Go:
		if strings.HasSuffix(strings.TrimRight(line, " \t;"), `"`) {
			first(eco, goImport, line, found)
		}
	case catalog.RubyGems:
		if strings.Contains(line, "require") || strings.Contains(line, "gem") {
			first(eco, rubyImport, line, found)
		}
	case catalog.Cargo:
		if strings.Contains(line, "use") || strings.Contains(line, "crate") || strings.Contains(line, "#") {
			first(eco, rustImport, line, found)
		}
	case catalog.Composer:
		if strings.Contains(line, `\`) {
			for _, m := range phpImport.FindAllStringSubmatch(line, maxImports) {
				found(module{eco, m[1]})
			}
		}
	case catalog.Maven:
		if strings.Contains(line, "import") {
			first(eco, javaImport, line, found)
		}
	case catalog.NuGet:
		if strings.Contains(line, "using") || strings.Contains(line, "open") || strings.Contains(line, "Imports") {
			first(eco, csImport, line, found)
		}
	case catalog.Docker, catalog.System: // no language
	}
}

// maxImports limits the imports that are read of one line.
const maxImports = 1000

// first finds the import with which a line begins. What is longer is not an import.
func first(eco catalog.Ecosystem, re *lazyregexp.Regexp, line string, found func(module)) {
	if m := re.FindStringSubmatch(line[:min(len(line), maxImportLine)]); m != nil {
		found(module{eco, m[1]})
	}
}

// maxImportLine is the part of a line, in bytes, in which its import is looked for.
const maxImportLine = 2000

// pythonImports reads `import a.b as c, d`, `from a import b, c` and the calls that
// import a name. Of `from a import b` the module is a.b, since b may be a module.
func pythonImports(line string, found func(module)) {
	if !strings.Contains(line, "import") {
		return
	}
	for statement := range strings.SplitSeq(line[:min(len(line), maxImportLine)], ";") {
		statement = strings.TrimSpace(statement)
		if rest, ok := strings.CutPrefix(statement, "import "); ok {
			pythonNames(rest, "", found)
		} else if rest, ok := strings.CutPrefix(statement, "from "); ok {
			from, list, ok := strings.Cut(strings.TrimSpace(rest), " import")
			if from = strings.TrimSpace(from); ok && isDotted(from) && (list == "" || strings.ContainsAny(list[:1], " (*\t")) {
				if pythonNames(strings.Trim(list, " \t()\\"), from+".", found) == 0 {
					found(module{catalog.PyPI, from})
				}
			}
		} else {
			for _, call := range []string{"import_module(", "__import__("} {
				if _, rest, ok := strings.Cut(statement, call); ok {
					name, _, _ := strings.Cut(strings.TrimLeft(rest, `"' `), rest[:min(1, len(rest))])
					found(module{catalog.PyPI, name})
				}
			}
		}
	}
}

// pythonNames calls found with the names of a list of imports, and returns their number.
// A list with anything else in it is no import.
func pythonNames(list, prefix string, found func(module)) (n int) {
	var names []string
	for part := range strings.SplitSeq(list, ",") {
		words := strings.Fields(part)
		if len(words) == 0 && prefix != "" {
			continue
		}
		if len(words) != 1 && (len(words) != 3 || words[1] != "as") || !isDotted(words[0]) {
			return 0
		}
		names = append(names, words[0])
	}
	for _, name := range names {
		found(module{catalog.PyPI, prefix + name})
	}
	return len(names)
}

// isDotted reports whether a text is identifiers with dots between.
func isDotted(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '.' && !isWordByte(c) {
			return false
		}
	}
	return s != "" && s[0] != '.'
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// scriptImports reads the strings behind from, import and require, and the addresses of
// packages on the networks that deliver them.
func scriptImports(line string, found func(module)) {
	alone := ""
	for at := 0; at < len(line); {
		n := strings.IndexAny(line[at:], "'\"`")
		if n < 0 {
			return
		}
		at += n
		end := closingQuote(line, at, &alone)
		if end < 0 {
			at++
			continue
		}
		text := line[at+1 : end]
		if text != "" && len(text) <= maxName && (isImported(line[:at]) || strings.Contains(text, "://")) {
			if name := scriptModule(text); name != "" {
				found(module{catalog.NPM, name})
			}
		}
		at = end + 1
	}
}

// closingQuote returns where the string that begins at a byte ends; -1 if it does not.
func closingQuote(line string, at int, alone *string) int {
	quote := line[at]
	if strings.IndexByte(*alone, quote) >= 0 {
		return -1
	}
	for end := at + 1; end < len(line); end++ {
		switch line[end] {
		case '\\':
			end++
		case quote:
			return end
		}
	}
	*alone += string(quote)
	return -1
}

// isImported reports whether code ends so that a string behind it names a module.
func isImported(before string) bool {
	before = strings.TrimRight(before[max(0, len(before)-40):], " \t")
	if call, ok := strings.CutSuffix(before, "("); ok {
		call = strings.TrimRight(call, " \t")
		return endsInWord(call, "require") || endsInWord(call, "import") || strings.HasSuffix(call, "require.resolve")
	}
	return endsInWord(before, "from") || endsInWord(before, "import") || endsInWord(before, "require")
}

func endsInWord(s, word string) bool {
	rest, ok := strings.CutSuffix(s, word)
	return ok && (rest == "" || !isWordByte(rest[len(rest)-1]) && rest[len(rest)-1] != '.' && rest[len(rest)-1] != '$')
}

// scriptModule returns the name of the npm package, and the path in it, that a specifier
// of a module names; empty for another registry.
func scriptModule(s string) string {
	if _, rest, ok := strings.Cut(s, "://"); ok {
		host, p, _ := strings.Cut(rest, "/")
		switch host {
		case "esm.sh", "unpkg.com", "cdn.skypack.dev", "esm.run", "ga.jspm.io":
			s = strings.TrimPrefix(p, "npm:")
		case "cdn.jsdelivr.net":
			rest, ok := strings.CutPrefix(p, "npm/")
			if !ok {
				return ""
			}
			s = rest
		case "cdnjs.cloudflare.com":
			rest, _ := strings.CutPrefix(p, "ajax/libs/")
			s, _, _ = strings.Cut(rest, "/")
		default:
			return ""
		}
	} else {
		s = strings.TrimPrefix(s, "npm:")
	}
	// A version stands between the package and the path in it.
	if at := strings.LastIndexByte(s, '@'); at > 0 {
		_, rest, inside := strings.Cut(s[at:], "/")
		if s = s[:at]; inside {
			s += "/" + rest
		}
	}
	return s
}
