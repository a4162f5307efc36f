package views

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A quote is a trial to read. Text is empty where the snapshot has no quotes.
// Prompt is empty where it is that of the quote before it.
// Share is how many of the agent's answers to the prompt picked the same: 2 of its 20.
type quote struct {
	Text, Agent, Prompt, Picked, Link, Share string
	picks                                    int
	leads                                    bool // the tool leads on the prompt
}

// emphasis matches bold text of Markdown, which would show its asterisks.
var emphasis = lazyregexp.MustCompile(`\*\*(\S(?:[^*]*\S)?)\*\*`)

// quotesOf returns the examples of a tool on a board: trials that picked it, and trials that
// considered it and picked another tool or none.
func quotesOf(b *analytics.Board, s analytics.Standing) (picked, lost []quote) {
	if s.Breakdown == nil {
		return nil, nil
	}
	for _, e := range leadingFirst(b, s) {
		q := quote{Text: strings.ReplaceAll(emphasis.ReplaceAllString(e.Quote, "$1"), "**", ""), Agent: render.AgentName(e.Agent), Prompt: e.Prompt, Link: TrialPath(e.Trial)}
		if strings.EqualFold(q.Text, e.Picked) || strings.EqualFold(q.Text, nameOf(b, e.Picked)) {
			q.Text = "" // it only names the tool
		}
		if slices.ContainsFunc(slices.Concat(picked, lost), func(o quote) bool { return q.Text != "" && o.Text == q.Text }) {
			continue // the same words again
		}
		if p := findPrompt(b, e.Prompt); p != nil {
			q.Prompt = promptTitle(*p)
			q.Share, q.picks = shareOf(p, e)
			q.leads = leadsOn(p, s.Slug)
		}
		if e.Picked == s.Slug {
			picked = append(picked, q)
			continue
		}
		if q.Picked = noTool; e.Picked != "" {
			q.Picked = nameOf(b, e.Picked)
		}
		lost = append(lost, q)
	}
	// A prompt on which the tool leads, and what an agent picks most often, stand for it best.
	sorting.StableFunc(picked, func(x, y quote) int { return cmp.Or(leadersFirst(x.leads, y.leads), y.picks-x.picks) })
	sorting.StableFunc(lost, func(x, y quote) int { return y.picks - x.picks })
	return picked, lost
}

// leadingFirst returns the examples of a tool, those of prompts on which it leads first: of two with the
// same words the first is quoted.
func leadingFirst(b *analytics.Board, s analytics.Standing) []analytics.Example {
	leads := func(e analytics.Example) bool {
		p := findPrompt(b, e.Prompt)
		return p != nil && leadsOn(p, s.Slug)
	}
	out := slices.Clone(s.Breakdown.Examples)
	sorting.StableFunc(out, func(x, y analytics.Example) int { return leadersFirst(leads(x), leads(y)) })
	return out
}

func leadersFirst(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return -1
	}
	return 1
}

// leadsOn reports whether no tool was picked more often on a prompt.
func leadsOn(p *analytics.Prompt, slug string) bool {
	own := picksOf(*p, slug)
	return own > 0 && !slices.ContainsFunc(p.Tools, func(t analytics.PromptTool) bool { return t.Picks > own })
}

// shareOf counts the answers of an example's agent to its prompt that picked the same tool; "" for
// no tool and for one answer.
func shareOf(p *analytics.Prompt, e analytics.Example) (share string, picks int) {
	for _, a := range p.Agents {
		if a.Agent != e.Agent || a.NTrials < 2 {
			continue
		}
		for _, t := range a.Tools {
			if t.Slug == e.Picked {
				return fmt.Sprintf("%d of its %d", t.Picks, a.NTrials), t.Picks
			}
		}
	}
	return "", 0
}

// promptOnce leaves a prompt out where the quote before it has the same.
func promptOnce(quotes []quote) {
	for i := len(quotes) - 1; i > 0; i-- {
		if quotes[i].Prompt == quotes[i-1].Prompt {
			quotes[i].Prompt = ""
		}
	}
}

// leaderQuotes returns a quote for each of the first two tools of a board.
func leaderQuotes(b *analytics.Board) (out []quote) {
	for _, s := range b.Tools[:min(2, len(b.Tools))] {
		picked, _ := quotesOf(b, s)
		for _, q := range picked {
			if q.Text != "" {
				q.Picked = s.Tool
				out = append(out, q)
				break
			}
		}
	}
	return out
}

// dropPrompts drops the prompt of quotes: it is the same for all, and stands elsewhere.
func dropPrompts(list []quote) {
	for i := range list {
		list[i].Prompt = ""
	}
}

// spoken reports whether a quote has a text.
func spoken(lists ...[]quote) bool {
	return slices.ContainsFunc(slices.Concat(lists...), func(q quote) bool { return q.Text != "" })
}

// imported reports whether the texts of quotes are names of packages alone: of a study that published
// what its answers import, and no answer.
func imported(lists ...[]quote) bool {
	all := slices.Concat(lists...)
	return spoken(all) && !slices.ContainsFunc(all, func(q quote) bool { return strings.ContainsAny(q.Text, " \n") })
}
