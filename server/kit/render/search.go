package render

import (
	"bytes"
	"html/template"
)

// A Search is what a search for a tool shows.
type Search struct {
	Query string
	// Known says that the tool is in the catalogue and not measured yet.
	Known             bool
	Tools, Categories []Link
}

// A SearchRenderer renders the page of a search.
type SearchRenderer struct{ tmpl *template.Template }

// NewSearchRenderer parses the templates.
func NewSearchRenderer() *SearchRenderer { return &SearchRenderer{parse()} }

// Render renders the page.
func (r *SearchRenderer) Render(s Search) ([]byte, error) {
	var buf bytes.Buffer
	err := r.tmpl.ExecuteTemplate(&buf, "search", frame{
		Title: "Find a tool", Description: "Find a developer tool by its name, domain or package.", Style: style().Path, Late: offer().Path, Query: s.Query, Data: s,
	})
	return buf.Bytes(), err
}
