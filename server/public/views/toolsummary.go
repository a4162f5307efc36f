package views

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A summaryLine is a line at the top of a tool's page: what its vendor asks first, with a link to more. Steps
// are lines below it.
type summaryLine struct {
	Name, Text, Link, More string
	Steps                  []summaryLine
}

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
	d.Summary = append(d.Summary, summaryLine{Name: "Who is picked instead", Text: and(parts) + " of all answers.", Link: ComparePath(s.Slug, first.Slug), More: "Compare with " + first.Tool})
	for _, line := range []summaryLine{d.largestLoss(b, s, trials), d.largestWin(b, s, trials)} {
		if line.Text != "" {
			d.Summary = append(d.Summary, line)
		}
	}
	if why := d.why(b, s, first, trials); why.Text != "" {
		d.Summary = append(d.Summary, why)
	}
	d.Summary = append(d.Summary, whatNow(b, s, trials))
}

// otherLanguage is all the advice for a tool that no answer picked, where coding agents use it and the first
// tool of the board in different languages: the prompts may not ask for it.
func (r *Renderer) otherLanguage(b *analytics.Board, s analytics.Standing) (summaryLine, bool) {
	first := b.Tools[0]
	if s.Picks > 0 || first.Picks == 0 {
		return summaryLine{}, false
	}
	seen := r.seenWith(r.tools[s.Slug], r.tools[first.Slug], s.Slug, first.Slug, b.Category)
	if len(seen) == 0 || seen[0].Apart == nil || seen[0].Apart[0].Language == "" || seen[0].Apart[1].Language == "" {
		return summaryLine{}, false
	}
	text := fmt.Sprintf("In real work, agents use %s with %s and %s, the first here, with %s: what was asked may be no task for %s. Ask what your customers ask.",
		s.Tool, seen[0].Apart[0].Language, first.Tool, seen[0].Apart[1].Language, s.Tool)
	return summaryLine{Name: whatNext, Text: text, Link: "/for-vendors", More: "Measure your own prompts"}, true
}

// largestLoss says where a rival is ahead by most: with an agent, or where one alone was asked on a prompt.
func (d *toolPlace) largestLoss(b *analytics.Board, s analytics.Standing, trials bool) summaryLine {
	out := summaryLine{Name: "Largest loss"}
	switch {
	case len(b.Agents) > 1 && !d.Single:
		out, _ = out.withAgent(b, s, -1, trials)
	case len(d.Losses) > 0:
		l := d.Losses[0]
		out.Text, out.Link, out.More = fmt.Sprintf("%s: %s of %s answers, %s in %s. The prompt: “%s”", l.Agent, l.rivals.in(b, chart.Whole(int64(l.rivals.most))), l.N, s.Tool, l.Own, l.Prompt), cmp.Or(l.Link, l.PromptLink), l.linkText()
	case d.Nobody == "" && len(d.Agents) > 0 && d.Agents[0].Rival != "":
		l := d.Agents[0]
		rates := fmt.Sprintf("%s, %s %s.", strings.TrimSpace(l.Rival+" "+l.RivalRate), s.Tool, l.Rate)
		if next := whatNow(b, s, trials); !strings.Contains(next.Text, rates) { // else the same agents
			out.Text, out.Link, out.More = l.Name+": "+rates, l.Link, "What it picks"
		}
	}
	return out
}

// largestWin says where the tool is ahead by most. A tool that all agents pick first on one prompt has no such
// place.
func (d *toolPlace) largestWin(b *analytics.Board, s analytics.Standing, trials bool) summaryLine {
	out := summaryLine{Name: "Largest win"}
	switch {
	case len(b.Agents) > 1 && (!d.Single || s.Slug != b.Tools[0].Slug):
		out, _ = out.withAgent(b, s, 1, trials)
	case len(d.Wins) > 0 && d.Wins[0].Rival != "":
		w := d.Wins[0]
		out.Text, out.Link, out.More = fmt.Sprintf("%s: %s in %s of %s answers, %s. The prompt: “%s”", w.Agent, s.Tool, w.Own, w.N, w.rivals.in(b, chart.Whole(int64(w.rivals.most))), w.Prompt), cmp.Or(w.Link, w.PromptLink), w.linkText()
	}
	return out
}

// withAgent adds the agent with which a tool is ahead of its strongest rival by most (sign 1), or behind it by
// most (-1), and whether that lead is clear, and returns its name; nothing where it is so with none.
func (l summaryLine) withAgent(b *analytics.Board, s analytics.Standing, sign float64, trials bool) (line summaryLine, agent string) {
	most := 0.0
	for _, a := range b.Agents {
		own, rivals := agentRate(a.Tools, s.Slug), strongestOf(a.Tools, s.Slug, agentRates)
		lead := sign * (own.PickRate - rivals.most)
		if lead <= most || rivals.most == 0 {
			continue
		}
		most, agent = lead, render.AgentName(a.Agent)
		ahead, behind := own, agentRate(a.Tools, rivals.slugs[0])
		picked := []string{s.Tool + " " + chart.Fixed(own.PickRate), rivals.names(b) + " " + rivals.each(chart.Fixed(rivals.most))}
		if sign < 0 {
			ahead, behind = behind, ahead
			slices.Reverse(picked)
		}
		clear := ""
		if !isAhead(b, a, bounded(ahead, a.NFamilies), bounded(behind, a.NFamilies)) {
			clear = ", not a clear lead"
		}
		l.Text = fmt.Sprintf("%s: %s of %s%s.", agent, strings.Join(picked, ", "), quantity(a.NTrials, "answer"), clear)
		if l.Link, l.More = agentPath(agentSlug(a.Agent)), "What it picks"; trials && ahead.Picks > 0 && (sign > 0 || len(rivals.slugs) == 1) {
			l.Link, l.More = TrialsPath(b.Category, "agent", a.Agent, "tool", ahead.Slug), "Read these answers"
		}
	}
	return l, agent
}

// whatNow says where its vendor looks first: where a rival leads and the tool is nearest to it, so that few
// answers decide; for the leader, the prompt on which a rival is closest.
func whatNow(b *analytics.Board, s analytics.Standing, trials bool) summaryLine {
	for _, next := range []func() (summaryLine, bool){
		func() (summaryLine, bool) { return nearestPrompt(b, s) },
		func() (summaryLine, bool) { return behindWith(b, s, trials) },
		func() (summaryLine, bool) { return farBehind(b, s, trials) },
	} {
		if out, ok := next(); ok {
			return out
		}
	}
	out := summaryLine{Name: whatNext}
	if loss, agent := out.withAgent(b, s, -1, trials); agent != "" { // the leader's place is won or lost there
		loss.Text = "Begin with the largest loss: read what " + agent + " picks."
		return loss
	}
	least := math.Inf(1)
	for _, p := range b.Prompts {
		own, rivals := picksOf(p, s.Slug), strongestOf(p.Tools, s.Slug, promptPicks)
		if lead := (float64(own) - rivals.most) / float64(max(1, p.NTrials)); rivals.most > 0 && lead < least && len(b.Prompts) > 1 {
			least = lead
			out.Text = fmt.Sprintf("No rival is ahead with any %s. Begin with the closest prompt: %s %d, %s of %s. “%s”", nounOf(b), s.Tool, own, rivals.counted(b), quantity(p.NTrials, "answer"), promptTitle(p))
			out.Link, out.More = PromptPath(b.Category, p.Name()), promptResults
		}
	}
	if out.Text == "" {
		out.Text, out.Link, out.More = fmt.Sprintf("No rival is ahead with any %s. Watch the next snapshots.", nounOf(b)), HistoryPath(b.Category), "History"
	}
	return out
}

const whatNext = "What now"

// promptResults is the text of a link to the page of a prompt, which begins with its rates.
const promptResults = "Results of this prompt"

// linkText is the text of the link of a cell: to its answers where the snapshot has them, else to its prompt.
func (c cellLine) linkText() string {
	if c.Link == "" {
		return promptResults
	}
	return "Read these answers"
}

// nearShare is the least part of the leader's picks with which a tool is near to it: fewer are far behind,
// and their order among prompts or agents is chance.
const nearShare = .5

// farBehind advises a tool that no agent picks nearly as often as its leader, on no prompt. It has steps.
func farBehind(b *analytics.Board, s analytics.Standing, trials bool) (summaryLine, bool) {
	if len(b.Tools) == 0 || s.PickRate >= b.Tools[0].PickRate {
		return summaryLine{}, false
	}
	first := b.Tools[0]
	text := fmt.Sprintf("Where another tool leads, %s is far behind", s.Tool)
	if s.Picks == 0 {
		text = "No answer picked " + s.Tool
	}
	out := summaryLine{Name: whatNext, Text: text + ": look first at the answers that picked " + first.Tool + ".", Link: ComparePath(s.Slug, first.Slug), More: "Compare with " + first.Tool, Steps: nextSteps(b, s, trials)}
	if trials {
		out.Link, out.More = TrialsPath(b.Category, "tool", first.Slug), "Answers that picked "+first.Tool
	}
	return out, true
}

// nearestPrompt is the prompt on which a rival leads by least, of those on which the tool is near to it.
func nearestPrompt(b *analytics.Board, s analytics.Standing) (summaryLine, bool) {
	type candidate struct {
		prompt *analytics.Prompt
		own    int
		best   strongest
	}
	gap := func(c candidate) float64 {
		return (c.best.most - float64(c.own)) / float64(max(1, c.prompt.NTrials))
	}
	var list []candidate
	for i := range b.Prompts {
		c := candidate{prompt: &b.Prompts[i], own: picksOf(b.Prompts[i], s.Slug), best: strongestOf(b.Prompts[i].Tools, s.Slug, promptPicks)}
		if own := float64(c.own); own > 0 && c.best.most > own && own >= nearShare*c.best.most {
			list = append(list, c)
		}
	}
	if len(list) == 0 || len(b.Prompts) < 2 {
		return summaryLine{}, false
	}
	sorting.StableFunc(list, func(x, y candidate) int { return cmp.Compare(gap(x), gap(y)) })
	c := list[0]
	text := fmt.Sprintf("Begin with the prompt where it is nearest to the lead: %s %d, %s of %s, not tested. “%s”", s.Tool, c.own, c.best.counted(b), quantity(c.prompt.NTrials, "answer"), promptTitle(*c.prompt))
	return summaryLine{Name: whatNext, Text: text, Link: PromptPath(b.Category, c.prompt.Name()), More: promptResults}, true
}

// behindWith is the agent with which a rival leads by least, of those that pick the tool nearly as often:
// several may do so alike.
func behindWith(b *analytics.Board, s analytics.Standing, trials bool) (summaryLine, bool) {
	var near []analytics.AgentBoard
	gap := func(a analytics.AgentBoard) float64 {
		best, _ := firstTwo(a)
		return best.PickRate - rateOf(a.Tools, s.Slug)
	}
	for _, a := range b.Agents {
		if rate := rateOf(a.Tools, s.Slug); gap(a) > 0 && rate > 0 && rate >= nearShare*(rate+gap(a)) {
			near = append(near, a)
		}
	}
	sorting.StableFunc(near, func(x, y analytics.AgentBoard) int { return cmp.Compare(gap(x), gap(y)) })
	if len(near) == 0 {
		return summaryLine{}, false
	}
	strong := func(a analytics.AgentBoard) strongest { return strongestOf(a.Tools, s.Slug, agentRates) }
	best := strong(near[0])
	alike := slices.DeleteFunc(slices.Clone(near), func(a analytics.AgentBoard) bool {
		return strong(a).names(b) != best.names(b) || gap(a) != gap(near[0])
	})
	rival, rates := best.names(b), fmt.Sprintf("%s %s, %s %s.", best.names(b), best.each(chart.Fixed(best.most)), s.Tool, chart.Fixed(rateOf(near[0].Tools, s.Slug)))
	if len(alike) > 1 {
		text := fmt.Sprintf("Begin with the %s where it is nearest to the lead, each: %s", quantity(len(alike), nounOf(b)), rates)
		return summaryLine{Name: whatNext, Text: text, Link: ComparePath(s.Slug, best.slugs[0]), More: "Compare with " + nameOf(b, best.slugs[0])}, true
	}
	text := fmt.Sprintf("Begin with %s, where it is nearest to the lead: %s", render.AgentName(near[0].Agent), rates)
	out := summaryLine{Name: whatNext, Text: text, Link: agentPath(agentSlug(near[0].Agent)), More: "What it picks"}
	switch {
	case trials && len(best.slugs) == 1:
		out.Link, out.More = TrialsPath(b.Category, "agent", near[0].Agent, "tool", best.slugs[0]), "Its answers that picked "+rival
	case trials:
		out.Link, out.More = TrialsPath(b.Category, "agent", near[0].Agent), "Its answers"
	}
	return out, true
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
	if out.Text = fmt.Sprintf("%s is an option in %s that pick%s something else.", s.Tool, quantity(named, "answer"), verbEnding(named)); named == 0 {
		out.Text = fmt.Sprintf("%s counts as an option in no answer that picks another tool.", s.Tool)
	}
	if !trials {
		return out
	}
	out.Link, out.More = TrialsPath(b.Category, "tool", first.Slug), "Answers that picked "+first.Tool
	if i := slices.IndexFunc(d.Against, func(q quote) bool { return q.Text != "" }); i >= 0 && named > 0 {
		q := d.Against[i]
		out.Text += fmt.Sprintf(" %s, which picked %s: “%s”", q.Agent, q.Picked, q.Text)
		out.Link, out.More = q.Link, "This answer"
	}
	return out
}
