package docs

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
)

// convert makes the HTML of a page, its headings, and the text of the search.
func (s *Set) convert(p *Page, base string) error {
	md := goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Linkify),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(&markup{}, 100))),
	)
	doc := md.Parser().Parse(text.NewReader(p.Markdown))
	moveAnchors(doc, p.Markdown)
	s.shortenLinks(doc, base)
	p.Headings, p.parts = split(doc, p.Markdown)
	p.words = count(p.Title)
	var buf bytes.Buffer
	if err := md.Renderer().Render(&buf, p.Markdown, doc); err != nil {
		return err
	}
	p.HTML = template.HTML(buf.String()) //nolint:gosec // of our own files; other markup in them is escaped
	return nil
}

// anchor finds the only markup that pages may hold: an anchor with nothing in it.
var anchor = lazyregexp.MustCompile(`^<a id="([A-Za-z0-9_.-]+)">$`)

// moveAnchors gives the id of an anchor on a line of its own to the heading below it.
func moveAnchors(doc ast.Node, source []byte) {
	for n := doc.FirstChild(); n != nil; {
		next := n.NextSibling()
		if heading, ok := next.(*ast.Heading); ok && n.Kind() == ast.KindParagraph && n.ChildCount() == 2 {
			if raw, ok := n.FirstChild().(*ast.RawHTML); ok {
				if m := anchor.FindSubmatch(raw.Segments.Value(source)); m != nil {
					heading.SetAttributeString("id", m[1])
					doc.RemoveChild(doc, n)
				}
			}
		}
		n = next
	}
}

// shortenLinks leads people from page to page of the HTML: addresses of our markdown
// become paths of the same pages.
func (s *Set) shortenLinks(doc ast.Node, base string) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function never fails
		if link, ok := n.(*ast.Link); ok && entering {
			link.Destination = []byte(s.shorten(string(link.Destination), base))
		}
		return ast.WalkContinue, nil
	})
}

func (s *Set) shorten(address, base string) string {
	path, ours := strings.CutPrefix(address, base)
	if !ours || !strings.HasPrefix(path, "/") {
		return address
	}
	path, fragment, _ := strings.Cut(path, "#")
	if strings.HasSuffix(path, ".md") && s.Page(path) != nil {
		path = strings.TrimSuffix(path, ".md")
	}
	if fragment != "" {
		path += "#" + fragment
	}
	return path
}

// markup replaces parts of the standard renderer: anchors and no other markup,
// tables and code that scroll by themselves, code with its tokens marked, headings that
// can be linked to.
type markup struct {
	tables int
}

// RegisterFuncs implements renderer.NodeRenderer.
func (m *markup) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, m.raw)
	r.Register(ast.KindHTMLBlock, m.block)
	r.Register(ast.KindHeading, m.heading)
	r.Register(ast.KindFencedCodeBlock, m.code)
	r.Register(ast.KindCodeBlock, m.code)
	r.Register(ast.KindAutoLink, m.address)
	r.Register(east.KindTable, m.table)
}

func (*markup) raw(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkSkipChildren, nil
	}
	tag := n.(*ast.RawHTML).Segments.Value(source)
	switch m := anchor.FindSubmatch(tag); {
	case m != nil:
		_, _ = w.WriteString(`<span id="` + string(m[1]) + `"></span>`) // into memory
	case string(tag) != "</a>":
		_, _ = w.Write(util.EscapeHTML(tag)) // into memory
	}
	return ast.WalkSkipChildren, nil
}

func (*markup) block(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		for i := range n.Lines().Len() {
			line := n.Lines().At(i)
			_, _ = w.Write(util.EscapeHTML(line.Value(source))) // into memory
		}
	}
	return ast.WalkContinue, nil
}

func (*markup) heading(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.Heading)
	level := string(rune('0' + n.Level))
	id := idOf(n)
	switch {
	case entering && n.Level == 1:
		_, _ = w.WriteString("<h1>") // into memory
	case entering:
		_, _ = w.WriteString("<h" + level + ` id="` + id + `">`) // into memory
	case n.Level == 1:
		_, _ = w.WriteString("</h1>\n") // into memory
	default:
		_, _ = w.WriteString(`<a class="anchor" href="#` + id + `" aria-label="Link to this heading">#</a></h` + level + ">\n") // into memory
	}
	return ast.WalkContinue, nil
}

func idOf(n *ast.Heading) string {
	id, _ := n.AttributeString("id")
	b, _ := id.([]byte)
	return string(b)
}

// address renders a bare address as a link, and one of the reader's own machine as it
// stands: it leads nowhere from here.
func (*markup) address(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.AutoLink)
	label := string(util.EscapeHTML(n.Label(source)))
	if local.Match(n.URL(source)) {
		_, _ = w.WriteString(label) // into memory
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString(`<a href="` + string(util.EscapeHTML(util.URLEscape(n.URL(source), false))) + `">` + label + "</a>") // into memory
	return ast.WalkContinue, nil
}

// local matches addresses of the reader's machine.
var local = lazyregexp.MustCompile(`^https?://(127\.0\.0\.1|localhost)([:/]|$)`)

func (m *markup) table(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		m.tables++ // regions want names of their own
		label := fmt.Sprintf("Table %d: %s", m.tables, above(n, source))
		_, _ = w.WriteString(`<div class="scroll" role="region" aria-label="` + string(util.EscapeHTML([]byte(label))) + `" tabindex="0"><table>` + "\n") // into memory
	} else {
		_, _ = w.WriteString("</table></div>\n") // into memory
	}
	return ast.WalkContinue, nil
}

// above returns the heading over a node.
func above(n ast.Node, source []byte) string {
	for p := n.PreviousSibling(); p != nil; p = p.PreviousSibling() {
		if p.Kind() == ast.KindHeading {
			return nodeText(p, source)
		}
	}
	return ""
}

// nodeText returns the text of a node.
func nodeText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function never fails
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				b.Write(n.Value)
			}
		case *ast.AutoLink:
			if entering {
				b.Write(n.Label(source))
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if entering {
				for i := range n.Lines().Len() {
					line := n.Lines().At(i)
					b.Write(line.Value(source))
				}
			}
		default:
			if !entering && n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}
