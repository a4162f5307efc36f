package views

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/nearest"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// An agent is an agent on every board that asked it. Boards is empty for a coding agent that was only observed.
type agent struct {
	Agent, Name string
	Boards      []*analytics.Board
}

// on returns what the agent picked on one of its boards.
func (a *agent) on(b *analytics.Board) analytics.AgentBoard {
	return b.Agents[slices.IndexFunc(b.Agents, func(x analytics.AgentBoard) bool { return agentSlug(x.Agent) == agentSlug(a.Agent) })]
}

func agentsOf(in Input) map[string]*agent {
	out := map[string]*agent{}
	for i := range in.Boards {
		for _, a := range in.Boards[i].Agents {
			slug := agentSlug(a.Agent)
			if out[slug] == nil {
				out[slug] = &agent{Agent: a.Agent, Name: render.AgentName(a.Agent)}
			}
			out[slug].Boards = append(out[slug].Boards, &in.Boards[i])
		}
	}
	for i := range in.Observed {
		for _, use := range usesOf(&in.Observed[i]) {
			if slug := agentSlug(use.Agent); out[slug] == nil && use.known() && strings.Trim(slug, ".") != "" {
				out[slug] = &agent{Agent: use.Agent, Name: use.Agent}
			}
		}
	}
	return out
}

// agentSlug is the name of an agent in the path of its page.
func agentSlug(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '/' || c == ' ' || c == ':':
			return '-'
		case c == '.' || c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z':
			return c
		case 'A' <= c && c <= 'Z':
			return c + 'a' - 'A'
		}
		return '_'
	}, name)
}

// NearAgents leads to the agents whose names are near a name.
func (r *Renderer) NearAgents(name string) (out []render.Link) {
	names := map[string]string{}
	for slug := range r.agents {
		names[slug] = slug
	}
	for _, slug := range nearest.Names(agentSlug(name), names, 5) {
		out = append(out, render.Link{Path: agentPath(slug), Text: r.agents[slug].Name})
	}
	return out
}

type agentPage struct {
	Agent, Name, Sentence string
	Boards                []agentBoard
	Intervals             bool // of a rate of a board
	Differs               []difference
	seenNote
	Used []line // in real work, by units
}

// Cards are the boards as cards.
func (p agentPage) Cards() (out []card) {
	for _, b := range p.Boards {
		out = append(out, b.card)
	}
	return out
}

// An agentBoard is what an agent picks on a board.
type agentBoard struct {
	card
	Trials string
	All    string // what all agents pick first, with its rate
}

// A difference is a tool that an agent picks more or less often than the others.
type difference struct {
	Tool, Link, Board, BoardLink, Own, Others, Diff string
	More                                            bool
	diff                                            float64
}

// maxDifferences is how many differences a page lists.
const maxDifferences = 12

func (r *Renderer) agent(slug string) (Page, error) {
	a := r.agents[slug]
	d := agentPage{Agent: a.Agent, Name: a.Name}
	first, measured := 0, 0
	for _, b := range a.Boards {
		own := a.on(b)
		line := agentBoard{card: card{Name: b.Name, Link: boardPath(b.Category), URL: b.URL, Age: ageOf(b.AsOf, r.in.Now), Synthetic: b.Synthetic, Note: quantity(own.NTrials, "answer") + " to " + quantity(b.NPrompts, "prompt")}}
		tools := slices.Clone(own.Tools)
		sorting.StableFunc(tools, func(x, y analytics.AgentRate) int { return cmp.Compare(y.PickRate, x.PickRate) })
		var parts []chart.Part
		rest := 1.0
		for _, t := range namedFirst(b, tools) {
			if t.Picks > 0 {
				rest -= shownRate(t.PickRate)
				parts = line.add(parts, classOf(b, t.Slug), nameOf(b, t.Slug), t.PickRate)
				own := &line.Top[len(line.Top)-1]
				if t.Interval != nil && ranged(b) {
					own.Interval, d.Intervals = render.Interval(t.CILow, t.CIHigh), true
				}
				if r.in.Trials {
					own.Link = TrialsPath(b.Category, "agent", a.Agent, "tool", t.Slug)
				}
			}
		}
		line.addRest(othersOrNone, rest)
		line.Bar = chart.Split(parts, whole, "Picks of "+a.Name+" in "+b.Name)
		if len(b.Tools) > 0 && b.Tools[0].Picks > 0 {
			if len(b.Agents) > 1 {
				line.All = fmt.Sprintf("All %ss: %s %s", nounOf(b), b.Tools[0].Tool, chart.Fixed(b.Tools[0].PickRate))
			}
			measured++
			if best := rateOf(tools, b.Tools[0].Slug); best > 0 && best == tools[0].PickRate {
				first++
			}
		}
		if r.in.Trials {
			line.Trials = TrialsPath(b.Category, "agent", a.Agent)
		}
		d.Boards = append(d.Boards, line)
		d.Differs = append(d.Differs, differences(b, own)...)
	}
	var cites []string
	d.seenNote, d.Used, cites = r.usedBy(a)
	notes := append(r.sources(len(a.Boards), nil), cites...)
	if len(a.Boards) == 0 {
		d.Sentence = usedSentence(a.Name, d.Used)
		return r.page("agent", render.Head{Path: agentPath(slug), Title: "What " + a.Name + " used", Description: observed.Mark + ": " + d.Sentence, Section: "agents", Site: render.Site{Notes: notes}}, d)
	}
	sorting.StableFunc(d.Differs, func(x, y difference) int { return cmp.Compare(math.Abs(y.diff), math.Abs(x.diff)) })
	d.Differs = d.Differs[:min(maxDifferences, len(d.Differs))]
	if d.Sentence = agentSentence(a.Name, first, measured); len(a.Boards) == 1 && measured == 1 {
		d.Sentence = onlyBoard(a.Boards[0], a)
	}
	if len(d.Differs) > 0 {
		x, more := d.Differs[0], "more"
		if !x.More {
			more = "less"
		}
		d.Sentence += fmt.Sprintf(" It picks %s %s often than the others: in %s of answers, against %s.", x.Tool, more, x.Own, x.Others)
	}
	return r.page("agent", render.Head{Path: agentPath(slug), Title: "What " + a.Name + " picks", Description: d.Sentence, Section: "agents", Site: render.Site{Notes: notes}}, d)
}

// nearThird is how near a fourth tool is to the third where a card of an agent names it, too.
const nearThird = .01

// namedFirst returns the tools that the card of an agent names, of those that it picks, the most picked
// first: three, a fourth close to the third, and always the first tool of the board.
func namedFirst(b *analytics.Board, tools []analytics.AgentRate) []analytics.AgentRate {
	n := min(maxCard, len(tools))
	if n == maxCard && len(tools) > n && tools[n].Picks > 0 && tools[n-1].PickRate-tools[n].PickRate <= nearThird {
		n++
	}
	out := slices.Clone(tools[:n])
	if i := slices.IndexFunc(tools, func(t analytics.AgentRate) bool { return t.Slug == b.Tools[0].Slug }); i >= n {
		out = append(out, tools[i])
	}
	return out
}

// agentSentence says on how many boards an agent picks the leading tool most often. Boards on
// which no agent picked a tool do not count.
func agentSentence(name string, first, boards int) string {
	if boards == 0 {
		return name + " was asked on boards where no agent picked a tool."
	}
	return fmt.Sprintf("%s picks the first tool of the board most often on %d of %s.", name, first, quantity(boards, "board"))
}

// onlyBoard says what an agent picks most on a board, and whether that is clear.
func onlyBoard(b *analytics.Board, a *agent) string {
	own := a.on(b)
	best, second := firstTwo(own)
	if best.Picks == 0 {
		return a.Name + " picked no tool of the list in " + quantity(own.NTrials, "answer") + "."
	}
	next := strongestOf(own.Tools, best.Slug, agentRates)
	then := fmt.Sprintf(" and %s in %s", next.names(b), next.each(chart.Fixed(second.PickRate)))
	text := fmt.Sprintf("%s %s %s in %s", a.Name, tense(b, "picks", "picked"), nameOf(b, best.Slug), ofAnswers(best.PickRate, own.NTrials, "its "))
	switch {
	case second.Picks == 0:
	case ranged(b) && !clearLead(b, best, second, own.NFamilies):
		text = fmt.Sprintf("%s %s no clear favourite: it %s %s in %s%s", a.Name, tense(b, "has", "had"), tense(b, "picks", "picked"), nameOf(b, best.Slug), ofAnswers(best.PickRate, own.NTrials, "its "), then)
	default:
		text += then
	}
	if render.Single(*b) && b.NTrials > 1 {
		text = "On one prompt, " + text
	}
	return text + "."
}

// minAnswers is how many answers an agent must have on a board to be compared there.
const minAnswers = 10

// differences compares an agent with the mean of the others on a board: those of at least 10
// points.
func differences(b *analytics.Board, own analytics.AgentBoard) (out []difference) {
	if len(b.Agents) < 2 || own.NTrials < minAnswers {
		return nil
	}
	for _, s := range b.Tools {
		mine, sum := 0.0, 0.0
		for _, a := range b.Agents {
			i := slices.IndexFunc(a.Tools, func(t analytics.AgentRate) bool { return t.Slug == s.Slug })
			switch {
			case i < 0:
			case a.Agent == own.Agent:
				mine = a.Tools[i].PickRate
			default:
				sum += a.Tools[i].PickRate
			}
		}
		others := sum / float64(len(b.Agents)-1)
		if diff := mine - others; math.Abs(diff) >= .1 {
			out = append(out, difference{s.Tool, toolPath(s.Slug), b.Name, boardPath(b.Category), chart.Fixed(mine), chart.Fixed(others), render.Difference(mine, others), diff > 0, diff})
		}
	}
	return out
}

func (r *Renderer) agentIndex() (Page, error) {
	type agentLine struct {
		Name, Title, Link, Boards string
		Differs                   *difference // the largest; nil without one
	}
	var d struct {
		Asked []agentLine
		Seen  []codingAgent
		Used  *seenFirsts // what each coding agent used most; nil where little is known
		seenNote
	}
	d.Seen, d.Used, d.seenNote = r.codingAgents(), r.seenFirsts(), r.seenNote(inOneList(r.seenLanguages(nil)))
	for _, slug := range slices.Sorted(maps.Keys(r.agents)) {
		a := r.agents[slug]
		if len(a.Boards) == 0 {
			continue
		}
		l := agentLine{Name: a.Name, Title: a.Agent, Link: agentPath(slug), Boards: quantity(len(a.Boards), "board")}
		for _, b := range a.Boards {
			own := a.on(b)
			for _, x := range differences(b, own) {
				if l.Differs == nil || math.Abs(x.diff) > math.Abs(l.Differs.diff) {
					l.Differs = &x
				}
			}
		}
		d.Asked = append(d.Asked, l)
	}
	return r.page("agents", render.Head{Path: "/ai-agents", Title: "AI agents", Description: fmt.Sprintf("What each of %s picks, and where it differs from the others.", quantity(len(d.Asked), "agent")), Section: "agents", Site: r.allSources()}, d)
}
