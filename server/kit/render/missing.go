package render

import (
	"bytes"
	"html/template"
)

// A Missing is what the page of a 404 shows.
type Missing struct {
	Text string // what is not there
	Near []Link // what may be meant
}

// A MissingRenderer renders the page of a 404.
type MissingRenderer struct{ tmpl *template.Template }

// NewMissingRenderer parses the templates.
func NewMissingRenderer() *MissingRenderer { return &MissingRenderer{parse()} }

// Render renders the page.
func (r *MissingRenderer) Render(m Missing) ([]byte, error) {
	var buf bytes.Buffer
	err := r.tmpl.ExecuteTemplate(&buf, "missing", frame{Title: "Not found", Description: "There is no page at this address.", Style: style().Path, Data: m})
	return buf.Bytes(), err
}
