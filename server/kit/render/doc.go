package render

import (
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
	Group              string // of the page, such as How to; optional
	Wide               bool   // no column for the contents: the page needs the space
}

// A DocSection is a part of the list of all pages.
type DocSection struct {
	Title string
	Links []DocLink
	Open  bool // the current page is in it
}

// A DocLink links to a page or a heading. Here marks the current page, Under one that
// belongs to the page above it.
type DocLink struct {
	Title, Link string
	Here, Under bool
}

// A DocRenderer renders pages of the documentation.
type DocRenderer struct{ layout *Layout }

// NewDocRenderer parses the templates.
func NewDocRenderer() *DocRenderer { return &DocRenderer{newLayout()} }

// Render renders a page.
func (r *DocRenderer) Render(d Doc) ([]byte, error) {
	a := r.layout.assets
	head := Head{Title: d.Title, Description: d.Description, Path: d.Path, Markdown: d.Path != "", Section: "docs", Site: Site{BaseURL: d.BaseURL}}
	if d.Path == "/docs/methodology" {
		head.Section = "methodology"
	}
	return r.layout.render("doc", frame{Head: head, More: []string{a.Docs}, Late: []string{a.Page}, Data: d})
}

// Guard sets the security headers of a public page: own scripts, styles and fonts only, no
// embedding. Agents in the browser fetch llms.txt and the like.
func Guard(h http.Header) {
	h.Set("Content-Security-Policy", policy+"; connect-src 'self'; script-src 'self'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "strict-origin-when-cross-origin")
}

// GuardEmbed sets the security headers of a page that others may embed: own styles and fonts
// only.
func GuardEmbed(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "strict-origin-when-cross-origin")
}

const policy = "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
