// Package render renders pages in the layout that all pages share: its templates, style
// sheets, scripts and font, and the parts that pages of boards have in common (Forest,
// Matrix). Pages work without a script. A page that belongs to a person (Forms) is rendered
// at every request.
package render

import (
	"bytes"
	"cmp"
	"embed"
	"html/template"
	"io/fs"
	"strings"
)

//go:embed templates/*.html
var templates embed.FS

// A Head is what the layout shows around a page.
type Head struct {
	Title, Description string
	Path               string // of the page; empty for a page without an address of its own
	Own                string // path and query, of a page that shows a part of the one at Path
	Markdown           bool   // the page is also there as markdown
	Claim              string // title of links to the page; empty: Title
	Image              string // path of the picture for a link to the page; optional
	Section            string // of the navigation that the page belongs to
	Query              string // of the search
	NoIndex            bool   // for search engines
	Site
}

// A Site is what all public pages show of the snapshot that is served.
type Site struct {
	BaseURL    string
	Contact    string   // of the operator, mailto: or https:; empty without one
	Notes      []string // citations
	Synthetic  bool
	SnapshotID string
	Retracted  string // the reason for which the log retracts the snapshot; empty without one
}

// frame is the data of the layout.
type frame struct {
	Head
	Assets   assets
	More     []string // other style sheets
	Script   string   // runs at once
	Late     []string // scripts that run after loading
	Personal bool     // for a signed-in person
	Operator bool     // who is an operator
	Data     any
}

// ContactText is the contact without its scheme.
func (f frame) ContactText() string {
	return strings.TrimPrefix(strings.TrimPrefix(f.Contact, "mailto:"), "https://")
}

// Canonical is the address of the page, or of the whole one.
func (f frame) Canonical() string {
	if f.Path == "" {
		return ""
	}
	return f.BaseURL + f.Path
}

// MarkdownLink is the path of the page as markdown; empty without one.
func (f frame) MarkdownLink() string {
	if !f.Markdown {
		return ""
	}
	return MarkdownPath(cmp.Or(f.Own, f.Path))
}

// A Layout renders pages. Its methods are safe for concurrent use.
type Layout struct {
	tmpl   *template.Template
	assets assets
}

// NewLayout returns the layout with the templates of a folder, which may use those of this
// package and the functions.
func NewLayout(folder fs.FS, functions template.FuncMap) *Layout {
	l := newLayout()
	l.tmpl = template.Must(l.tmpl.Funcs(functions).ParseFS(folder, "*.html"))
	return l
}

func newLayout() *Layout {
	return &Layout{template.Must(template.New("").Funcs(Functions()).ParseFS(templates, "templates/*.html")), newAssets()}
}

// Page renders a public page by the name of its template.
func (l *Layout) Page(name string, h Head, data any) ([]byte, error) {
	f := frame{Head: h, Late: []string{l.assets.Offer, l.assets.Page}, Data: data}
	switch name {
	case "home", "boards", "agents", "agent", "search":
		f.More = []string{l.assets.Home}
	case "trial", "prompt":
		f.More = []string{l.assets.Trace}
	}
	return l.render(name, f)
}

func (l *Layout) render(name string, f frame) ([]byte, error) {
	f.Assets = l.assets
	var buf bytes.Buffer
	err := l.tmpl.ExecuteTemplate(&buf, name, f)
	return buf.Bytes(), err
}

// ErrorPage renders an error outside a snapshot, with links to what works.
func ErrorPage(title, text string, next ...Link) []byte {
	body, err := newLayout().render("message", frame{Head: Head{Title: title, Description: title}, Data: errorData{text, next}})
	if err != nil {
		panic(err) // the template is embedded, and tests render it
	}
	return body
}

type errorData struct {
	Text string
	Next []Link
}
