package pick

import (
	"path"
	"strings"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/runner/cliagent/workspace/manifest"
)

var (
	titleAttr = lazyregexp.MustCompile(`(?:title|file|filename|path|name)\s*=\s*["']?([\w./@\[\]-]+)`)
	fileName  = lazyregexp.MustCompile(`^[\w./@\[\]-]*[\w\]]\.[A-Za-z]\w{0,9}$|^(?:[\w./-]+/)?(?:Docker|Gem|Pip|Brew|Make|Rake|Proc|Jenkins|Caddy|Model|Vagrant|Earth|Tilt)file$`)
	leadName  = lazyregexp.MustCompile("[`*_]{1,3}([\\w./@\\[\\]-]+)[`*_]{1,3}")
)

// path returns the name of the file that a fence shows: as its first line, the line
// before it or its first comment says, or by its language.
func (f *fence) path() string {
	ext := extension(f.language())
	if m := titleAttr.FindStringSubmatch(f.info); m != nil && isFileName(m[1]) {
		return m[1]
	}
	first, rest, _ := strings.Cut(f.info, ":")
	if name := strings.TrimSpace(rest); isFileName(name) {
		return name
	}
	if first = strings.TrimSpace(first); isFileName(first) {
		return first
	}
	if ext == ".sh" {
		return "answer.sh"
	}
	for _, name := range []string{f.firstComment(), f.before.fileName()} {
		if isFileName(name) && (manifest.Kind(name) != "" || ext == ".txt" || path.Ext(name) == "" || dialect(path.Ext(name)) == dialect(ext)) {
			return name
		}
	}
	if name := f.sniffed(ext); name != "" {
		return name
	}
	return "answer" + ext
}

func isFileName(s string) bool {
	return len(s) <= maxName && (fileName.MatchString(s) || manifest.Kind(s) != "" && !strings.ContainsAny(s, " \t"))
}

// dialect returns the extension that stands for all of one language.
func dialect(ext string) string {
	switch ext {
	case ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts":
		return ".js"
	case ".yml":
		return ".yaml"
	case ".jsonc", ".json5":
		return ".json"
	case ".kts":
		return ".kt"
	case ".gradle":
		return ".groovy"
	}
	return ext
}

// firstComment returns the text of a comment on the first line.
func (f *fence) firstComment() string {
	if len(f.lines) == 0 || len(f.lines[0]) > maxName {
		return ""
	}
	text := strings.TrimSpace(f.lines[0])
	for _, mark := range []string{"//", "#", "/*", "<!--", "--"} {
		if rest, ok := strings.CutPrefix(text, mark); ok {
			return strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(rest, "*/"), "-->"))
		}
	}
	return ""
}

// fileName returns the file that the line before a fence names.
func (l *lead) fileName() string {
	line := strings.TrimSpace(strings.TrimLeft(strings.TrimRight(l.line, ": "), "# "))
	if isFileName(line) {
		return line
	}
	name := ""
	for _, m := range leadName.FindAllStringSubmatch(l.line, 10) {
		if isFileName(m[1]) {
			name = m[1]
		}
	}
	return name
}

// sniffed returns the name of the manifest that code without a name looks like.
func (f *fence) sniffed(ext string) string {
	for _, line := range f.lines[:min(len(f.lines), 200)] {
		line = strings.TrimSpace(line[:min(len(line), maxImportLine)])
		has := func(s string) bool { return strings.Contains(line, s) }
		switch {
		case ext == ".json" && (has(`"dependencies":`) || has(`"devDependencies":`)):
			return "package.json"
		case ext == ".json" && (has(`"require":`) || has(`"require-dev":`)):
			return "composer.json"
		case ext == ".toml" && (line == "[project]" || strings.HasPrefix(line, "[tool.poetry") || line == "[dependency-groups]"):
			return "pyproject.toml"
		case ext == ".toml" && (strings.HasPrefix(line, "[dependencies") || line == "[dev-dependencies]" || line == "[workspace.dependencies]" || line == "[package]"):
			return "Cargo.toml"
		case ext == ".toml" && line == "[libraries]":
			return "libs.versions.toml"
		case ext == ".xml" && has("<artifactId>"):
			return "pom.xml"
		case ext == ".xml" && has("<PackageReference"):
			return "answer.csproj"
		case ext == ".rb" && (strings.HasPrefix(line, `gem "`) || strings.HasPrefix(line, `gem '`)):
			return "Gemfile"
		case (ext == ".groovy" || ext == ".gradle" || ext == ".kts" || ext == ".kt") && (strings.HasPrefix(line, "implementation") || strings.HasPrefix(line, "testImplementation")):
			return "build.gradle"
		case (ext == ".go" || ext == ".mod" || ext == ".txt") && (strings.HasPrefix(line, "module ") && !has(";") || line == "require ("):
			return "go.mod"
		case ext == ".yaml" && strings.HasPrefix(line, "image:"):
			return "compose.yaml"
		}
	}
	return ""
}

// sniffedPatch returns the name of the manifest whose lines a patch without a name changes.
func (f *fence) sniffedPatch() string {
	plain := &fence{lines: make([]string, len(f.lines))}
	for i, line := range f.lines {
		plain.lines[i] = strings.TrimLeft(line, "+- ")
	}
	for _, ext := range []string{".json", ".toml", ".xml", ".rb", ".gradle", ".mod"} {
		if name := plain.sniffed(ext); name != "" {
			return name
		}
	}
	return ""
}

// extension returns the file extension of a language.
func extension(language string) string {
	switch language {
	case "python", "py", "python3":
		return ".py"
	case "javascript", "js", "node":
		return ".js"
	case "typescript", "ts":
		return ".ts"
	case "jsx", "tsx", "mjs", "go", "php", "java", "html", "vue", "svelte", "astro", "json", "toml", "xml", "sql", "scala", "swift", "css", "scss", "tf", "md", "mdx", "groovy", "gradle", "kts", "dart", "c", "cpp", "env", "ini", "mod", "ex", "erb", "properties":
		return "." + language
	case "golang":
		return ".go"
	case "ruby", "rb":
		return ".rb"
	case "rust", "rs":
		return ".rs"
	case "kotlin", "kt":
		return ".kt"
	case "csharp", "cs", "c#":
		return ".cs"
	case "fsharp", "fs", "f#":
		return ".fs"
	case "bash", "sh", "shell", "zsh", "console", "terminal", "shell-session", "shellsession", "powershell", "ps1", "pwsh", "cmd", "bat", "fish":
		return ".sh"
	case "jsonc", "json5":
		return ".json"
	case "yaml", "yml":
		return ".yaml"
	case "terraform", "hcl":
		return ".tf"
	case "markdown":
		return ".md"
	case "elixir":
		return ".ex"
	case "dotenv":
		return ".env"
	case "dockerfile", "docker":
		return ".dockerfile"
	}
	return ".txt"
}
