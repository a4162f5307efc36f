package render

import "strings"

// Forms renders the personal pages at every request: sign in, the claim ceremony, linked
// agents, workspaces.
type Forms struct{ layout *Layout }

// A Message is the data of the page "ended".
type Message struct {
	Text    string
	Next    Link
	SignOut string // the form token of the button that signs out; optional
}

// A Link is a link to another page.
type Link struct{ Path, Text string }

// NewForms parses the templates.
func NewForms() *Forms { return &Forms{newLayout()} }

// Render renders a page by the name of its template: "signin", "claim", "ended",
// "workspace" ... For an operator its header links to the operator's pages.
func (f *Forms) Render(name, title string, operator bool, data any) ([]byte, error) {
	a := f.layout.assets
	page := frame{Head: Head{Title: title, Description: title}, Script: a.Private, Late: []string{a.Page}, Data: data}
	page.Personal, page.Operator = name != "signin" && name != "sent", operator
	if strings.HasPrefix(name, "workspace") || strings.HasPrefix(name, "operator") {
		page.More = append(page.More, a.Trace, a.Dashboard)
	}
	if strings.HasPrefix(name, "workspace-ev-") {
		page.More, page.Late = append(page.More, a.Evals), append(page.Late, a.EvalScript)
	}
	return f.layout.render(name, page)
}
