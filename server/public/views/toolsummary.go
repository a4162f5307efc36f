package views

import (
	"fmt"
	"math"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A summaryLine is a line at the top of a tool's page: what its vendor asks first, with a link to more.
type summaryLine struct{ Name, Text, Link, More string }

// summarized are the rivals that a summary names.
const summarized = 3

// summarize says who takes the answers that did not pick the tool, where that is worst, and where to
// read why; nothing where every answer picked it.
func (d *toolPlace) summarize(b *analytics.Board, s analytics.Standing, trials bool) {
	rivals := slices.DeleteFunc(slices.Clone(b.Tools), func(o analytics.Standing) bool { return o.Slug == s.Slug || o.Picks == 0 })
	if len(rivals) == 0 || s.NTrials == s.Picks {
		return
	}
	var parts []string
	for _, o := range rivals[:min(summarized, len(rivals))] {
		parts = append(parts, o.Tool+" "+rateText(o))
	}
	first := rivals[0]
	d.Summary = append(d.Summary, summaryLine{"Who is picked instead", and(parts) + " of all answers.", ComparePath(s.Slug, first.Slug), "Compare with " + first.Tool})
	worst := summaryLine{Name: "Largest loss"}
	switch {
	case len(d.Losses) > 0:
		l := d.Losses[0]
		worst.Text, worst.Link, worst.More = fmt.Sprintf("%s: %s in %s of %s answers, %s in %s. The prompt: “%s”", l.Agent, l.Rival, l.RivalPicks, l.N, s.Tool, l.Own, l.Prompt), l.PromptLink, "All answers to it"
	case d.Nobody == "" && len(d.Agents) > 0 && d.Agents[0].Rival != "":
		l := d.Agents[0]
		worst.Text, worst.Link, worst.More = fmt.Sprintf("%s: %s %s, %s %s.", l.Name, l.Rival, l.RivalRate, s.Tool, l.Rate), l.Link, "What it picks"
	}
	if worst.Text != "" {
		d.Summary = append(d.Summary, worst)
	}
	if why := d.why(b, s, first, trials); why.Text != "" {
		d.Summary = append(d.Summary, why)
	}
	d.Summary = append(d.Summary, whatNow(b, s, trials))
}

// whatNow says where its vendor looks first: at the agent with which a rival leads by most, else at the
// prompt on which a rival is closest, else at the next snapshot.
func whatNow(b *analytics.Board, s analytics.Standing, trials bool) summaryLine {
	out := summaryLine{Name: "What now"}
	most := 0.0
	for _, a := range b.Agents {
		best, _ := firstTwo(a)
		own := rateOf(a.Tools, s.Slug)
		if best.Picks == 0 || best.PickRate-own <= most {
			continue
		}
		most = best.PickRate - own
		agent, rival := render.AgentName(a.Agent), nameOf(b, best.Slug)
		out.Text = fmt.Sprintf("Begin with %s: %s leads there by most, %s to %s.", agent, rival, chart.Fixed(best.PickRate), chart.Fixed(own))
		if out.Link, out.More = agentPath(agentSlug(a.Agent)), "What it picks"; trials {
			out.Link, out.More = TrialsPath(b.Category, "agent", a.Agent, "tool", best.Slug), "Its answers that picked "+rival
		}
	}
	if out.Text != "" {
		return out
	}
	least := math.Inf(1)
	for _, p := range b.Prompts {
		own, best := 0, analytics.PromptTool{}
		for _, t := range p.Tools {
			if t.Slug == s.Slug {
				own = t.Picks
			} else if t.Picks > best.Picks {
				best = t
			}
		}
		if lead := float64(own-best.Picks) / float64(max(1, p.NTrials)); best.Picks > 0 && lead < least && len(b.Prompts) > 1 {
			least = lead
			out.Text = fmt.Sprintf("No rival is ahead with any %s. Begin with the closest prompt: %s %d, %s %d of %s. “%s”", nounOf(b), s.Tool, own, nameOf(b, best.Slug), best.Picks, quantity(p.NTrials, "answer"), promptTitle(p))
			out.Link, out.More = PromptPath(b.Category, p.Name()), "All answers to it"
		}
	}
	if out.Text == "" {
		out.Text, out.Link, out.More = fmt.Sprintf("No rival is ahead with any %s. Watch the next snapshots.", nounOf(b)), HistoryPath(b.Category), "History"
	}
	return out
}

// why says how many answers name a tool and pick another, with the words of one of them; its text
// is empty where no answer of the board names a tool that it does not pick: some studies publish
// the picks alone.
func (d *toolPlace) why(b *analytics.Board, s, first analytics.Standing, trials bool) summaryLine {
	named, all := 0, 0
	for _, p := range b.Prompts {
		for _, t := range p.Tools {
			all += t.Shortlists - t.Picks
			if t.Slug == s.Slug {
				named += t.Shortlists - t.Picks
			}
		}
	}
	if all == 0 {
		return summaryLine{}
	}
	out := summaryLine{Name: "Why"}
	switch named {
	case 0:
		out.Text = fmt.Sprintf("No answer that picks another tool names %s as an option.", s.Tool)
	case 1:
		out.Text = fmt.Sprintf("1 answer names %s and does not pick it.", s.Tool)
	default:
		out.Text = fmt.Sprintf("%s name %s and do not pick it.", quantity(named, "answer"), s.Tool)
	}
	if !trials {
		return out
	}
	out.Link, out.More = TrialsPath(b.Category, "tool", first.Slug), "Answers that picked "+first.Tool
	if i := slices.IndexFunc(d.Against, func(q quote) bool { return q.Text != "" }); i >= 0 && named > 0 {
		q := d.Against[i]
		out.Text += fmt.Sprintf(" %s, which picked %s: “%s”", q.Agent, q.Picked, q.Text)
		out.Link, out.More = q.Link, "The whole answer"
	}
	return out
}
