// Package views turns the boards of a snapshot into the public pages, as HTML and as
// markdown, from the same values. Pages of the whole snapshot are rendered once, when it is
// loaded; those that a reader composes (a comparison, a filter, a trial) when they are asked
// for.
package views

import (
	"bytes"
	"embed"
	"io/fs"
	"strings"
	texttemplate "text/template"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/server/kit/render"
)

//go:embed templates
var templates embed.FS

// An Input is the data of all pages. URLs in boards are absolute.
type Input struct {
	render.Site
	Boards   []analytics.Board // by category
	Observed []observed.Board  // by category
	Units    int               // pull requests or commits behind Observed, each once; 0 is unknown
	// UnitsRead is how many the studies read; 0 is unknown. The others had no tool of the catalogue.
	UnitsRead int
	// Moves are the changes since the snapshot before, the largest first; Before is its id,
	// empty without one.
	Moves  []Move
	Before string
	// Trends are the rates of boards over the last snapshots up to this one; of some boards, or of
	// none while they are not known.
	Trends []nights.Series
	AsOf   time.Time // of the last trial; zero without one
	// Now is the time from which the age of data is computed.
	Now time.Time
	// Trials says that trials can be read one by one. Evidence is how much of each is
	// published: full, quotes or none; empty where that is unknown.
	Trials   bool
	Evidence string
}

// A Page is a rendered page in both forms.
type Page struct{ HTML, Markdown []byte }

// A Renderer renders the pages of one snapshot. Its methods are safe for concurrent use.
type Renderer struct {
	in     Input
	layout *render.Layout
	text   *texttemplate.Template
	tools  map[string]*tool // by slug
	agents map[string]*agent
}

// New returns a renderer.
func New(in Input) (*Renderer, error) {
	folder, err := fs.Sub(templates, "templates")
	if err != nil {
		return nil, err
	}
	functions := render.Functions()
	for name, f := range map[string]any{
		"toolName": nameOf, "trials": func(category string) string { return TrialsPath(category) }, "history": HistoryPath,
		"cells": func(name, noun, tool, other string, lines []cellLine) any {
			return struct {
				Name, Noun, Tool, Other string
				Lines                   []cellLine
			}{name, noun, tool, other, lines}
		},
		"menu": func(lists []compareList, first string) any {
			return struct {
				Lists []compareList
				First string
			}{lists, first}
		},
		"pair": func(g compareGroup, a, b string) any {
			return struct {
				compareGroup
				A, B string
			}{g, a, b}
		},
	} {
		functions[name] = f
	}
	r := &Renderer{in: in, layout: render.NewLayout(folder, functions)}
	functions["text"], functions["abs"] = EscapeMarkdown, func(path string) string { return in.BaseURL + path }
	functions["autolink"] = autolink
	functions["twin"], functions["fenced"] = func(path string) string { return in.BaseURL + render.MarkdownPath(path) }, fenced
	if r.text, err = texttemplate.New("").Funcs(functions).ParseFS(folder, "*.md"); err != nil {
		return nil, err
	}
	r.tools, r.agents = toolsOf(in), agentsOf(in)
	return r, nil
}

// Paths returns the paths of the pages that are rendered once.
func (r *Renderer) Paths() []string {
	out := []string{"/", "/leaderboards", "/tools", "/ai-agents", "/changes", "/for-vendors", "/compare"}
	for i := range r.in.Boards {
		out = append(out, boardPath(r.in.Boards[i].Category))
	}
	for i := range r.in.Observed {
		out = append(out, observedPath(r.in.Observed[i].Category))
	}
	for slug := range r.tools {
		out = append(out, toolPath(slug))
	}
	for slug := range r.agents {
		out = append(out, agentPath(slug))
	}
	return out
}

// Page renders the page at one of Paths.
func (r *Renderer) Page(path string) (Page, error) {
	head, slug, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch {
	case head == "":
		return r.home()
	case slug == "":
		return r.list(head)
	}
	switch head {
	case "leaderboards":
		return r.board(slug)
	case "observed":
		return r.observed(slug)
	case "ai-agents":
		return r.agent(slug)
	}
	return r.tool(slug)
}

// page renders both forms of a page with the same data.
func (r *Renderer) page(name string, h render.Head, data any) (p Page, err error) {
	notes := h.Notes // of a page with other sources than the boards of trials
	if h.Site, h.Markdown = r.in.Site, true; notes != nil {
		h.Notes = notes
	}
	if r.in.Synthetic && h.Description != "" { // shared without the notice of the page
		h.Description = "Synthetic: " + h.Description
	}
	if p.HTML, err = r.layout.Page(name, h, data); err != nil {
		return p, err
	}
	var buf bytes.Buffer
	err = r.text.ExecuteTemplate(&buf, name, struct {
		render.Head
		Data any
	}{h, data})
	// Names in older snapshots may have characters that nobody sees.
	return Page{inert.Text(p.HTML), inert.Text(buf.Bytes())}, err
}

// HistoryPath is the path of the history of a board.
func HistoryPath(category string) string { return boardPath(category) + "/history" }

func boardPath(category string) string    { return "/leaderboards/" + category }
func observedPath(category string) string { return "/observed/" + category }
func toolPath(slug string) string         { return "/tools/" + slug }
func agentPath(slug string) string        { return "/ai-agents/" + slug }

// autolink is an address as a link of markdown, without escapes, which readers would keep.
func autolink(url string) string {
	return "<" + strings.NewReplacer("<", "%3C", ">", "%3E", " ", "%20", "\n", "", "\r", "").Replace(url) + ">"
}

// EscapeMarkdown escapes markup and the end of a table cell.
func EscapeMarkdown(s string) string {
	var b strings.Builder
	for _, c := range s {
		switch {
		case c < ' ':
			c = ' '
		case strings.ContainsRune("\\`*_[]<>|#~", c):
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}
