package analytics

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics/stats"
	"github.com/firstpick/firstpick/fixtures/catalog"
)

// Below these a result is early: too few prompts or trials.
const (
	minPrompts  = 20
	minTrials   = 30
	significant = 0.05
)

// MinCoverage is the share of its planned trials that a complete run has answers to.
const MinCoverage = 0.95

// Complete reports whether a run has enough of its planned trials to be published.
func Complete(valid, planned int) bool { return coverage(valid, planned) >= MinCoverage }

// Rank makes the leaderboard of a category. Tools that were never picked are
// ranked too: a leaderboard must not hide losers. planned is the number of
// trials that should have been valid; URLs are site paths. doubts are the warnings
// that cells and planned cannot show: CoverageUnknown, and Incomplete where one run of
// several lacks too many trials.
func Rank(cat *catalog.Category, cells []Cell, planned int, synthetic bool, doubts ...string) Board {
	slugs := make([]string, len(cat.Entries))
	for i, e := range cat.Entries {
		slugs[i] = e.Tool.Slug
	}
	t := newTally(slugs, cells)
	b := Board{
		Category: cat.Slug, Name: cat.Name, Domain: string(cat.Domain), Study: cat.Study, Field: len(slugs),
		NTrials: t.trials, NPrompts: len(t.prompts), Coverage: coverage(t.trials, planned), Synthetic: synthetic,
		Outcomes: t.outcomes, Unresolved: t.unresolved.value(), DecidedBy: t.byLayer(), Judge: t.judged(), SayDoMismatchRate: share(t.mismatched, t.trials), URL: "/leaderboards/" + cat.Slug,
	}
	if !t.last.IsZero() {
		at := t.last.UTC()
		b.AsOf = &at
	}
	b.Warnings = b.warnings(doubts)
	b.Tools = t.standings(cat, b.toolWarnings())
	t.rivals(b.Tools)
	b.Agents = t.agentBoards()
	return b
}

func coverage(valid, planned int) float64 {
	if planned <= 0 {
		return 0
	}
	return round(math.Min(1, float64(valid)/float64(planned)))
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return round(float64(n) / float64(of))
}

// round keeps six decimals, so that no platform's arithmetic shows in the bytes.
func round(v float64) float64 {
	const scale = 1e6
	return math.Round(v*scale)/scale + 0 // no negative zero
}

// standings ranks the tools: by rate, then by the worst rank the data allow,
// then by slug. Equal rates share the smaller rank.
func (t *tally) standings(cat *catalog.Category, warnings []string) []Standing {
	sets, critical := stats.RankSets(t.picks), stats.NewCritical(len(t.prompts))
	out := make([]Standing, len(t.tools))
	for i, e := range cat.Entries {
		p := critical.Proportion(t.clusters(i))
		flat := stats.Wilson(float64(t.picks[i]), float64(t.trials))
		out[i] = Standing{
			RankLow: sets[i].Low, RankHigh: sets[i].High, Tool: e.Tool.Name, Slug: e.Tool.Slug,
			PickRate: share(t.picks[i], t.trials), CILow: round(p.Interval.Low), CIHigh: round(p.Interval.High),
			FlatLow: round(flat.Low), FlatHigh: round(flat.High),
			ShortlistRate: share(t.shortlists[i], t.trials), DefaultRate: share(t.defaults[i], t.trials),
			FirstNamedRate: t.firstNamedRate(i),
			Picks:          t.picks[i], NTrials: t.trials, Warnings: slices.Clone(warnings), URL: "/tools/" + e.Tool.Slug,
			BeatenBy: []Rival{},
		}
	}
	slices.SortFunc(out, func(a, b Standing) int {
		return cmp.Or(cmp.Compare(b.Picks, a.Picks), cmp.Compare(a.RankHigh, b.RankHigh), strings.Compare(a.Slug, b.Slug))
	})
	for i := range out {
		out[i].Rank = i + 1
		if i > 0 && out[i].Picks == out[i-1].Picks {
			out[i].Rank = out[i-1].Rank
		}
	}
	return out
}

// rivals fills in who has a higher rate, and whether the trials show it: the
// paired difference over prompts, corrected for all pairs of the category.
func (t *tally) rivals(board []Standing) {
	type pair struct{ ahead, behind int }
	var pairs []pair
	var diffs []stats.Difference
	var ps []float64
	critical, buf := stats.NewCritical(len(t.prompts)), make([]stats.Cluster, len(t.prompts))
	for b := range board {
		for a := range board[:b] {
			d := critical.Difference(t.difference(buf, t.index[board[a].Slug], t.index[board[b].Slug]))
			pairs, diffs, ps = append(pairs, pair{a, b}), append(diffs, d), append(ps, d.P)
		}
	}
	adjusted := stats.Holm(ps)
	for i, p := range pairs {
		if board[p.ahead].Picks == board[p.behind].Picks {
			continue
		}
		r := board[p.ahead]
		board[p.behind].BeatenBy = append(board[p.behind].BeatenBy, Rival{
			Tool: r.Tool, Slug: r.Slug, Rank: r.Rank, PickRate: r.PickRate,
			Diff: round(diffs[i].Value), CILow: round(diffs[i].Interval.Low), CIHigh: round(diffs[i].Interval.High),
			PAdjusted: round(adjusted[i]), Significant: adjusted[i] < significant, URL: r.URL,
		})
	}
}

func (t *tally) agentBoards() []AgentBoard {
	out := []AgentBoard{}
	for _, name := range slices.Sorted(maps.Keys(t.agents)) {
		a := t.agents[name]
		ab := AgentBoard{Agent: name, NTrials: a.trials, Unresolved: a.unresolved.value(), Tools: []AgentRate{}}
		for i, n := range a.picks {
			if n > 0 {
				ab.Tools = append(ab.Tools, AgentRate{Slug: t.tools[i], PickRate: share(n, a.trials), Picks: n})
			}
		}
		slices.SortFunc(ab.Tools, func(x, y AgentRate) int {
			return cmp.Or(cmp.Compare(y.Picks, x.Picks), strings.Compare(x.Slug, y.Slug))
		})
		out = append(out, ab)
	}
	return out
}
