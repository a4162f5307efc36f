package render

import (
	"bytes"
	"html/template"
)

// Missing is the data of a 404 page.
type Missing struct {
	Text string // the missing page
	Near []Link // pages with similar names
}

// A MissingRenderer renders 404 pages.
type MissingRenderer struct{ tmpl *template.Template }

// NewMissingRenderer parses the templates.
func NewMissingRenderer() *MissingRenderer { return &MissingRenderer{parse()} }

// Render renders the page.
func (r *MissingRenderer) Render(m Missing) ([]byte, error) {
	var buf bytes.Buffer
	err := r.tmpl.ExecuteTemplate(&buf, "missing", frame{Title: "Not found", Description: "There is no page at this address.", Style: style().Path, Data: m})
	return buf.Bytes(), err
}
