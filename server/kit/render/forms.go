package render

import (
	"bytes"
	"html/template"
	"strings"
)

// Forms renders the personal pages at every request: sign in, the claim ceremony, linked
// agents, workspaces.
type Forms struct{ tmpl *template.Template }

// A Message is the data of the page "ended".
type Message struct {
	Text    string
	Next    Link
	SignOut string // the form token of the button that signs out; optional
}

// A Link is a link to another page.
type Link struct{ Path, Text string }

// NewForms parses the templates.
func NewForms() *Forms { return &Forms{tmpl: parse()} }

// Render renders a page by the name of its template: "signin", "claim", "ended",
// "workspace" ...
func (f *Forms) Render(name, title string, data any) ([]byte, error) {
	page := frame{Title: title, Description: title, Style: style().Path, Script: script().Path, Data: data}
	page.Personal = name != "signin" && name != "sent"
	if strings.HasPrefix(name, "workspace") {
		page.More = append(page.More, dashboard().Path)
	}
	if strings.HasPrefix(name, "workspace-ev-") {
		page.More, page.Late = append(page.More, evalStyle().Path), evalScript().Path
	}
	var buf bytes.Buffer
	err := f.tmpl.ExecuteTemplate(&buf, name, page)
	return buf.Bytes(), err
}
