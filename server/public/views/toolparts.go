package views

import (
	"cmp"
	"math"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// maxCells is how many lines the lists of wins and losses have.
const maxCells = 5

// cellLines lists prompts by agent: where the tool leads by most, and where a rival does.
func (r *Renderer) cellLines(b *analytics.Board, s analytics.Standing) (wins, losses []cellLine) {
	for _, p := range b.Prompts {
		option := promptTool(p, s.Slug)
		for _, a := range p.Agents {
			own := 0
			if i := slices.IndexFunc(a.Tools, func(t analytics.AgentPick) bool { return t.Slug == s.Slug }); i >= 0 {
				own = a.Tools[i].Picks
			}
			rivals := strongestOf(a.Tools, s.Slug, agentPicks)
			best := int(rivals.most)
			if own == best || a.NTrials == 0 {
				continue
			}
			n := float64(a.NTrials)
			c := cellLine{
				Agent: render.AgentName(a.Agent), Prompt: promptTitle(p), PromptLink: PromptPath(b.Category, p.Name()), N: chart.Whole(int64(a.NTrials)),
				Own: chart.Whole(int64(own)), rivals: rivals, lead: float64(own-best) / n, n: a.NTrials, option: option.Shortlists - option.Picks,
			}
			if best > 0 {
				c.Rival, c.RivalPicks = rivals.names(b), rivals.each(chart.Whole(int64(best)))
			}
			of := []string{"agent", a.Agent, "prompt", p.Name()}
			switch {
			case own > best:
				of = append(of, "tool", s.Slug)
			case len(rivals.slugs) == 1:
				of = append(of, "tool", rivals.slugs[0])
			}
			if r.in.Trials {
				c.Link = TrialsPath(b.Category, of...)
			}
			if own > best {
				wins = append(wins, c)
			} else {
				losses = append(losses, c)
			}
		}
	}
	// Of lost cells that are alike, those on prompts whose answers have the tool as an option say most.
	order := func(a, b cellLine) int {
		return cmp.Or(cmp.Compare(math.Abs(b.lead), math.Abs(a.lead)), b.n-a.n, b.option-a.option)
	}
	sorting.StableFunc(wins, order)
	sorting.StableFunc(losses, order)
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
	add := func(class, name, link string, n int) {
		if n == 0 {
			return
		}
		parts = append(parts, chart.Part{Series: chart.Series{Class: class, Name: name}, Value: int64(n)})
		d.Lost = append(d.Lost, lostLine{name, link, class, chart.Whole(int64(n)), shareOfLost(n, total)})
	}
	others := 0
	for _, o := range b.Tools {
		switch {
		case o.Slug == s.Slug || o.Picks == 0:
		case classOf(b, o.Slug) != otherClass:
			add(classOf(b, o.Slug), o.Tool, toolPath(o.Slug), o.Picks)
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
	add(otherClass, "other tools of the list", "", others)
	add("soft", "built their own", link("diy"), b.Outcomes.DIY)
	add("track", "picked another tool", link("other"), b.Outcomes.Other)
	add("track", "picked no tool", link("none"), b.Outcomes.None)
	add("track", "undecided, refused or cut off", "", b.Outcomes.Ambiguous+b.Outcomes.Refused+b.Outcomes.Truncated)
	d.LostBar = chart.Split(parts, int64(total), "What the other answers chose")
}

// shareOfLost is a part of so many answers; empty of one answer, which is all of it.
func shareOfLost(n, total int) string {
	if total == 1 {
		return ""
	}
	return chart.Fixed(float64(n) / float64(total))
}

// maxRivals is how many comparisons a page lists.
const maxRivals = 5

func (d *toolPlace) rivals(b *analytics.Board, s analytics.Standing) {
	var list []analytics.Comparison
	if s.Breakdown != nil {
		list = s.Breakdown.Rivals
	} else {
		for _, v := range s.BeatenBy {
			list = append(list, analytics.Comparison{Tool: v.Tool, Slug: v.Slug, Diff: v.Diff, CILow: v.CILow, CIHigh: v.CIHigh, PAdjusted: v.PAdjusted, Significant: v.Significant})
		}
	}
	for _, c := range list {
		i := slices.IndexFunc(b.Tools, func(o analytics.Standing) bool { return o.Slug == c.Slug })
		switch {
		case i < 0:
			continue
		case b.Tools[i].Picks == 0: // a line for all of them
			d.Unpicked = append(d.Unpicked, render.Link{Path: ComparePath(s.Slug, c.Slug), Text: c.Tool})
			continue
		case len(d.Rivals) == maxRivals:
			d.MoreRivals++
			continue
		}
		line := rivalLine{Tool: c.Tool, Link: toolPath(c.Slug), Compare: ComparePath(s.Slug, c.Slug), Rate: rateText(b.Tools[i]), Diff: render.Difference(s.PickRate, b.Tools[i].PickRate), P: render.PValue(c.PAdjusted), Significant: c.Significant}
		if !d.Single {
			line.Interval = render.PointsRange(-c.CIHigh, -c.CILow)
		}
		d.Rivals = append(d.Rivals, line)
	}
}

// TrialPath is the path of the page of a trial.
func TrialPath(id string) string { return "/trials/" + id }
