package render

import (
	"bytes"
	"html/template"
	"net/http"
)

// A Doc is a page of the documentation.
type Doc struct {
	Title, Description string
	Path               string // of the page; optional
	BaseURL            string
	Body               template.HTML // begins with the h1
	Sections           []DocSection
	Contents           []DocLink // of this page
	Before, After      DocLink
	Query              string // of the search
}

// A DocSection is a part of the list of all pages.
type DocSection struct {
	Title string
	Links []DocLink
}

// A DocLink links to a page or a heading. Here marks the current page.
type DocLink struct {
	Title, Link string
	Here        bool
}

// A DocRenderer renders pages of the documentation.
type DocRenderer struct{ tmpl *template.Template }

// NewDocRenderer parses the templates.
func NewDocRenderer() *DocRenderer { return &DocRenderer{parse()} }

// Render renders a page.
func (r *DocRenderer) Render(d Doc) ([]byte, error) {
	f := frame{Title: d.Title, Description: d.Description, Style: style().Path, More: []string{docStyle().Path}, Data: d}
	if d.Path != "" {
		f.Canonical, f.Markdown = d.BaseURL+d.Path, MarkdownPath(d.Path)
	}
	var buf bytes.Buffer
	err := r.tmpl.ExecuteTemplate(&buf, "doc", f)
	return buf.Bytes(), err
}

// Guard sets the security headers of a public page: no scripts, own styles only, no
// embedding.
func Guard(h http.Header) {
	h.Set("Content-Security-Policy", policy+"; connect-src 'self'") // agents in the browser fetch llms.txt and the like
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "strict-origin-when-cross-origin")
}

const policy = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// GuardOffer is Guard for a page that offers our tools to an agent in the browser: it
// runs our scripts, which may connect to this service only.
func GuardOffer(h http.Header) {
	Guard(h)
	h.Set("Content-Security-Policy", policy+"; connect-src 'self'; script-src 'self'")
}
