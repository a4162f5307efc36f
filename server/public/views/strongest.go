package views

import (
	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// A strongest is the rivals of a tool with the most picks: several where they tie.
type strongest struct {
	slugs []string
	most  float64 // a count or a rate; 0 where no rival was picked
}

// strongestOf finds the rivals with the most picks in a list. pair returns the slug of a tool, and its
// count or rate.
func strongestOf[T any](tools []T, own string, pair func(T) (slug string, picks float64)) (out strongest) {
	for _, t := range tools {
		slug, picks := pair(t)
		if slug == own || picks <= 0 || picks < out.most {
			continue
		}
		if picks > out.most {
			out = strongest{most: picks}
		}
		out.slugs = append(out.slugs, slug)
	}
	return out
}

func agentPicks(t analytics.AgentPick) (string, float64)   { return t.Slug, float64(t.Picks) }
func agentRates(t analytics.AgentRate) (string, float64)   { return t.Slug, t.PickRate }
func promptPicks(t analytics.PromptTool) (string, float64) { return t.Slug, float64(t.Picks) }

// namedRivals is how many rivals that tie are named. Of more, one less is, and the others are counted.
const namedRivals = 3

// names names the rivals: Express and Fastify.
func (s strongest) names(b *analytics.Board) string {
	var names []string
	for _, slug := range s.slugs {
		names = append(names, nameOf(b, slug))
	}
	if n := len(names) - namedRivals + 1; n > 1 {
		names = append(names[:namedRivals-1], small(n)+" others")
	}
	return and(names)
}

// each returns a count or a rate of the rivals: that of each where they tie.
func (s strongest) each(text string) string {
	if len(s.slugs) > 1 {
		return text + " each"
	}
	return text
}

// in says in how many answers the rivals are picked: Express in 3 of 20 answers.
func (s strongest) in(b *analytics.Board, of string) string {
	if len(s.slugs) > 1 {
		return s.names(b) + " each in " + of
	}
	return s.names(b) + " in " + of
}

// counted has the rivals with their count: Express 3.
func (s strongest) counted(b *analytics.Board) string {
	return s.names(b) + " " + s.each(chart.Whole(int64(s.most)))
}
