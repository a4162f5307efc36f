package prose

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	xast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
)

// A Kind is the place of a Unit in the layout.
type Kind int

// The kinds of units.
const (
	Paragraph Kind = iota
	Heading
	Item
	Row
)

// A Span is a range of bytes of a Unit's text.
type Span struct{ From, To int }

// A Unit is one line of the layout: a heading, an item, a table row, or a paragraph.
type Unit struct {
	Kind Kind
	// Level is that of a heading, 1 to 6, or the depth of an item, from 1.
	Level int
	// Number is that of an item in a numbered list; 0 if absent.
	Number int
	Text   string
	// Bold, Struck, Code and Links are spans of Text.
	Bold, Struck, Code, Links []Span
	// Cells are those of a Row, Head those of its table's head.
	Cells, Head []string
	// Quoted means that it stands in a block quotation.
	Quoted bool
}

// A Reader turns markdown into units. It may be used by many goroutines.
type Reader struct{ markdown goldmark.Markdown }

// NewReader returns a Reader of markdown with tables and strikethrough.
func NewReader() *Reader {
	return &Reader{goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough))}
}

// Layout returns the units of a text in their order.
func (r *Reader) Layout(source string) []Unit {
	src := []byte(restore(source))
	l := &layout{src: src}
	l.blocks(r.markdown.Parser().Parse(text.NewReader(src)), Unit{})
	return l.units
}

var (
	lostSpace = lazyregexp.MustCompile(`([\p{Ll}\d)%][.!?:])(\p{Lu}\p{Ll})`)
	lostBreak = lazyregexp.MustCompile(`\s(#{1,6}\s+\S|[-*•]\s+\*\*|\|\s*\||\d{1,2}[.)]\s+(?:\*\*)?\p{Lu})`)
	hidden    = lazyregexp.MustCompile(`(?is)<[^>]*(?:display:\s*none|\bhidden\b)[^>]*>[^<]*</[^>]*>`)
	// nested are markers of quotations and lists below the sixteenth level of a line.
	nested    = lazyregexp.MustCompile(`(?m)^((?:[ \t]*(?:[-*+>]|\d{1,9}[.)])){16})(?:[ \t]*(?:[-*+>]|\d{1,9}[.)]))+`)
	arrowlike = strings.NewReplacer("➡\uFE0F", "→", "▶\uFE0F", "→", "➡", "→", "👉", "→", "▶", "→", "⇒", "→", "►", "→", "➜", "→", "➔", "→", "➝", "→", "⟶", "→")
	arrows    = lazyregexp.MustCompile(`(?m)^(\s*)→\s+`)
	bullets   = lazyregexp.MustCompile(`(?m)^(\s*)[•◦‣▪–—·・]\s*`)
	leaders   = lazyregexp.MustCompile(`\s*(?:\.{4,}|…{2,}|_{4,})\s+`)
)

// restore puts back the line breaks of a text that lost them: it is long, has next to none,
// and has marks of lists, headings or rows inside its lines.
func restore(source string) string {
	if strings.Contains(source, "<") {
		source = hidden.ReplaceAllString(withoutComments(source), "")
	}
	if len(source) > 8<<10 { // a short one cannot nest deep
		source = nested.ReplaceAllString(source, "$1")
	}
	if strings.ContainsAny(source, "•◦‣▪–—·・") {
		source = bullets.ReplaceAllString(source, "$1- ")
	}
	source = arrowlike.Replace(source)
	if strings.Contains(source, "....") || strings.Contains(source, "…") || strings.Contains(source, "____") {
		source = leaders.ReplaceAllString(source, ": ")
	}
	if strings.Contains(source, "→") && len(arrows.FindAllStringIndex(source, 2)) > 1 { // one alone is a verdict
		source = arrows.ReplaceAllString(source, "$1- ")
	}
	if !LostBreaks(source) {
		return source
	}
	source = lostSpace.ReplaceAllString(source, "$1 $2")
	at := lostBreak.FindAllStringIndex(source, -1)
	if len(at) < 2 {
		return source
	}
	var b strings.Builder
	from := 0
	for _, m := range at {
		b.WriteString(source[from:m[0]])
		b.WriteString("\n")
		from = m[0] + 1
	}
	return b.String() + source[from:]
}

// withoutComments removes HTML comments. One that never ends is text.
func withoutComments(source string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(source, "<!--")
		_, after, ends := strings.Cut(rest, "-->")
		if !ok || !ends {
			return b.String() + source
		}
		b.WriteString(before)
		source = after
	}
}

// LostBreaks reports whether a text has far fewer line breaks than its length asks for.
func LostBreaks(source string) bool {
	return len(source) > 600 && strings.Count(source, "\n")*300 < len(source)
}

// A layout gathers units while it walks the tree.
type layout struct {
	src   []byte
	units []Unit
}

// blocks adds the units of the children of a block. like holds what they share.
func (l *layout) blocks(parent ast.Node, like Unit) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			l.add(n, Unit{Kind: Heading, Level: n.Level, Quoted: like.Quoted})
		case *ast.List:
			l.list(n, like)
		case *ast.Blockquote:
			inner := like
			inner.Quoted = true
			l.blocks(n, inner)
		case *xast.Table:
			l.table(n, like)
		case *ast.FencedCodeBlock, *ast.ThematicBreak:
		case *ast.CodeBlock, *ast.HTMLBlock:
			l.raw(n, like)
		default:
			if n.Type() == ast.TypeBlock {
				l.add(n, like)
				like.Number = 0
				if like.Kind == Item {
					like.Kind = Paragraph
				}
			}
		}
	}
}

func (l *layout) list(n *ast.List, like Unit) {
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		u := like
		u.Kind, u.Level, u.Number = Item, like.Level+1, 0
		if n.IsOrdered() {
			u.Number = number
			number++
		}
		l.blocks(item, u)
	}
}

func (l *layout) table(n *xast.Table, like Unit) {
	var head []string
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, strings.TrimSpace(l.inline(cell, Unit{}).Text))
		}
		if head == nil {
			head = cells
			continue
		}
		l.units = append(l.units, Unit{Kind: Row, Cells: cells, Head: head, Text: strings.Join(cells, " | "), Quoted: like.Quoted})
	}
}

var tags = lazyregexp.MustCompile(`<[^>]*>`)

// raw adds the lines of indented code or HTML as paragraphs.
func (l *layout) raw(n ast.Node, like Unit) {
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		u := like
		u.Text = tags.ReplaceAllString(string(line.Value(l.src)), " ")
		l.line(u)
	}
}

// add adds the lines of a block of text.
func (l *layout) add(n ast.Node, like Unit) {
	whole := l.inline(n, like)
	if like.Kind == Heading || !strings.Contains(whole.Text, "\n") {
		l.line(whole)
		return
	}
	from := 0
	for from <= len(whole.Text) {
		end := lineEnd(whole.Text, from)
		l.line(whole.cut(from, end))
		from = end + 1
		whole.Number = 0
		if whole.Kind == Item {
			whole.Kind = Paragraph
		}
	}
}

// lineEnd returns where the line that begins at from ends. A newline in a hard-wrapped
// paragraph is a space: the line is long, does not end a sentence, and the next begins
// with a small letter.
func lineEnd(text string, from int) int {
	for at := from; ; {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text)
		}
		end := at + i
		line, next := text[from:end], text[end+1:]
		wrapped := len(line) >= 50 && !strings.ContainsAny(line[len(line)-1:], ".!?:;|") && next != "" && next[0] >= 'a' && next[0] <= 'z'
		if !wrapped {
			return end
		}
		at = end + 1
	}
}

// cut returns the part of a unit from one byte to another.
func (u Unit) cut(from, to int) Unit {
	part := func(spans []Span) (out []Span) {
		for _, s := range spans {
			if s.From < to && s.To > from {
				out = append(out, Span{max(s.From, from) - from, min(s.To, to) - from})
			}
		}
		return out
	}
	u.Text, u.Bold, u.Struck, u.Code, u.Links = strings.ReplaceAll(u.Text[from:to], "\n", " "), part(u.Bold), part(u.Struck), part(u.Code), part(u.Links)
	return u
}

// line adds a unit, or a row of a table that the parser did not take for one.
func (l *layout) line(u Unit) {
	trimmed := strings.TrimSpace(u.Text)
	if trimmed == "" {
		return
	}
	if strings.Count(trimmed, "|") >= 2 && strings.HasPrefix(trimmed, "|") || strings.Count(trimmed, " | ") >= 2 && u.Kind == Paragraph {
		if strings.Trim(trimmed, "|-: ") == "" {
			return
		}
		for _, c := range strings.Split(strings.Trim(trimmed, "|"), "|") {
			u.Cells = append(u.Cells, strings.TrimSpace(c))
		}
		u.Kind = Row
	}
	l.units = append(l.units, u)
}

// inline returns a unit with the text of a block's inline nodes.
func (l *layout) inline(n ast.Node, like Unit) Unit {
	w := &inliner{src: l.src, unit: like}
	w.children(n)
	w.unit.Text = strings.TrimRight(w.text.String(), " \n")
	for _, spans := range []*[]Span{&w.unit.Bold, &w.unit.Struck, &w.unit.Code, &w.unit.Links} {
		*spans = clip(*spans, len(w.unit.Text))
	}
	return w.unit
}

// clip ends spans at n and leaves out those that begin there.
func clip(spans []Span, n int) []Span {
	out := spans[:0]
	for _, s := range spans {
		if s.From < n {
			out = append(out, Span{s.From, min(s.To, n)})
		}
	}
	return out
}

// An inliner gathers the text of inline nodes, and the spans of their marks.
type inliner struct {
	src  []byte
	text strings.Builder
	unit Unit
}

func (w *inliner) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.node(c)
	}
}

func (w *inliner) node(n ast.Node) {
	from := w.text.Len()
	switch n := n.(type) {
	case *ast.Text:
		w.text.Write(n.Value(w.src))
		if n.SoftLineBreak() || n.HardLineBreak() {
			w.text.WriteByte('\n')
		}
	case *ast.String:
		w.text.Write(n.Value)
	case *ast.CodeSpan:
		w.children(n)
		w.unit.Code = append(w.unit.Code, Span{from, w.text.Len()})
	case *ast.Emphasis:
		w.children(n)
		if n.Level >= 2 {
			w.unit.Bold = append(w.unit.Bold, Span{from, w.text.Len()})
		}
	case *xast.Strikethrough:
		w.children(n)
		w.unit.Struck = append(w.unit.Struck, Span{from, w.text.Len()})
	case *ast.Link:
		w.link(n)
	case *ast.AutoLink, *ast.Image:
	case *ast.RawHTML:
		if strings.HasPrefix(string(n.Segments.Value(w.src)), "<br") {
			w.text.WriteByte('\n')
		}
	default:
		w.children(n)
	}
}

// link adds the text of a link. A number is a reference to a source and is left out.
func (w *inliner) link(n *ast.Link) {
	inner := &inliner{src: w.src}
	inner.children(n)
	if s := inner.text.String(); strings.Trim(s, "[]0123456789 ") == "" {
		return
	}
	from := w.text.Len()
	w.children(n)
	w.unit.Links = append(w.unit.Links, Span{from, w.text.Len()})
}
