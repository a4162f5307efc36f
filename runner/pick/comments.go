package pick

import (
	"path"
	"strings"
)

// A syntax is how a language writes comments and strings.
type syntax struct {
	line   []string    // what begins a comment to the end of the line
	blocks [][2]string // what begins and ends a comment
	quotes string      // what begins and ends a string on one line
	texts  []string    // what begins and ends a string over lines
	docs   bool        // such a string alone is a comment
	stars  bool        // a line that begins with * is inside a comment
	start  bool        // comments begin only where a line begins
}

// syntaxes returns the syntaxes by file extension.
func syntaxes() map[string]*syntax {
	c := &syntax{line: []string{"//"}, blocks: [][2]string{{"/*", "*/"}}, quotes: `"'`, stars: true}
	script := &syntax{line: []string{"//"}, blocks: [][2]string{{"/*", "*/"}}, quotes: `"'`, texts: []string{"`"}, stars: true}
	golang := &syntax{line: []string{"//"}, blocks: [][2]string{{"/*", "*/"}}, quotes: `"'`, texts: []string{"`"}}
	triple := &syntax{line: []string{"//"}, blocks: [][2]string{{"/*", "*/"}}, quotes: `"'`, texts: []string{`"""`}, stars: true}
	rust := &syntax{line: []string{"//"}, blocks: [][2]string{{"/*", "*/"}}, quotes: `"`, stars: true}
	php := &syntax{line: []string{"//", "#"}, blocks: [][2]string{{"/*", "*/"}, {"<!--", "-->"}}, quotes: `"'`, stars: true}
	python := &syntax{line: []string{"#"}, quotes: `"'`, texts: []string{`"""`, `'''`}, docs: true}
	ruby := &syntax{line: []string{"#"}, blocks: [][2]string{{"=begin", "=end"}}, quotes: `"'`}
	hash := &syntax{line: []string{"#"}, quotes: `"'`}
	elixir := &syntax{line: []string{"#"}, quotes: `"`, texts: []string{`"""`}}
	markup := &syntax{blocks: [][2]string{{"<!--", "-->"}}}
	page := &syntax{line: []string{"//"}, blocks: [][2]string{{"<!--", "-->"}, {"/*", "*/"}}, quotes: `"'`, texts: []string{"`"}, stars: true}
	both := &syntax{line: []string{"//", "#"}, blocks: [][2]string{{"/*", "*/"}}, quotes: `"`}
	sql := &syntax{line: []string{"--"}, blocks: [][2]string{{"/*", "*/"}}, quotes: `'"`}
	out := map[string]*syntax{
		"":     generic(),
		".lua": {line: []string{"--"}, blocks: [][2]string{{"--[[", "]]"}}, quotes: `"'`}, ".hs": {line: []string{"--"}, blocks: [][2]string{{"{-", "-}"}}, quotes: `"`},
		".jl": {line: []string{"#"}, blocks: [][2]string{{"#=", "=#"}}, quotes: `"`, texts: []string{`"""`}, docs: true}, ".ps1": {line: []string{"#"}, blocks: [][2]string{{"<#", "#>"}}, quotes: `"'`},
		".clj": {line: []string{";"}, quotes: `"`}, ".vb": {line: []string{"'"}, quotes: `"`}, ".erl": {line: []string{"%"}, quotes: `"`},
		".json": {quotes: `"`}, ".txt": generic(),
	}
	for s, list := range map[*syntax]string{
		c: ".c .h .cc .cpp .hpp .cs .csx .dart .gradle .scss .less .css .proto .mod .jsonc", script: ".js .jsx .ts .tsx .mjs .cjs .mts .cts", golang: ".go",
		triple: ".java .kt .kts .scala .sbt .swift .groovy", rust: ".rs", php: ".php", python: ".py .pyi .pyw .ipynb", ruby: ".rb .rake .gemspec .erb",
		hash:   ".sh .bash .zsh .fish .yaml .yml .toml .cfg .ini .conf .env .properties .r .pl .cmake .graphql .nix .mk",
		elixir: ".ex .exs", markup: ".xml .csproj .fsproj .props .config .md .mdx .svg", page: ".html .vue .svelte .astro .cshtml .razor", both: ".tf .hcl .bicep", sql: ".sql",
	} {
		for ext := range strings.FieldsSeq(list) {
			out[ext] = s
		}
	}
	return out
}

// generic is the syntax of files of an unknown kind.
func generic() *syntax {
	return &syntax{line: []string{"//", "#", "--"}, blocks: [][2]string{{"/*", "*/"}, {"<!--", "-->"}}, stars: true, start: true}
}

// syntaxOf returns the syntax of a file.
func (x *Extractor) syntaxOf(p string) *syntax {
	base := path.Base(p)
	switch {
	case base == "Pipfile" || strings.HasPrefix(base, ".env") || isDockerfile(base) || strings.HasPrefix(base, "requirements") || base == "Makefile" || base == "Brewfile":
		return x.syntaxes[".sh"]
	case base == "Gemfile" || base == "Rakefile":
		return x.syntaxes[".rb"]
	}
	if s := x.syntaxes[strings.ToLower(path.Ext(base))]; s != nil {
		return s
	}
	return x.syntaxes[""]
}

// A codeReader returns the lines of a file without their comments. The lines may be
// fragments: a comment that no line closes ends with its line.
type codeReader struct {
	*syntax
	lines    []string
	notebook bool
	special  [256]bool // bytes that may begin a comment or a string

	until   string // what ends the open comment or string; empty outside
	end     int    // the line of that end
	comment bool   // the open one is a comment
	// missing are ends that no later line has; odd are strings over lines whose marks do
	// not pair up, so that inside and outside are unknown.
	missing, odd map[string]bool
}

func (x *Extractor) codeReader(p string, lines []string) *codeReader {
	r := &codeReader{syntax: x.syntaxOf(p), lines: lines, notebook: path.Ext(p) == ".ipynb"}
	for _, list := range [][]string{r.line, r.texts} {
		for _, s := range list {
			r.special[s[0]] = true
		}
	}
	for _, b := range r.blocks {
		r.special[b[0][0]] = true
	}
	for i := range len(r.quotes) {
		r.special[r.quotes[i]] = true
	}
	return r
}

// next returns line i without its comments; quoted is true inside a string over lines.
// Lines must be read in their order.
func (r *codeReader) next(i int) (code string, quoted bool) {
	line := r.lines[i]
	if i == 0 {
		line = strings.TrimPrefix(line, "\ufeff")
	}
	if r.notebook {
		line = notebookLine(line)
	}
	from := 0
	if r.until != "" {
		if i < r.end {
			if r.comment {
				line = ""
			}
			return line, true
		}
		from = max(0, strings.Index(line, r.until)) + len(r.until)
		from = min(from, len(line))
		r.until, quoted = "", !r.comment
		if r.comment {
			line, from = line[from:], 0
		}
	}
	return r.strip(i, line, from), quoted
}

// notebookLine returns the code in a line of a notebook's JSON.
func notebookLine(line string) string {
	inner, ok := strings.CutPrefix(strings.TrimSpace(line), `"`)
	if !ok {
		return line
	}
	inner = strings.TrimSuffix(strings.TrimSuffix(inner, ","), `"`)
	return strings.ReplaceAll(strings.TrimSuffix(inner, `\n`), `\"`, `"`)
}

// strip removes the comments of a line from byte `at` on.
func (r *codeReader) strip(i int, line string, at int) string {
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	if rest := line[indent:]; r.stars && (strings.HasPrefix(rest, "* ") || strings.HasPrefix(rest, "*/") || rest == "*") {
		return ""
	}
	var kept []byte
	done := 0 // what comes before is in kept
	cut := func(from, to int) {
		kept = append(append(kept, line[done:from]...), ' ')
		done = to
	}
	alone := "" // quotes without a partner on this line
	for at < len(line) {
		if !r.special[line[at]] {
			at++
			continue
		}
		if open, until := r.blockAt(line, at, indent); open != "" {
			end := r.closing(i, line, at+len(open), until)
			r.comment = true
			cut(at, end)
			at = end
			continue
		}
		if r.beginsComment(line, at, indent) {
			if done == 0 {
				return line[:at]
			}
			cut(at, len(line))
			break
		}
		if mark := r.textAt(line, at); mark != "" {
			end, doc := r.text(i, line, at, mark), r.docs && at-indent <= 2 && isLetters(line[indent:at])
			if r.comment = doc; doc && end > at+len(mark) {
				cut(at, end)
			}
			at = end
			continue
		}
		at = r.skipString(line, at, &alone)
	}
	if done == 0 {
		return line
	}
	return string(append(kept, line[done:]...))
}

func isLetters(s string) bool { return strings.Trim(s, "rRbBuUfF") == "" }

// beginsComment reports whether a comment to the end of the line begins at a byte.
func (r *codeReader) beginsComment(line string, at, indent int) bool {
	first := at == indent
	for _, mark := range r.line {
		rest, ok := strings.CutPrefix(line[at:], mark)
		if !ok || r.start && !first {
			continue
		}
		var before byte = ' '
		if at > 0 {
			before = line[at-1]
		}
		switch mark {
		case "//": // not in an address or a pattern
			if before == ':' || before == '\\' {
				continue
			}
		case "#":
			if strings.HasPrefix(rest, "[") || strings.HasPrefix(rest, "include") || !r.docs && !first && before != ' ' && before != '\t' {
				continue
			}
		case "--":
			if !first && before != ' ' && before != '\t' {
				continue
			}
		}
		return true
	}
	return false
}

// blockAt returns what begins a comment at a byte, and what ends it.
func (r *codeReader) blockAt(line string, at, indent int) (open, until string) {
	for _, b := range r.blocks {
		if !strings.HasPrefix(line[at:], b[0]) || (r.start || b[0] == "=begin") && at != indent || at > 0 && line[at-1] == '\\' {
			continue
		}
		return b[0], b[1]
	}
	return "", ""
}

// closing returns where a comment ends on its line. If a later line closes it, the reader
// is inside from here on.
func (r *codeReader) closing(i int, line string, from int, until string) int {
	if r.missing[until] {
		return len(line)
	}
	if at := strings.Index(line[from:], until); at >= 0 {
		return from + at + len(until)
	}
	r.open(i, until)
	return len(line)
}

// open puts the reader inside a comment or string that a later line closes; it returns
// false if none does.
func (r *codeReader) open(i int, until string) bool {
	for j := i + 1; j < len(r.lines); j++ {
		if strings.Contains(r.lines[j], until) {
			r.until, r.end = until, j
			return true
		}
	}
	if r.missing == nil {
		r.missing = map[string]bool{}
	}
	r.missing[until] = true
	return false
}

func (r *codeReader) textAt(line string, at int) string {
	for _, mark := range r.texts {
		if strings.HasPrefix(line[at:], mark) {
			return mark
		}
	}
	return ""
}

// text returns where a string over lines ends on its line, or the end of its mark if it
// does not end at all.
func (r *codeReader) text(i int, line string, at int, mark string) int {
	from := at + len(mark)
	if r.missing[mark] {
		return from
	}
	for end := from; ; {
		n := strings.Index(line[end:], mark)
		if n < 0 {
			break
		}
		end += n + len(mark)
		if line[end-len(mark)-1] != '\\' || end-len(mark) == from {
			return end
		}
	}
	if r.isOdd(mark) || !r.open(i, mark) {
		return from
	}
	return len(line)
}

// isOdd reports whether the lines have an odd number of a mark.
func (r *codeReader) isOdd(mark string) bool {
	odd, known := r.odd[mark]
	if known {
		return odd
	}
	n := 0
	for _, line := range r.lines {
		n += strings.Count(line, mark)
	}
	if r.odd == nil {
		r.odd = map[string]bool{}
	}
	r.odd[mark] = n%2 == 1
	return n%2 == 1
}

// skipString returns the end of a string on one line, or the next byte if it has no
// end. alone holds the quotes that are known to have none.
func (r *codeReader) skipString(line string, at int, alone *string) int {
	quote := line[at]
	if strings.IndexByte(r.quotes, quote) < 0 || strings.IndexByte(*alone, quote) >= 0 {
		return at + 1
	}
	for end := at + 1; end < len(line); end++ {
		switch line[end] {
		case '\\':
			end++
		case quote:
			return end + 1
		}
	}
	*alone += string(quote)
	return at + 1
}
