package analytics

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/firstpick/firstpick/analytics/stats"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/sorting"
)

// MinFamilies is how many prompt families a result has that is not early.
const MinFamilies = 20

const (
	minTrials   = 30 // below it a result is early too
	significant = 0.05
)

// MinCoverage is the share of its planned trials that a complete run has answers to.
const MinCoverage = 0.95

// Complete reports whether a run has enough of its planned trials to be published.
func Complete(valid, planned int) bool {
	return planned > 0 && Round(float64(valid)/float64(planned)) >= MinCoverage
}

// Rank makes the leaderboard of a category. Tools that were never picked are ranked too:
// a leaderboard must not hide losers. URLs are site paths.
func Rank(m Measurement) Board {
	b, t := m.board()
	b.Warnings = b.warnings(m.Doubts)
	var order stats.Order
	var byAgent [][]AgentRate
	b.Tools, order = b.standings(t, m.Category)
	b.addWeightWarnings(t)
	b.Agents, byAgent = t.agentBoards()
	b.breakDown(t, order, byAgent)
	b.Cuts = t.cuts(m)
	return b
}

// RankAll ranks measurements with all processors, and returns the boards in their order.
func RankAll(ms []Measurement) []Board {
	boards := make([]Board, len(ms))
	var taken atomic.Int64
	var wg sync.WaitGroup
	for range min(len(ms), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(taken.Add(1)) - 1; i < len(ms); i = int(taken.Add(1)) - 1 {
				boards[i] = Rank(ms[i])
			}
		})
	}
	wg.Wait()
	return boards
}

// board returns the totals of a board, and the tally they come from.
func (m Measurement) board() (Board, *tally) {
	cat := m.Category
	slugs := make([]string, len(cat.Entries))
	for i, e := range cat.Entries {
		slugs[i] = e.Tool.Slug
	}
	t := newTally(slugs, m.Cells, m.Design)
	t.planned = m.Planned
	all := append(slices.Clone(t.picks), t.diy, t.mismatched)
	t.estimates, t.pickRates = t.rates(all)
	diy, mismatch := t.pickRates[len(t.picks)], t.pickRates[len(t.picks)+1]
	unresolved := reported{t.total.Unresolved, t.total.UnresolvedUnknown, t.total.Trials}
	return Board{
		Category: cat.Slug, Name: cat.Name, Domain: string(cat.Domain), Study: cat.Study, Field: len(slugs),
		NTrials: t.total.Trials, NPrompts: t.prompts, NFamilies: len(t.families), Coverage: m.coverage(t.total.Trials), Synthetic: m.Synthetic,
		Estimand: m.Design.estimand(t.agents, m.Design.weightsOf(t.agents) != nil), AsOf: t.asOf(),
		Outcomes: t.total.Outcomes, Unresolved: unresolved.value(), DecidedBy: t.byLayer(), Judge: t.judged(),
		SayDoMismatchRate: Round(mismatch.Value), BoardDetail: &BoardDetail{
			SayDoMismatchLow: Round(mismatch.Interval.Low), SayDoMismatchHigh: Round(mismatch.Interval.High),
			DIYRate: Round(diy.Value), DIYLow: Round(diy.Interval.Low), DIYHigh: Round(diy.Interval.High),
		},
		Consistency: t.consistency(m.Cells), URL: "/leaderboards/" + cat.Slug,
	}, t
}

// coverage is the share of planned trials; nil where the plan is unknown.
func (m Measurement) coverage(valid int) *float64 {
	if slices.Contains(m.Doubts, CoverageUnknown) {
		return nil
	}
	c := 0.0
	if m.Planned > 0 {
		c = Round(math.Min(1, float64(valid)/float64(m.Planned)))
	}
	return &c
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return Round(float64(n) / float64(of))
}

// Round keeps six decimals, so that no platform's arithmetic shows in the bytes.
func Round(v float64) float64 {
	const scale = 1e6
	return math.Round(v*scale)/scale + 0 // no negative zero
}

func rounded(v float64) *float64 {
	v = Round(v)
	return &v
}

func rangeOf(i stats.Interval, ok bool) *Range {
	if !ok {
		return nil
	}
	return &Range{Round(i.Low), Round(i.High)}
}

// standings ranks the tools: by rate, then by the worst rank the data allow, then by slug.
// Equal rates share the smaller rank.
func (b *Board) standings(t *tally, cat *catalog.Category) ([]Standing, stats.Order) {
	estimates, rates := t.estimates[:len(t.picks)], t.pickRates[:len(t.picks)]
	_, shortlists := t.rates(t.shortlists)
	_, defaults := t.rates(t.defaults)
	order := t.design.Compare(estimates, rates)
	sets := order.Ranks()
	out := make([]Standing, len(t.tools))
	for i, e := range cat.Entries {
		picks, p := sum(t.picks[i]), rates[i]
		flat := stats.Wilson(p.Value*t.design.Effective, t.design.Effective)
		out[i] = Standing{
			RankLow: sets[i].Low, RankHigh: sets[i].High, Tool: e.Tool.Name, Slug: e.Tool.Slug,
			PickRate: Round(p.Value), CILow: Round(p.Interval.Low), CIHigh: Round(p.Interval.High),
			FlatLow: Round(flat.Low), FlatHigh: Round(flat.High),
			ShortlistRate: Round(shortlists[i].Value), DefaultRate: Round(defaults[i].Value),
			FirstNamedRate: t.firstNamedRate(i),
			Picks:          picks, NTrials: t.total.Trials, URL: "/tools/" + e.Tool.Slug, BeatenBy: []Rival{},
			Detail: b.detail(t, i, estimates[i], p, shortlists[i], defaults[i]),
		}
		out[i].Warnings = b.toolWarnings(p, len(t.families))
	}
	sorting.Func(out, func(a, b Standing) int {
		return cmp.Or(cmp.Compare(b.PickRate, a.PickRate), cmp.Compare(a.RankHigh, b.RankHigh), strings.Compare(a.Slug, b.Slug))
	})
	for i := range out {
		out[i].Rank = i + 1
		if i > 0 && out[i].PickRate == out[i-1].PickRate {
			out[i].Rank = out[i-1].Rank
		}
	}
	t.rivals(out, order)
	return out, order
}

func (b *Board) detail(t *tally, tool int, e stats.Estimate, p, shortlist, defaults stats.Rate) *Detail {
	d := &Detail{
		ShortlistLow: Round(shortlist.Interval.Low), ShortlistHigh: Round(shortlist.Interval.High),
		DefaultLow: Round(defaults.Interval.Low), DefaultHigh: Round(defaults.Interval.High), NEff: Round(p.NEff),
	}
	if !t.design.Balanced && t.total.Trials > 0 {
		d.RawRate = rounded(float64(sum(t.picks[tool])) / float64(t.total.Trials))
	}
	if ci, ok := t.design.Population(e); ok {
		d.PopulationLow, d.PopulationHigh = rounded(math.Min(ci.Low, p.Interval.Low)), rounded(math.Max(ci.High, p.Interval.High))
	}
	d.BoundLow, d.BoundHigh = b.bounds(t, sum(t.picks[tool]), p.Value)
	d.WithoutAgent = rangeOf(t.design.WithoutAgent(e))
	d.WithoutFamily = rangeOf(t.design.WithoutFamily(e))
	d.Variance = t.variance(tool)
	return d
}

// bounds returns the range of a rate whatever the missing and the unresolved trials would
// have picked. Trials that do not report whether they are unresolved count as such if they
// are ambiguous. The range is unknown, and nil, where trials are missing and the plan is not
// the same number of trials of every family and agent, equally weighted.
func (b *Board) bounds(t *tally, picks int, rate float64) (low, high *float64) {
	missing := 0
	if b.Coverage != nil {
		missing = max(0, t.planned-t.total.Trials)
	}
	if missing == 0 {
		return rounded(rate), rounded(math.Min(1, rate+t.rate(t.unresolved).Value))
	}
	cells := max(1, len(t.trials))
	if t.of.weightsOf(t.agents) != nil || t.planned%cells != 0 || slices.Max(append(t.trials, 0)) > t.planned/cells {
		return nil, nil
	}
	planned := float64(t.planned)
	return rounded(float64(picks) / planned), rounded(float64(picks+sum(t.unresolved)+missing) / planned)
}

// rivals fills in who has a higher rate, and whether the trials show it.
func (t *tally) rivals(board []Standing, order stats.Order) {
	for b := range board {
		for a := range board[:b] {
			r := board[a]
			if r.PickRate == board[b].PickRate {
				continue
			}
			lead, _ := order.Lead(t.index[r.Slug], t.index[board[b].Slug])
			board[b].BeatenBy = append(board[b].BeatenBy, Rival{
				Tool: r.Tool, Slug: r.Slug, Rank: r.Rank, PickRate: r.PickRate,
				Diff: Round(lead.Diff), CILow: Round(lead.Interval.Low), CIHigh: Round(lead.Interval.High),
				PAdjusted: Round(lead.Adjusted), Significant: lead.Shown, URL: r.URL,
			})
		}
	}
}

// firstNamedRate returns the share of trials that name a tool first; nil where a trial
// does not report it.
func (t *tally) firstNamedRate(tool int) *float64 {
	if t.total.Trials == 0 || t.total.FirstUnknown > 0 {
		return nil
	}
	return rounded(t.design.Estimate(t.firstNamed[tool]).Value)
}

// agentBoards returns the shares by agent, and the rates of all tools by agent.
func (t *tally) agentBoards() ([]AgentBoard, [][]AgentRate) {
	out, all := []AgentBoard{}, make([][]AgentRate, len(t.agents))
	for a, name := range t.agents {
		one := t.design.Agent(a)
		all[a] = t.agentRates(one, a)
		out = append(out, AgentBoard{
			Agent: name, NTrials: one.Trials, NFamilies: one.Families(), Weight: Round(t.design.AgentWeight(a)),
			Unresolved: t.unresolvedByAgent[a].value(), Tools: picked(all[a]),
		})
	}
	return out, all
}

func (t *tally) agentRates(one *stats.Design, agent int) []AgentRate {
	estimates, rates, picks := make([]stats.Estimate, len(t.tools)), make([]stats.Rate, len(t.tools)), make([]int, len(t.tools))
	for i, table := range t.picks {
		counts := make([]int, 0, len(t.families))
		for at := agent; at < len(table); at += len(t.agents) {
			if t.trials[at] > 0 {
				counts = append(counts, table[at])
			}
		}
		picks[i], estimates[i] = sum(counts), one.Estimate(counts)
		rates[i] = one.Rate(estimates[i])
	}
	one.Borrow(estimates, rates)
	return agentRates(t.tools, rates, picks)
}

// agentRates rounds rates, in the order of tools.
func agentRates(tools []string, rates []stats.Rate, picks []int) []AgentRate {
	out := make([]AgentRate, len(tools))
	for i, r := range rates {
		out[i] = AgentRate{tools[i], Round(r.Value), &Interval{Round(r.Interval.Low), Round(r.Interval.High)}, picks[i]}
	}
	return out
}

// picked lists the tools that were picked, the highest rate first.
func picked(rates []AgentRate) []AgentRate {
	out := slices.DeleteFunc(slices.Clone(rates), func(r AgentRate) bool { return r.Picks == 0 })
	sorting.Func(out, func(x, y AgentRate) int {
		return cmp.Or(cmp.Compare(y.PickRate, x.PickRate), strings.Compare(x.Slug, y.Slug))
	})
	return out
}
