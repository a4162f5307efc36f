package views

import (
	"cmp"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A tool is a tool on every board that ranks it, the board with the most picks first, and on
// the observed boards that list it. One of both may be empty.
type tool struct {
	Name   string
	Places []place
	Seen   []sighting
}

// A place is a tool on one board.
type place struct {
	Board    *analytics.Board
	Standing analytics.Standing
}

func toolsOf(in Input) map[string]*tool {
	out := map[string]*tool{}
	for i := range in.Boards {
		b := &in.Boards[i]
		for _, s := range b.Tools {
			if out[s.Slug] == nil {
				out[s.Slug] = &tool{Name: s.Tool}
			}
			out[s.Slug].Places = append(out[s.Slug].Places, place{b, s})
		}
	}
	for slug, seen := range sightingsOf(in.Observed) {
		if out[slug] == nil {
			if seen[0].Use.Uses == 0 { // there is nothing to show of it
				continue
			}
			out[slug] = &tool{Name: observedName(seen[0].Board, slug)}
		}
		out[slug].Seen = seen
	}
	for _, t := range out {
		sorting.StableFunc(t.Places, func(a, b place) int {
			return cmp.Or(b.Standing.Picks-a.Standing.Picks, b.Board.NTrials-a.Board.NTrials)
		})
		if len(t.Places) > 0 { // the observed board that answers the same comes first, if it says as much
			home := t.Places[0].Board.Category
			if i := slices.IndexFunc(t.Seen, func(s sighting) bool { return s.Board.Category == home }); i > 0 && (!t.Seen[i].few() || t.Seen[0].few()) {
				same := t.Seen[i]
				t.Seen = slices.Insert(slices.Delete(t.Seen, i, i+1), 0, same)
			}
		}
	}
	return out
}

type toolPage struct {
	Name, Slug, Sentence string
	Title                string
	Observed             string // a sentence
	Measures             []measure
	Places               []toolPlace
	Seen                 []seenPlace   // on observed boards
	Pairs                []render.Link // comparisons, where no board of trials has any
	Badge                string
	Claim                string // where its vendor creates a workspace
	BaseURL              string
}

// A toolPlace is what a page shows of a tool on one board.
type toolPlace struct {
	Name, Link, Category string
	Noun                 string // agent or model
	Sentence             string
	Age                  age
	Single               bool
	Trend                *toolTrend    // nil where the snapshots before are not known
	Near                 render.Forest // the tool among its rivals
	Facts                []render.Fact
	Doubts               []render.Warning
	Agents               []agentLine
	Nobody               string // instead of agents, where none picked it
	Prompt               *promptText
	Unpicked             []render.Link // rivals that no answer picked
	Cite                 string
	Wins, Losses         []cellLine
	Lost                 []lostLine
	LostBar              template.HTML
	LostTitle            string
	Rivals               []rivalLine
	MoreRivals           int // that were picked and are not listed
	Trials               string
	Estimand             string
	Ruler                template.HTML // of the rates by agent
	For, Against         []quote
	Strip                []render.Fact // the figures that matter most
	Summary              []summaryLine
}

// Quoted reports whether the place shows answers.
func (d toolPlace) Quoted() bool { return len(d.For)+len(d.Against) > 0 && (d.Spoken() || !d.Single) }

// A cellLine is a tool with one agent on one prompt.
type cellLine struct {
	Agent, Prompt, PromptLink, Link string
	Own, N, Rival, RivalPicks       string // trials: that picked the tool, all, that picked the strongest rival, or each of several
	rivals                          strongest
	lead                            float64
	n, option                       int // trials, and those on the prompt that name the tool and pick another
}

// A lostLine is an outcome of trials that did not pick the tool.
type lostLine struct{ Name, Link, Class, N, Share string }

// A rivalLine compares a tool with a rival.
type rivalLine struct {
	Tool, Link, Compare, Rate, Diff, Interval, P string
	Significant                                  bool
}

func (r *Renderer) tool(slug string) (Page, error) {
	t := r.tools[slug]
	d := toolPage{
		Name: t.Name, Slug: slug, Measures: r.measuresOf(slug, t), Badge: "/badge/" + slug + ".svg", Claim: "/workspaces?" + url.Values{"name": {t.Name}}.Encode(), BaseURL: r.in.BaseURL,
	}
	noun := "agent"
	if len(t.Places) > 0 {
		noun = nounOf(t.Places[0].Board)
	}
	d.Title = t.Name + ": how often AI " + noun + "s pick it"
	for _, p := range t.Places {
		one := r.toolPlace(p)
		if one.Prompt != nil { // it stands above the figures
			dropPrompts(one.For)
			dropPrompts(one.Against)
		}
		d.Places = append(d.Places, one)
	}
	for _, s := range t.Seen {
		if s.Use.Uses > 0 {
			one := r.seenPlace(s.Board, s.Part, s.Language, slug)
			one.Again = slices.ContainsFunc(d.Seen, func(o seenPlace) bool { return o.Source == one.Source })
			one.OtherLanguage = slices.ContainsFunc(d.Seen, func(o seenPlace) bool { return o.Category == one.Category })
			one.Count = chart.Whole(int64(s.Use.Uses)) + " of " + unitsOf(s.Board, s.Part, s.Language)
			one.Cite = citeObserved(r.in, s.Board, t.Name+" in "+s.Board.Name+", how often agents used it: "+citedUse(t.Name, s.Use, s.Part.NUnits)+" of "+unitsOf(s.Board, s.Part, s.Language)+citedDoubts(s.Board, s.Part, slug), r.in.BaseURL+toolPath(slug))
			d.Seen = append(d.Seen, one)
		}
	}
	if len(t.Seen) > 0 {
		d.Observed = t.Seen[0].sentence(t.Name)
	}
	if len(d.Places) > 0 {
		d.Sentence = d.Places[0].Sentence
		if t.Places[0].Standing.Picks == 0 && len(t.Seen) > 0 && t.Seen[0].Use.Uses > 0 { // what it is used for comes first
			d.Sentence, d.Observed = d.Observed, "When asked, "+inSentence(d.Sentence)
		}
		d.Measures[0].Facts = append(d.Measures[0].Facts, d.Places[0].More()...)
	} else {
		d.Sentence, d.Observed, d.Title = d.Observed+" It was not asked about yet.", "", t.Name+": how often AI agents used it"
		d.Pairs = r.CompareLinks(slug)
	}
	return r.page("tool", render.Head{
		Path: toolPath(slug), Title: d.Title, Description: both(d.Sentence, d.Observed), Section: "tools", Image: "/og" + toolPath(slug) + ".png", Site: render.Site{Notes: r.sources(len(d.Places), d.Seen)},
	}, d)
}

// both joins two sentences, of which the second may be empty.
func both(first, second string) string { return strings.TrimSpace(first + " " + second) }

// sources are the citations of a page with figures of boards of trials and of observed ones.
func (r *Renderer) sources(boards int, seen []seenPlace) []string {
	out := []string{}
	if boards > 0 {
		out = append(out, r.in.Notes...)
	}
	for _, s := range seen {
		if !slices.Contains(out, s.Source) {
			out = append(out, s.Source)
		}
	}
	return out
}

// allSources are those of a page that lists all boards.
func (r *Renderer) allSources() render.Site {
	out := slices.Clone(r.in.Notes)
	for i := range r.in.Observed {
		if c := r.in.Observed[i].Cite(); !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return render.Site{Notes: out}
}

func (r *Renderer) toolPlace(p place) toolPlace {
	b, s := p.Board, p.Standing
	d := toolPlace{
		Name: b.Name, Link: boardPath(b.Category), Category: b.Category, Noun: nounOf(b), Sentence: sentence(b, s), Age: ageOf(b.AsOf, r.in.Now), Single: render.Single(*b), Near: r.near(b, s),
		Doubts: render.Doubts(b, s), Agents: r.agentLines(b, s), Estimand: estimand(b),
		Prompt: onlyPrompt(b), Cite: citeTool(r.in, b, s),
	}
	if r.in.Trials {
		d.Trials = TrialsPath(b.Category, "tool", s.Slug)
	}
	for _, f := range render.Facts(*b, s) {
		d.Facts = append(d.Facts, render.Fact{Name: inTermsOf(b, f.Name), Value: inTermsOf(b, f.Value), Note: inTermsOf(b, f.Note)})
	}
	d.Trend = r.toolTrend(b, s.Slug)
	var change *move // since the snapshot before
	if i := slices.IndexFunc(r.in.Moves, func(m Move) bool { return m.Category == b.Category && m.Slug == s.Slug }); i >= 0 {
		m := moveOf(r.in.Moves[i])
		change = &m
	}
	d.strip(b, s, change)
	if d.Nobody = d.nobody(b, s); d.Nobody == "" {
		d.Agents = joinLines(d.Agents, nounOf(b))
		d.plotAgents()
	}
	if !d.Single { // with one prompt the agents say the same
		d.Wins, d.Losses = r.cellLines(b, s)
	}
	d.lost(b, s, r.in.Trials)
	d.rivals(b, s)
	d.For, d.Against = quotesOf(b, s)
	d.summarize(b, s, r.in.Trials)
	if advice, ok := r.otherLanguage(b, s); ok {
		d.Summary = []summaryLine{advice}
	}
	promptOnce(d.For)
	promptOnce(d.Against)
	return d
}

// NounTitle is the heading of a column of agents.
func (d toolPlace) NounTitle() string { return render.Capital(d.Noun) }

// Spoken reports whether a quote has a text.
func (d toolPlace) Spoken() bool { return spoken(d.For, d.Against) }

// Imported reports whether the quotes are imports, and no words.
func (d toolPlace) Imported() bool { return imported(d.For, d.Against) }

// nearRivals is how many rivals above and below the plot of a tool shows.
const nearRivals = 3

// firstOf is the first row of a plot of a tool at a place, among those above it; a gap of one row
// below the leader is filled.
func firstOf(at int) int {
	from := max(0, at-nearRivals)
	if from == 2 {
		from = 1
	}
	return from
}

// near draws a tool among its rivals.
func (r *Renderer) near(b *analytics.Board, s analytics.Standing) render.Forest {
	at := slices.IndexFunc(b.Tools, func(o analytics.Standing) bool { return o.Slug == s.Slug })
	part := *b
	from := firstOf(at)
	part.Tools = slices.Clone(b.Tools[from:min(len(b.Tools), at+nearRivals+1)])
	if from > 0 {
		part.Tools = append([]analytics.Standing{b.Tools[0]}, part.Tools...)
	}
	part.Tools = slices.DeleteFunc(part.Tools, func(o analytics.Standing) bool { return o.Picks == 0 && o.Slug != s.Slug })
	f := render.NewForest(&part, standingPath, s.Slug)
	if f.Rest, f.RankNote = nil, ""; s.Picks > 0 {
		f.Bound = ""
	}
	f.Rerank(b)
	f.Skip(1, from-1, boardPath(b.Category))
	for i := range f.Rows {
		if f.Rows[i].Slug == s.Slug {
			f.Rows[i].Link, f.Rows[i].Lead = "", true
		}
	}
	return f
}
