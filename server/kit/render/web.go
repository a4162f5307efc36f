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
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/kit/chart"
)

//go:embed templates/*.html templates/*.md
var templates embed.FS

// An Input is the data of all pages. URLs in boards are absolute.
type Input struct {
	Boards     []analytics.Board
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
	Agent    string
	NTrials  int
	Picks    int
	PickRate float64
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
					share.Picks, share.PickRate = a.Tools[i].Picks, a.Tools[i].PickRate
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

func functions() map[string]any {
	return map[string]any{
		"percent": chart.Percent, "coverage": coverage, "bar": bar, "explain": analytics.Explain, "day": day, "set": rankSet, "outcomes": outcomes, "layers": layers,
		"domain": domainName, "ofDomain": ofDomain, "leader": leader, "shown": shown, "rest": rest, "points": points,
		"metrics": metrics, "metric": metric, "columns": columns,
		"path": func(url string) string { // of an absolute URL of ours
			if _, after, ok := strings.Cut(url, "://"); ok {
				if i := strings.Index(after, "/"); i >= 0 {
					return after[i:]
				}
			}
			return url
		},
	}
}

// coverage is the share of planned trials that a board has, as far as it is known.
func coverage(b analytics.Board) string {
	if b.Coverage == nil {
		return "unknown"
	}
	return chart.Percent(*b.Coverage)
}

// metric formats a metric that a standing has.
func metric(m analytics.Metric, s analytics.Standing) string {
	v := m.Value(s)
	if m.Rate {
		return chart.Percent(*v)
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

// metrics returns the metrics that a standing has: all of a board have the same.
func metrics(s analytics.Standing) []analytics.Metric {
	return slices.DeleteFunc(analytics.Metrics(), func(m analytics.Metric) bool { return m.Value(s) == nil })
}

// columns is the number of columns of the table of standings: rank, tool, pick rate, its
// interval, and the metrics.
func columns(b analytics.Board) int { return 4 + len(metrics(leader(b))) }

func points(v float64) string { return fmt.Sprintf("%+.1f", 100*v) }

func day(t *time.Time) string {
	if t == nil {
		return "not measured"
	}
	return t.UTC().Format("2 January 2006")
}

func rankSet(s analytics.Standing) string {
	if s.RankLow == s.RankHigh {
		return fmt.Sprint(s.RankLow)
	}
	return fmt.Sprintf("%d–%d", s.RankLow, s.RankHigh)
}

func domainName(d string) string {
	if d == "saas" {
		return "Services"
	}
	return "Developer tools"
}

func ofDomain(boards []analytics.Board, domain string) []analytics.Board {
	return slices.DeleteFunc(slices.Clone(boards), func(b analytics.Board) bool { return b.Domain != domain })
}

func leader(b analytics.Board) analytics.Standing {
	if len(b.Tools) == 0 {
		return analytics.Standing{}
	}
	return b.Tools[0]
}

// shown are the tools that some answer picked or named; rest are the others.
func shown(b *analytics.Board) []analytics.Standing {
	return slices.DeleteFunc(slices.Clone(b.Tools), func(s analytics.Standing) bool { return s.ShortlistRate == 0 })
}

func rest(b *analytics.Board) []analytics.Standing {
	return slices.DeleteFunc(slices.Clone(b.Tools), func(s analytics.Standing) bool { return s.ShortlistRate > 0 })
}

// An outcome is a line of the breakdown of trials.
type outcome struct {
	Name  string
	N     int
	Share float64
}

func outcomes(b analytics.Board) []outcome {
	o, open := b.Outcomes, 0
	if b.Unresolved != nil {
		open = *b.Unresolved
	}
	lines := []outcome{
		{Name: "picked a tool of this list", N: o.Tool}, {Name: "built its own", N: o.DIY}, {Name: "chose something else", N: o.Other},
		{Name: "chose nothing", N: o.None}, {Name: "chose two or more", N: o.Ambiguous - open}, {Name: "unresolved: no rule applies, counted as ambiguous", N: open},
		{Name: "refused", N: o.Refused}, {Name: "was cut off", N: o.Truncated},
	}
	return nonzero(lines, b.NTrials)
}

// layers lists how the outcomes of a board were read, without empty layers.
func layers(b analytics.Board) []outcome {
	if b.DecidedBy == nil {
		return nil
	}
	d := b.DecidedBy
	lines := []outcome{
		{Name: "by the structured answer", N: d.Structured}, {Name: "by actions", N: d.Actions}, {Name: "by the answer text", N: d.Statement},
		{Name: "by two judge models", N: d.Judge}, {Name: "by the imported record", N: d.Given}, {Name: "undecided", N: d.Undecided},
	}
	return nonzero(lines, b.NTrials)
}

// nonzero sets the shares of lines in n trials, and drops empty lines.
func nonzero(lines []outcome, n int) []outcome {
	for i := range lines {
		if n > 0 {
			lines[i].Share = float64(lines[i].N) / float64(n)
		}
	}
	return slices.DeleteFunc(lines, func(o outcome) bool { return o.N == 0 })
}

// bar draws a rate with its intervals: a faint band for the 95 % CI, a solid one for the
// naive interval, and a mark at the rate. It holds numbers only, so nothing needs
// escaping.
func bar(s analytics.Standing) template.HTML {
	x := func(v float64) string { return fmt.Sprintf("%.2f", 100*v) }
	label := fmt.Sprintf("%s, 95%% CI %s to %s, naive interval %s to %s", chart.Percent(s.PickRate), chart.Percent(s.CILow), chart.Percent(s.CIHigh), chart.Percent(s.FlatLow), chart.Percent(s.FlatHigh))
	return template.HTML(fmt.Sprintf( //nolint:gosec // numbers only
		`<svg class="bar" viewBox="0 0 100 12" preserveAspectRatio="none" role="img" aria-label="%s">`+
			`<rect class="track" x="0" y="5" width="100" height="2"/><rect class="band" x="%s" y="2" width="%s" height="8"/>`+
			`<rect class="flat" x="%s" y="4" width="%s" height="4"/><rect class="mark" x="%s" y="1" width="0.8" height="10"/></svg>`,
		label, x(s.CILow), x(s.CIHigh-s.CILow), x(s.FlatLow), x(max(0.004, s.FlatHigh-s.FlatLow)), x(min(s.PickRate, 0.992))))
}
