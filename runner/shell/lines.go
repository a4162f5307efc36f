package shell

import (
	"strings"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
)

var hereDoc = lazyregexp.MustCompile(`(?:^|[^<])<<-?[ \t]*\\?(?:'([^'\n]+)'|"([^"\n]+)"|([A-Za-z_][\w.+-]*))`)

// codeLines returns the lines of a text without here-documents; lines are cut at
// maxParsed.
func codeLines(text string) []string {
	lines := strings.Split(text, "\n")
	last := map[string]int{} // the last position of a line
	for i, line := range lines {
		last[strings.TrimLeft(line, "\t")] = i
	}
	var out []string
	var ends []string // delimiters of the open here-documents
	for i, line := range lines {
		if len(ends) > 0 {
			if strings.TrimLeft(line, "\t") != ends[0] {
				continue
			}
			ends = ends[1:]
		}
		line = line[:min(len(line), maxParsed-1)]
		out = append(out, line)
		for _, m := range hereDoc.FindAllStringSubmatch(line, 100) {
			if end := m[1] + m[2] + m[3]; last[end] > i {
				ends = append(ends, end)
			}
		}
	}
	return out
}

var tokens = lazyregexp.MustCompile(`#.*|"(?:[^"\\]|\\.)*"|'[^']*'|[;&|(){}]+|[0-9]*(?:>>?&?|<&?)\s*[^\s;&|(){}"']*|[^\s;&|(){}"'<>]+`)

// split splits a line with a syntax error: truncated shell, or another language such as
// PowerShell.
func (r *reader) split(line string) {
	var words []string
	end := func() {
		if len(words) > 0 {
			r.out = append(r.out, Command{Words: words})
			words = nil
		}
	}
	for _, t := range tokens.FindAllString(line, -1) {
		switch {
		case strings.ContainsRune(";&|(){}", rune(t[0])):
			end()
		case t[0] == '#', strings.ContainsAny(t, "<>") && t[0] != '"' && t[0] != '\'':
		case len(words) == 0 && isKeyword(t):
		case t[0] == '"' || t[0] == '\'':
			words = append(words, t[1:len(t)-1])
		default:
			words = append(words, t)
		}
	}
	end()
}

func isKeyword(word string) bool {
	switch word {
	case "if", "then", "else", "elif", "fi", "while", "until", "do", "done", "for", "case", "esac", "!", "time":
		return true
	}
	return false
}
