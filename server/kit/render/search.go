package render

import (
	"bytes"
	"html/template"
)

// Search is the data of the results of a tool search.
type Search struct {
	Query string
	// Known marks a tool of the catalogue that is not measured yet.
	Known                       bool
	Tools, Categories, Observed []Link
}

// A SearchRenderer renders search results.
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
