// Package shell splits shell text into the commands that it runs.
//
// The parser is mvdan.cc/sh/v3/syntax. Agents write the text, so the parser's
// input is limited; text that nests too deeply or is not bash is split line by line.
package shell

import (
	"cmp"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

const (
	// maxParsed limits the text parsed at a time, in bytes. The rest of a longer line is
	// ignored.
	maxParsed = 32 << 10
	// maxBrackets limits the opening brackets of that text: the parser recurses.
	maxBrackets = 4000
	// maxErrors limits how often the parser restarts after a line with a syntax error.
	maxErrors = 16
)

// A Command is one simple command: a program or builtin with its arguments.
type Command struct {
	// Words have no quotes; an expansion such as $NAME stays unexpanded.
	Words []string
	// Input is its here-document.
	Input string
	// Output is the file that its standard output is written to; Append means at the end.
	Output string
	Append bool
	// Excused means that its failure does not fail the text (`A || B`: A). Fallback means
	// that it runs where another command fails (B).
	Excused, Fallback bool
}

// Commands returns the simple commands of a shell text, in their order: also those in
// lists, pipes, loops, functions and substitutions. Comments, redirections,
// assignments and here-documents are not among the words.
func Commands(text string) []Command {
	r := reader{errors: maxErrors}
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD")
	if len(text) > maxParsed {
		if words, ok := Words(text); ok {
			return []Command{{Words: words}}
		}
		text = strings.Join(codeLines(text), "\n")
	}
	for len(text) > maxParsed {
		end := strings.LastIndexByte(text[:maxParsed], '\n') + 1
		r.read(text[:end])
		text = text[end:]
	}
	r.read(text)
	return r.out
}

// Words returns the words of a text that is one simple command and nothing else.
func Words(text string) (words []string, ok bool) {
	if (len(text) > maxParsed || brackets(text) > maxBrackets) && !isFlat(text) {
		return nil, false
	}
	f, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil || len(f.Stmts) != 1 {
		return nil, false
	}
	s := f.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || s.Semicolon.IsValid() || len(s.Redirs) > 0 || len(call.Assigns) > 0 {
		return nil, false
	}
	return wordsOf(text, call.Args), true
}

// isFlat reports whether a text has only words and quotes, for which the parser does not
// recurse.
func isFlat(text string) bool {
	var quote byte // ' or " while inside
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote == '\'':
			if c == '\'' {
				quote = 0
			}
		case c == '\\':
			i++
		case c == '`', c == '$' && (quote == 0 || i+1 < len(text) && strings.IndexByte("({[", text[i+1]) >= 0):
			return false
		case quote == '"':
			if c == '"' {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case strings.IndexByte("\n;&|<>(){}[]!?*+@#~=", c) >= 0:
			return false
		}
	}
	return quote == 0
}

type reader struct {
	out    []Command
	errors int // syntax errors that may still occur
}

// read parses statement by statement. After a syntax error it splits the line as far as
// possible and restarts behind it.
func (r *reader) read(text string) {
	for text != "" {
		if r.errors == 0 || brackets(text) > maxBrackets {
			for _, line := range codeLines(text) {
				r.split(line)
			}
			return
		}
		var stmts []*syntax.Stmt
		var failed bool
		for stmt, err := range syntax.NewParser().StmtsSeq(strings.NewReader(text)) {
			if err != nil {
				failed = true // and no break: 3.14.1 may yield once more, which would panic
			} else if !failed {
				stmts = append(stmts, stmt)
			}
		}
		end := 0
		for _, stmt := range stmts {
			end = max(end, r.statement(text, stmt))
		}
		if !failed {
			return
		}
		r.errors--
		line, rest, _ := strings.Cut(strings.TrimLeft(text[min(end, len(text)):], " \t\r\n;&"), "\n")
		r.split(line)
		text = rest
	}
}

// statement adds the commands of a statement and returns where it ends in the text.
func (r *reader) statement(text string, stmt *syntax.Stmt) int {
	end := int(stmt.End().Offset())
	var found []placed
	excused, fallback := 0, 0 // where the last such part ends
	for node := range syntax.Preorder(stmt) {
		if list, ok := node.(*syntax.BinaryCmd); ok && list.Op == syntax.OrStmt {
			excused = max(excused, int(list.X.End().Offset()))
			fallback = max(fallback, int(list.Y.End().Offset()))
		}
		s, ok := node.(*syntax.Stmt)
		if !ok {
			continue
		}
		at := int(s.Pos().Offset())
		c := Command{Excused: at < excused}
		c.Fallback = !c.Excused && at < fallback
		for _, redirect := range s.Redirs {
			if h := redirect.Hdoc; h != nil {
				end = max(end, int(h.End().Offset()))
				c.Input = inputOf(text, h)
			}
			if (redirect.Op == syntax.RdrOut || redirect.Op == syntax.AppOut || redirect.Op == syntax.RdrClob) && (redirect.N == nil || redirect.N.Value == "1") {
				c.Output, c.Append = wordsOf(text, []*syntax.Word{redirect.Word})[0], redirect.Op == syntax.AppOut
			}
		}
		if call, ok := s.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			c.Words = wordsOf(text, call.Args)
			found = append(found, placed{int(call.Pos().Offset()), c})
		}
	}
	sorting.StableFunc(found, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	for _, f := range found {
		r.out = append(r.out, f.Command)
	}
	return end
}

// inputOf returns the text of a here-document.
func inputOf(text string, w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			b.WriteString(lit.Value)
		} else {
			b.WriteString(source(text, part))
		}
	}
	return b.String()
}

// placed is a command and its start.
type placed struct {
	at int
	Command
}

func wordsOf(text string, words []*syntax.Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		var b strings.Builder
		unquote(&b, text, w.Parts, false)
		out[i] = b.String()
	}
	return out
}

func unquote(b *strings.Builder, text string, parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			unescape(b, source(text, p), quoted)
		case *syntax.SglQuoted:
			s := strings.TrimPrefix(source(text, p), "$")
			b.WriteString(s[min(1, len(s)):max(min(1, len(s)), len(s)-1)])
		case *syntax.DblQuoted:
			unquote(b, text, p.Parts, true)
		default:
			b.WriteString(source(text, p))
		}
	}
}

// unescape removes backslashes as a shell does. Before a letter or a digit they stay:
// there they separate folders of Windows.
func unescape(b *strings.Builder, s string, quoted bool) {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; {
		case c == '\n':
		case quoted && strings.IndexByte("\"\\$`", c) < 0, !quoted && isAlphanumeric(c):
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// source returns the text of a node.
func source(text string, n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	from = min(from, len(text))
	return text[from:min(max(from, to), len(text))]
}

func brackets(text string) int {
	n := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '{', '`':
			n++
		}
	}
	return n
}
