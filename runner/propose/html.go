package propose

import (
	"encoding/json"
	"strings"

	"golang.org/x/net/html"
)

// maxBlocks bounds the blocks and links of a page.
const maxBlocks = 4000

// readHTML reads the visible text of a page. Comments, hidden elements, menus and footers
// are no text; links in menus count.
func readHTML(text string) page {
	p := page{meta: map[string]string{}}
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return p
	}
	w := &walker{page: &p}
	w.walk(root, 0)
	w.flush("p")
	return p
}

// A walker collects the text of the elements of a page.
type walker struct {
	page  *page
	text  strings.Builder
	quiet int // inside of so many elements whose text does not count
}

func (w *walker) flush(kind string) {
	if s := line(w.text.String()); s != "" && len(w.page.blocks) < maxBlocks {
		w.page.blocks = append(w.page.blocks, block{kind, s})
	}
	w.text.Reset()
}

// maxDepth bounds the nesting of elements.
const maxDepth = 200

func (w *walker) walk(n *html.Node, depth int) {
	if depth > maxDepth {
		return
	}
	switch n.Type {
	case html.TextNode:
		if w.quiet == 0 {
			w.text.WriteString(n.Data)
		}
		return
	case html.ElementNode:
	case html.DocumentNode:
		w.children(n, depth)
		return
	case html.ErrorNode, html.CommentNode, html.DoctypeNode, html.RawNode:
		return
	}
	switch n.Data {
	case "script":
		if attr(n, "type") == "application/ld+json" && n.FirstChild != nil {
			w.page.names = append(w.page.names, structuredNames(n.FirstChild.Data)...)
		}
		return
	case "style", "noscript", "template", "svg", "iframe", "object":
		return
	case "title":
		if n.FirstChild != nil && w.page.title == "" {
			w.page.title = line(n.FirstChild.Data)
		}
		return
	case "meta":
		w.meta(n)
		return
	case "img":
		w.image(n)
		return
	case "br":
		w.text.WriteByte(' ')
		return
	}
	w.element(n, depth)
}

func (w *walker) element(n *html.Node, depth int) {
	menu := n.Data == "nav" || n.Data == "footer" || n.Data == "aside" || hidden(n)
	if menu {
		w.flush("p")
		w.quiet++
		defer func() { w.quiet-- }()
	}
	if n.Data == "a" {
		if href := attr(n, "href"); href != "" && len(w.page.links) < maxBlocks {
			w.page.links = append(w.page.links, link{line(textOf(n, 0)), line(href)})
		}
	}
	kind, isBlock := blockKind(n.Data)
	if isBlock {
		w.flush("p")
	}
	w.children(n, depth)
	if isBlock {
		w.flush(kind)
	}
}

func (w *walker) children(n *html.Node, depth int) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.walk(c, depth+1)
	}
}

func blockKind(tag string) (string, bool) {
	switch tag {
	case "h1", "h2", "h3", "h4", "h5", "h6":
		return tag, true
	case "pre", "textarea":
		return "code", true
	case "p", "div", "li", "ul", "ol", "td", "th", "tr", "table", "section", "article", "main", "header", "blockquote", "dt", "dd", "body", "form", "button", "summary", "details", "figure", "figcaption", "option", "label":
		return "p", true
	}
	return "", false
}

func hidden(n *html.Node) bool {
	style := strings.ReplaceAll(strings.ToLower(attr(n, "style")), " ", "")
	for _, a := range n.Attr {
		if a.Key == "hidden" {
			return true
		}
	}
	return attr(n, "aria-hidden") == "true" || strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") ||
		strings.Contains(style, "font-size:0") || strings.Contains(style, "opacity:0;") || strings.HasSuffix(style, "opacity:0")
}

func (w *walker) meta(n *html.Node) {
	name := strings.ToLower(attr(n, "name"))
	if name == "" {
		name = strings.ToLower(attr(n, "property"))
	}
	switch name {
	case "description", "og:description", "twitter:description", "keywords", "og:site_name", "application-name", "og:title":
		if w.page.meta[name] == "" {
			w.page.meta[name] = line(attr(n, "content"))
		}
	}
}

// image keeps the text of a logo above the first heading.
func (w *walker) image(n *html.Node) {
	alt := line(attr(n, "alt"))
	if rest, ok := strings.CutSuffix(strings.ToLower(alt), " logo"); ok {
		alt = alt[:len(rest)]
	} else if !within(n, "h1") {
		return
	}
	if w.page.logoAlt == "" {
		w.page.logoAlt = alt
	}
}

func within(n *html.Node, tag string) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.Type == html.ElementNode && p.Data == tag {
			return true
		}
	}
	return false
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node, depth int) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil && depth < maxDepth; c = c.NextSibling {
		b.WriteString(textOf(c, depth+1))
	}
	return b.String()
}

// structuredNames returns the names of products and organisations in JSON-LD.
func structuredNames(text string) []string {
	var root any
	if json.Unmarshal([]byte(text), &root) != nil {
		return nil
	}
	var out []string
	var visit func(v any, depth int)
	visit = func(v any, depth int) {
		if depth > 4 {
			return
		}
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				visit(x, depth+1)
			}
		case map[string]any:
			kind, _ := v["@type"].(string)
			name, _ := v["name"].(string)
			switch kind {
			case "Organization", "SoftwareApplication", "WebApplication", "Product", "WebSite", "Corporation":
				out = append(out, name)
			}
			visit(v["@graph"], depth+1)
		}
	}
	visit(root, 0)
	return out
}
