package views

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A tool is a tool on every board that ranks it, the board with the most trials first.
type tool struct {
	Name   string
	Places []place
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
	for _, t := range out {
		slices.SortStableFunc(t.Places, func(a, b place) int {
			return cmp.Or(b.Standing.Picks-a.Standing.Picks, b.Board.NTrials-a.Board.NTrials)
		})
	}
	return out
}

type toolPage struct {
	Name, Slug, Sentence string
	Places               []toolPlace
	Seen                 []fieldLine // on observed boards
	BaseURL, Badge       string
}

// A toolPlace is what a page shows of a tool on one board.
type toolPlace struct {
	Name, Link, Category string
	Sentence             string
	Age                  age
	Single               bool
	Near                 render.Forest // the tool among its rivals
	Facts                []render.Fact
	Doubts               []string
	Agents               []agentLine
	Wins, Losses         []cellLine
	Lost                 []lostLine
	LostBar              template.HTML
	LostTitle            string
	Rivals               []rivalLine
	Trials               string
	Estimand             string
	Ruler                template.HTML // of the rates by agent
	For, Against         []quote
	Strip                []render.Fact // the figures that matter most
}

// An agentLine is a tool with one agent, and the rival that the agent picks most.
type agentLine struct {
	Name, Title, Link, Rate, Interval, N string
	Rival, RivalRate, Trials             string
	rate, low, high                      float64
	Plot                                 template.HTML
}

// A cellLine is a tool with one agent on one prompt.
type cellLine struct {
	Agent, Prompt, PromptLink, Link string
	Own, N, Rival, RivalPicks       string // trials: that picked the tool, all, that picked the strongest rival
	lead                            float64
	n                               int
}

// A lostLine is an outcome of trials that did not pick the tool.
type lostLine struct{ Name, Link, Class, N, Share string }

// A rivalLine compares a tool with a rival.
type rivalLine struct {
	Tool, Link, Compare, Rate, Diff, Interval, P string
	Significant                                  bool
}

// A fieldLine is a tool on an observed board.
type fieldLine struct{ Board, Link, Rate, Interval, N string }

func (r *Renderer) tool(slug string) (Page, error) {
	t := r.tools[slug]
	d := toolPage{Name: t.Name, Slug: slug, BaseURL: r.in.BaseURL, Badge: "/badge/" + slug + ".svg"}
	for _, p := range t.Places {
		d.Places = append(d.Places, r.toolPlace(p))
	}
	d.Sentence = d.Places[0].Sentence
	for i := range r.in.Observed {
		b := &r.in.Observed[i]
		for _, s := range b.Tools {
			if s.Slug == slug && s.Uses > 0 {
				d.Seen = append(d.Seen, fieldLine{b.Name, observedPath(b.Category) + "#" + slug, chart.Percent(s.UseRate), render.Interval(s.CILow, s.CIHigh),
					fmt.Sprintf("%s of %s in %s", chart.Whole(int64(s.Uses)), quantity(s.NUnits, b.Unit), plural(b.NRepos, "repository", "repositories"))})
			}
		}
	}
	return r.page("tool", render.Head{
		Path: toolPath(slug), Title: t.Name + ": how often AI agents pick it", Description: d.Sentence, Section: "tools", Image: "/og" + toolPath(slug) + ".png",
	}, d)
}

func (r *Renderer) toolPlace(p place) toolPlace {
	b, s := p.Board, p.Standing
	d := toolPlace{
		Name: b.Name, Link: boardPath(b.Category), Category: b.Category, Sentence: sentence(b, s), Age: ageOf(b.AsOf, r.in.Now), Single: render.Single(*b), Near: r.near(b, s),
		Facts: render.Facts(*b, s), Doubts: render.Doubts(*b, s), Agents: r.agentLines(b, s), Estimand: b.Estimand,
	}
	if r.in.Trials {
		d.Trials = TrialsPath(b.Category, "tool", s.Slug)
	}
	var change *move // since the snapshot before
	if i := slices.IndexFunc(r.in.Moves, func(m Move) bool { return m.Category == b.Category && m.Slug == s.Slug }); i >= 0 {
		m := moveOf(r.in.Moves[i])
		change = &m
	}
	d.strip(b, s, change)
	d.plotAgents()
	if !d.Single { // with one prompt the agents say the same
		d.Wins, d.Losses = r.cellLines(b, s)
	}
	d.lost(b, s, r.in.Trials)
	d.rivals(b, s)
	d.For, d.Against = quotesOf(b, s)
	promptOnce(d.For)
	promptOnce(d.Against)
	return d
}

// nearRivals is how many rivals above and below the plot of a tool shows.
const nearRivals = 3

// near draws a tool among its rivals.
func (r *Renderer) near(b *analytics.Board, s analytics.Standing) render.Forest {
	at := slices.IndexFunc(b.Tools, func(o analytics.Standing) bool { return o.Slug == s.Slug })
	part := *b
	from := max(0, at-nearRivals)
	part.Tools = slices.Clone(b.Tools[from:min(len(b.Tools), at+nearRivals+1)])
	if from > 0 {
		part.Tools = append([]analytics.Standing{b.Tools[0]}, part.Tools...)
	}
	part.Tools = slices.DeleteFunc(part.Tools, func(o analytics.Standing) bool { return o.Picks == 0 && o.Slug != s.Slug })
	f := render.NewForest(&part, standingPath, s.Slug)
	f.Rest = nil
	for i := range f.Rows {
		if f.Rows[i].Slug == s.Slug {
			f.Rows[i].Link, f.Rows[i].Lead = "", true
		}
	}
	return f
}

// agentLines lists the agents, those with the lowest rate first.
func (r *Renderer) agentLines(b *analytics.Board, s analytics.Standing) (out []agentLine) {
	for _, a := range b.Agents {
		line := agentLine{Name: render.AgentName(a.Agent), Title: a.Agent, Link: agentPath(agentSlug(a.Agent)), Rate: chart.Fixed(0), N: chart.Whole(int64(a.NTrials))}
		var best analytics.AgentRate
		for _, t := range a.Tools {
			if t.Slug == s.Slug {
				line.rate, line.Rate = t.PickRate, chart.Fixed(t.PickRate)
				if t.Interval != nil {
					line.Interval, line.low, line.high = render.Interval(t.CILow, t.CIHigh), t.CILow, t.CIHigh
				}
			} else if t.PickRate > best.PickRate {
				best = t
			}
		}
		if best.Picks > 0 {
			line.Rival, line.RivalRate = nameOf(b, best.Slug), chart.Percent(best.PickRate)
		}
		if r.in.Trials {
			line.Trials = TrialsPath(b.Category, "agent", a.Agent)
			if line.rate > 0 {
				line.Trials = TrialsPath(b.Category, "agent", a.Agent, "tool", s.Slug)
			}
		}
		out = append(out, line)
	}
	slices.SortStableFunc(out, func(a, b agentLine) int { return cmp.Compare(a.rate, b.rate) })
	return out
}

// plotAgents draws the rates by agent on one axis.
func (d *toolPlace) plotAgents() {
	most := 0.0
	for _, a := range d.Agents {
		most = max(most, a.rate, a.high)
	}
	axis := chart.NewAxis(most)
	d.Ruler = axis.Ruler()
	for i := range d.Agents {
		a := &d.Agents[i]
		m := chart.Mark{Rate: a.rate, Low: a.low, High: a.high, Interval: a.Interval != "" && !d.Single, Text: a.Rate}
		if m.Interval {
			m.Text += ", 95% CI " + a.Interval
		}
		a.Plot = axis.Forest(m)
	}
}
