// Package render renders the pages of a snapshot, leaderboards and tools, as HTML and as
// markdown, and puts the documents into the same frame. Pages are rendered once, when a
// snapshot is loaded; they need no script, and the interval bars are inline SVG. One
// script offers the service's tools to an agent in the browser, where there is one. The
// pages that belong to a person (Forms) are rendered at every request.
package render

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
)

//go:embed templates/*.html templates/*.md
var templates embed.FS

// An Input is the data of all pages. URLs in boards are absolute.
type Input struct {
	Boards     []analytics.Board
	Observed   []observed.Board
	BaseURL    string
	Notes      []string
	Synthetic  bool
	SnapshotID string
}

// A Page is a rendered page, or the error.
type Page struct {
	Body []byte
	Err  error
}

// frame is the data of the layout of every page.
type frame struct {
	Title, Description, Canonical string
	Markdown                      string // path of the same page as markdown; optional
	Input
	Style, Script string
	More          []string // other style sheets
	Late          string   // a script that runs after loading; optional
	Personal      bool     // for a signed-in person
	Query         string   // of the search
	Data          any
}

// Pages renders every page, by path.
func Pages(in Input) map[string]Page {
	r := renderer{in: in, tmpl: parse()}
	out := map[string]Page{}
	out["/"] = r.page("index", "/", "Which tools AI agents pick", "Leaderboards of the developer tools that AI agents pick.", in.Boards)
	for i := range in.Boards {
		b := &in.Boards[i]
		path := "/leaderboards/" + b.Category
		out[path] = r.page("board", path, b.Name+": which tools AI agents pick",
			fmt.Sprintf("Pick rates of %d tools in %s, from %d trials.", b.Field, b.Name, b.NTrials), b)
	}
	for i := range in.Observed {
		b := &in.Observed[i]
		path := "/observed/" + b.Category
		out[path] = r.page("observed", path, b.Heading(), fmt.Sprintf("%s: what agents used in %d %ss of %d repositories.", observed.Mark, b.NUnits, b.Unit, b.NRepos), b)
	}
	for slug, t := range tools(in.Boards) {
		path := "/tools/" + slug
		out[path] = r.page("tool", path, t.Name+": how often AI agents pick it", "How often AI agents pick "+t.Name+" over its rivals.", t)
	}
	return out
}

// A toolPage is a tool in every category that ranks it.
type toolPage struct {
	Name   string
	Places []place
}

// A place is a tool on one board.
type place struct {
	Board    analytics.Board
	Standing analytics.Standing
	Agents   []agentShare
}

type agentShare struct {
	Agent   string
	NTrials int
	analytics.AgentRate
}

func tools(boards []analytics.Board) map[string]*toolPage {
	out := map[string]*toolPage{}
	for _, b := range boards {
		for _, s := range b.Tools {
			t := out[s.Slug]
			if t == nil {
				t = &toolPage{Name: s.Tool}
				out[s.Slug] = t
			}
			p := place{Board: b, Standing: s}
			for _, a := range b.Agents {
				share := agentShare{Agent: a.Agent, NTrials: a.NTrials}
				if i := slices.IndexFunc(a.Tools, func(r analytics.AgentRate) bool { return r.Slug == s.Slug }); i >= 0 {
					share.AgentRate = a.Tools[i]
				}
				p.Agents = append(p.Agents, share)
			}
			t.Places = append(t.Places, p)
		}
	}
	return out
}

type renderer struct {
	in   Input
	tmpl *template.Template
}

func (r renderer) page(name, path, title, description string, data any) Page {
	var buf bytes.Buffer
	err := r.tmpl.ExecuteTemplate(&buf, name, frame{
		Title: title, Description: description, Canonical: r.in.BaseURL + path, Markdown: MarkdownPath(path), Input: r.in, Style: style().Path, Late: offer().Path, Data: data,
	})
	return Page{buf.Bytes(), err}
}

// ErrorPage renders an error outside a snapshot.
func ErrorPage(title, text string) []byte {
	var buf bytes.Buffer
	if err := parse().ExecuteTemplate(&buf, "message", frame{Title: title, Description: title, Style: style().Path, Data: text}); err != nil {
		panic(err) // the template is embedded, and tests render it
	}
	return buf.Bytes()
}

func parse() *template.Template {
	return template.Must(template.New("").Funcs(functions()).ParseFS(templates, "templates/*.html"))
}
