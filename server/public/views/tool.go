package views

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
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
	Move                 *move // since the snapshot before; nil without one
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
	Significant, Ahead                           bool
}

// A quote is a trial to read. Text is empty where the snapshot has no quotes.
type quote struct{ Text, Agent, Prompt, Picked, Link string }

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
	if i := slices.IndexFunc(r.in.Moves, func(m Move) bool { return m.Category == b.Category && m.Slug == s.Slug }); i >= 0 {
		m := moveOf(r.in.Moves[i])
		d.Move = &m
	}
	d.plotAgents()
	d.Wins, d.Losses = r.cellLines(b, s)
	d.lost(b, s, r.in.Trials)
	d.rivals(b, s)
	d.quotes(b, s)
	return d
}

// wideSpread is the least difference between two agents that a sentence tells.
const wideSpread = .15

// spread says how far agents differ about a tool; empty where they do not.
func spread(b *analytics.Board, s analytics.Standing) string {
	if len(b.Agents) < 2 {
		return ""
	}
	order := slices.Clone(b.Agents)
	slices.SortStableFunc(order, descending(func(a analytics.AgentBoard) float64 { return rateOf(a.Tools, s.Slug) }))
	most, least := order[0], order[len(order)-1]
	high, low := rateOf(most.Tools, s.Slug), rateOf(least.Tools, s.Slug)
	if high-low < wideSpread {
		return ""
	}
	return fmt.Sprintf("%s picks it in %s, %s in %s", render.AgentName(most.Agent), chart.Percent(high), render.AgentName(least.Agent), chart.Percent(low))
}

// subject begins a sentence about what agents pick on a board, and is the word before
// "answers" in it.
func subject(b *analytics.Board) (who, whose string) {
	if len(b.Agents) == 1 {
		return render.AgentName(b.Agents[0].Agent) + " picks", "its "
	}
	return "Agents pick", ""
}

// sentence says how often agents pick a tool, who leads where it does not, and which agent
// is the exception.
func sentence(b *analytics.Board, s analytics.Standing) string {
	if s.Picks == 0 {
		text := fmt.Sprintf("No agent picked %s in %s", s.Tool, quantity(s.NTrials, "answer"))
		if s.CIHigh < 1 && s.CIHigh > 0 {
			text += " (at most " + chart.Percent(s.CIHigh) + ")"
		}
		if s.ShortlistRate > 0 {
			return fmt.Sprintf("%s; %s named it as an option.", text, chart.Percent(s.ShortlistRate))
		}
		return text + "."
	}
	who, whose := subject(b)
	text := fmt.Sprintf("%s %s in %s", who, s.Tool, ofAnswers(s.PickRate, b.NTrials, whose))
	leads := s.PickRate == b.Tools[0].PickRate
	if !leads {
		text += fmt.Sprintf("; %s leads with %s", b.Tools[0].Tool, chart.Percent(b.Tools[0].PickRate))
	}
	var even, with, against []string
	for _, o := range b.Tools {
		if leads && o.Slug != s.Slug && o.PickRate == s.PickRate {
			even = append(even, o.Tool)
		}
	}
	if len(even) > 2 {
		even = []string{quantity(len(even), "other tool")}
	}
	if len(even) > 0 {
		text += ", as often as " + and(even)
	}
	for _, f := range favourites(b) {
		if f.slug == s.Slug {
			with = append(with, render.AgentName(f.agent))
		} else {
			against = append(against, render.AgentName(f.agent)+" prefers "+f.tool)
		}
	}
	switch {
	case leads && len(against) > 0 && len(against) <= 2:
		text += "; " + and(against)
	case len(with) == 0 && spread(b, s) != "":
		text += ". " + spread(b, s)
	case !leads && len(with) > 0 && len(with) <= 3:
		text += ". It is first with " + and(with)
	}
	return text + "."
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
		line := agentLine{Name: render.AgentName(a.Agent), Title: a.Agent, Link: agentPath(agentSlug(a.Agent)), Rate: "0%", N: chart.Whole(int64(a.NTrials))}
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

// maxCells is how many lines the lists of wins and losses have.
const maxCells = 8

// cellLines lists prompts by agent: where the tool leads by most, and where a rival does.
func (r *Renderer) cellLines(b *analytics.Board, s analytics.Standing) (wins, losses []cellLine) {
	for _, p := range b.Prompts {
		for _, a := range p.Agents {
			own, best := 0, analytics.AgentPick{}
			for _, t := range a.Tools {
				if t.Slug == s.Slug {
					own = t.Picks
				} else if t.Picks > best.Picks {
					best = t
				}
			}
			if own == best.Picks || a.NTrials == 0 {
				continue
			}
			n := float64(a.NTrials)
			c := cellLine{
				Agent: render.AgentName(a.Agent), Prompt: promptTitle(p), PromptLink: PromptPath(b.Category, p.Name()), N: chart.Whole(int64(a.NTrials)),
				Own: chart.Whole(int64(own)), lead: float64(own-best.Picks) / n, n: a.NTrials,
			}
			if best.Picks > 0 {
				c.Rival, c.RivalPicks = nameOf(b, best.Slug), chart.Whole(int64(best.Picks))
			}
			picked := s.Slug
			if own < best.Picks {
				picked = best.Slug
			}
			if r.in.Trials {
				c.Link = TrialsPath(b.Category, "agent", a.Agent, "prompt", p.Name(), "tool", picked)
			}
			if own > best.Picks {
				wins = append(wins, c)
			} else {
				losses = append(losses, c)
			}
		}
	}
	order := func(a, b cellLine) int { return cmp.Or(cmp.Compare(math.Abs(b.lead), math.Abs(a.lead)), b.n-a.n) }
	slices.SortStableFunc(wins, order)
	slices.SortStableFunc(losses, order)
	return wins[:min(maxCells, len(wins))], losses[:min(maxCells, len(losses))]
}

// maxTitle is how many characters of a prompt stand for it.
const maxTitle = 110

func promptTitle(p analytics.Prompt) string {
	if p.Text == "" {
		return p.Prompt
	}
	return clip(p.Text, maxTitle)
}

// lost lists what trials ended with that did not pick the tool.
func (d *toolPlace) lost(b *analytics.Board, s analytics.Standing, trials bool) {
	total := s.NTrials - s.Picks
	if total <= 0 {
		return
	}
	d.LostTitle = "Who took the "
	if s.Picks > 0 {
		d.LostTitle += "other "
	}
	if total == 1 {
		d.LostTitle += "answer"
	} else {
		d.LostTitle += quantity(total, "answer")
	}
	var parts []chart.Part
	add := func(name, link string, n int) {
		if n == 0 {
			return
		}
		class := []string{"r1", "r2", "r3", "r4", "r5", "r6", "rest"}[min(len(parts), 6)]
		parts = append(parts, chart.Part{Series: chart.Series{Class: class, Name: name}, Value: int64(n)})
		d.Lost = append(d.Lost, lostLine{name, link, class, chart.Whole(int64(n)), chart.Percent(float64(n) / float64(total))})
	}
	others := 0
	for _, o := range b.Tools {
		switch {
		case o.Slug == s.Slug || o.Picks == 0:
		case len(parts) < 4:
			add(o.Tool, toolPath(o.Slug), o.Picks)
		default:
			others += o.Picks
		}
	}
	link := func(outcome string) string {
		if !trials {
			return ""
		}
		return TrialsPath(b.Category, "outcome", outcome)
	}
	add("other tools of the list", "", others)
	add("built their own", link("diy"), b.Outcomes.DIY)
	add("chose another tool", link("other"), b.Outcomes.Other)
	add("chose nothing", link("none"), b.Outcomes.None)
	add("undecided, refused or cut off", "", b.Outcomes.Ambiguous+b.Outcomes.Refused+b.Outcomes.Truncated)
	d.LostBar = chart.Split(parts, int64(total), "What the other answers chose")
}

// maxRivals is how many comparisons a page lists.
const maxRivals = 8

func (d *toolPlace) rivals(b *analytics.Board, s analytics.Standing) {
	var list []analytics.Comparison
	if s.Breakdown != nil {
		list = s.Breakdown.Rivals
	} else {
		for _, v := range s.BeatenBy {
			list = append(list, analytics.Comparison{Tool: v.Tool, Slug: v.Slug, Diff: v.Diff, CILow: v.CILow, CIHigh: v.CIHigh, PAdjusted: v.PAdjusted, Significant: v.Significant, Ahead: true})
		}
	}
	for _, c := range list[:min(maxRivals, len(list))] {
		i := slices.IndexFunc(b.Tools, func(o analytics.Standing) bool { return o.Slug == c.Slug })
		if i < 0 || b.Tools[i].Picks == 0 && s.Picks == 0 {
			continue
		}
		line := rivalLine{Tool: c.Tool, Link: toolPath(c.Slug), Compare: ComparePath(s.Slug, c.Slug), Rate: rateText(b.Tools[i]), Diff: render.Difference(s.PickRate, b.Tools[i].PickRate), P: render.PValue(c.PAdjusted), Significant: c.Significant, Ahead: c.Ahead}
		if !d.Single {
			line.Interval = render.Points(-c.CIHigh) + " to " + render.Points(-c.CILow)
		}
		d.Rivals = append(d.Rivals, line)
	}
}

func (d *toolPlace) quotes(b *analytics.Board, s analytics.Standing) {
	if s.Breakdown == nil {
		return
	}
	for _, e := range s.Breakdown.Examples {
		q := quote{Text: e.Quote, Agent: render.AgentName(e.Agent), Prompt: e.Prompt, Link: TrialPath(e.Trial)}
		if p := findPrompt(b, e.Prompt); p != nil {
			q.Prompt = promptTitle(*p)
		}
		if e.Picked == s.Slug {
			d.For = append(d.For, q)
			continue
		}
		if q.Picked = "no tool"; e.Picked != "" {
			q.Picked = nameOf(b, e.Picked)
		}
		d.Against = append(d.Against, q)
	}
}

// quotesFor are the quotes of trials that picked a tool.
func quotesFor(b *analytics.Board, s analytics.Standing) []quote {
	var d toolPlace
	d.quotes(b, s)
	return d.For
}

// TrialPath is the path of the page of a trial.
func TrialPath(id string) string { return "/trials/" + id }
