package views

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/render"
)

// maxNamed is how many prompts the steps of a tool list.
const maxNamed = 3

// nextSteps says what the vendor of a tool with few picks or none reads first: the prompts on which most
// answers have it as an option and pick another, where it is picked most, and how to ask prompts of its own.
func nextSteps(b *analytics.Board, s analytics.Standing, trials bool) (out []summaryLine) {
	lost := func(p analytics.Prompt) bool {
		return strongestOf(p.Tools, s.Slug, promptPicks).most > float64(picksOf(p, s.Slug))
	}
	prompts := slices.DeleteFunc(slices.Clone(b.Prompts), func(p analytics.Prompt) bool { return !lost(p) })
	unpicked := func(p analytics.Prompt) int { t := promptTool(p, s.Slug); return t.Shortlists - t.Picks }
	sorting.StableFunc(prompts, func(x, y analytics.Prompt) int { return cmp.Compare(unpicked(y), unpicked(x)) })
	most, listed := "", false // the prompt where it is picked most
	if best, ok := mostPicked(b, s); ok && !render.Single(*b) {
		most = best.Name()
	}
	for _, p := range prompts[:min(maxNamed, len(prompts))] {
		first := strongestOf(p.Tools, s.Slug, promptPicks)
		if unpicked(p) <= 0 {
			break
		}
		text := fmt.Sprintf("An option, not picked, in %d of %s.", unpicked(p), quantity(p.NTrials, "answer"))
		if p.Name() == most { // one line for one prompt
			listed = true
			text = fmt.Sprintf("Picked most in %d of %s, and an option in %d more.", picksOf(p, s.Slug), quantity(p.NTrials, "answer"), unpicked(p))
		}
		step := summaryLine{
			Text: fmt.Sprintf("%s First there: %s.%s", text, first.counted(b), quotedPrompt(b, p)),
			Link: PromptPath(b.Category, p.Name()), More: promptResults,
		}
		if trials && len(first.slugs) == 1 {
			step.Link, step.More = TrialsPath(b.Category, "prompt", p.Name(), "tool", first.slugs[0]), "Answers that picked "+first.names(b)
		}
		out = append(out, step)
	}
	if where, link := pickedMost(b, s, trials); where != "" && !listed {
		out = append(out, summaryLine{Text: where, Link: link, More: "Read these answers"})
	}
	return append(out, summaryLine{Text: "Ask what your customers ask, against these rivals.", Link: "/for-vendors", More: "Measure your own prompts"})
}

// pickedMost says where a tool is picked most: on a prompt, or on a board of one prompt by an agent. It is
// empty where the tool is not picked, or where several are first.
func pickedMost(b *analytics.Board, s analytics.Standing, trials bool) (text, link string) {
	if s.Picks == 0 {
		return "", ""
	}
	if render.Single(*b) {
		most, _, _, _ := extremes(b, s.Slug)
		if len(most) > 1 || len(b.Agents) < 2 {
			return "", ""
		}
		a := most[0]
		if link = agentPath(agentSlug(a.Agent)); trials {
			link = TrialsPath(b.Category, "agent", a.Agent, "tool", s.Slug)
		}
		return fmt.Sprintf("Picked most by %s: in %d of %s.", render.AgentName(a.Agent), agentRate(a.Tools, s.Slug).Picks, quantity(a.NTrials, "answer")), link
	}
	best, ok := mostPicked(b, s)
	if !ok {
		return "", ""
	}
	if link = PromptPath(b.Category, best.Name()); trials {
		link = TrialsPath(b.Category, "prompt", best.Name(), "tool", s.Slug)
	}
	return fmt.Sprintf("Picked most in %d of %s.%s", picksOf(best, s.Slug), quantity(best.NTrials, "answer"), quotedPrompt(b, best)), link
}

// mostPicked returns the prompt whose answers pick a tool most often; ok is false where none does, or where
// several are first.
func mostPicked(b *analytics.Board, s analytics.Standing) (best analytics.Prompt, ok bool) {
	rate := func(p analytics.Prompt) float64 { return float64(picksOf(p, s.Slug)) / float64(max(1, p.NTrials)) }
	for _, p := range b.Prompts {
		switch {
		case rate(p) > rate(best):
			best, ok = p, true
		case rate(p) == rate(best):
			ok = false
		}
	}
	return best, ok
}

// quotedPrompt ends a line with the text of its prompt, where the board has several.
func quotedPrompt(b *analytics.Board, p analytics.Prompt) string {
	if render.Single(*b) {
		return ""
	}
	return " “" + promptTitle(p) + "”"
}

func promptTool(p analytics.Prompt, slug string) analytics.PromptTool {
	if i := slices.IndexFunc(p.Tools, func(t analytics.PromptTool) bool { return t.Slug == slug }); i >= 0 {
		return p.Tools[i]
	}
	return analytics.PromptTool{Slug: slug}
}
