package propose

import (
	"bytes"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

// A Document is a file or a page that describes a product.
type Document struct {
	// Name is the path in the folder, or the address.
	Name string
	// Web says that Name is an address. ContentType is that of the response.
	Web         bool
	ContentType string
	Text        []byte
}

// A block is a paragraph, heading, item or code of a text.
type block struct {
	kind string // h1 to h6, p, code
	text string
}

// A link is a hyperlink with its text.
type link struct{ text, href string }

// A page is a text with its structure.
type page struct {
	title   string
	meta    map[string]string // description, og:site_name and the like
	names   []string          // of the product, as structured data names it
	blocks  []block
	links   []link
	logoAlt string // text of an image in the first heading
}

// base returns the name of the file.
func (d Document) base() string {
	name, _, _ := strings.Cut(d.Name, "?")
	return path.Base(name)
}

// page returns the text of a document with its structure.
func (d Document) page() page {
	lower := strings.ToLower(d.base())
	text := clean(d.Text)
	isHTML := strings.Contains(d.ContentType, "html") || strings.HasSuffix(lower, ".html") || strings.HasSuffix(lower, ".htm")
	if isHTML && !strings.HasSuffix(lower, ".txt") {
		return readHTML(text)
	}
	text = withoutFrontMatter(text)
	switch path.Ext(lower) {
	case ".adoc", ".asciidoc":
		text = fromAsciiDoc(text)
	case ".rst":
		text = fromRST(text)
	}
	var out bytes.Buffer
	md := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithRendererOptions(html.WithUnsafe()))
	if md.Convert([]byte(text), &out) != nil {
		return page{}
	}
	return readHTML(out.String())
}

// withoutFrontMatter turns the title and description of front matter into text.
func withoutFrontMatter(text string) string {
	rest, ok := strings.CutPrefix(text, "---\n")
	head, body, found := strings.Cut(rest, "\n---")
	if !ok || !found {
		return text
	}
	title, about := "", ""
	for _, l := range strings.Split(head, "\n") {
		k, v, _ := strings.Cut(l, ":")
		v = strings.Trim(strings.TrimSpace(v), `"'`)
		switch strings.TrimSpace(k) {
		case "title":
			title = "# " + v + "\n\n"
		case "description":
			about = v + "\n\n"
		}
	}
	if strings.Contains(body, "\n# ") {
		title = ""
	}
	_, body, _ = strings.Cut(body, "\n")
	return title + about + body
}

// fromAsciiDoc turns headings into those of markdown.
func fromAsciiDoc(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if marks := len(l) - len(strings.TrimLeft(l, "=")); marks > 0 && strings.HasPrefix(l[marks:], " ") {
			lines[i] = strings.Repeat("#", marks) + l[marks:]
		} else if strings.HasPrefix(l, ":") {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}

// fromRST removes directives and lines over headings: the rest reads as markdown.
func fromRST(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		rule := l != "" && strings.Trim(l, "=-~^*#") == "" && len(l) > 2
		switch {
		case rule && (i == 0 || strings.TrimSpace(lines[i-1]) == ""):
			lines[i] = ""
		case rule && i > 0:
			lines[i] = map[bool]string{true: "===", false: "---"}[strings.HasPrefix(l, "=")]
		case strings.HasPrefix(strings.TrimSpace(l), ".. "), strings.HasPrefix(strings.TrimSpace(l), ":"):
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}
