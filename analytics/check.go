package analytics

import (
	"cmp"
	"fmt"
	"slices"
)

// Check tests a board against the published definitions and returns what does
// not hold, nil for a sound board. A board that fails is not published. It
// expects the result of Rank: a board read from JSON lacks its rivals. The
// comparisons are written so that a figure that is not a number fails them.
func Check(b Board) []error {
	c := &checker{board: b}
	c.totals()
	for i := range b.Tools {
		c.rates(b.Tools[i])
		c.ranks(i)
		c.rivals(b.Tools[i])
		if b.Tools[i].Breakdown != nil {
			c.breakdown(b.Tools[i])
		}
	}
	c.agents()
	return c.errs
}

type checker struct {
	board Board
	errs  []error
}

func (c *checker) want(ok bool, format string, args ...any) {
	if !ok {
		c.errs = append(c.errs, fmt.Errorf("board %s: %s", c.board.Category, fmt.Sprintf(format, args...)))
	}
}

// interval checks a rate and its interval.
func (c *checker) interval(what string, rate, low, high float64) {
	c.want(0 <= low && within(rate, low, high) && high <= 1, "%s %g is outside its interval [%g, %g]", what, rate, low, high)
}

func within(v, low, high float64) bool { return low <= v && v <= high }

func (c *checker) totals() {
	b, o := c.board, c.board.Outcomes
	sum := o.Tool + o.DIY + o.Other + o.None + o.Ambiguous + o.Refused + o.Truncated
	c.want(sum == b.NTrials, "outcomes sum to %d of %d trials", sum, b.NTrials)
	c.want(0 <= b.NFamilies && b.NFamilies <= b.NPrompts && b.NPrompts <= b.NTrials, "%d families of %d prompts in %d trials", b.NFamilies, b.NPrompts, b.NTrials)
	c.want(b.Coverage == nil || within(*b.Coverage, 0, 1), "coverage is not in [0, 1]")
	c.interval("mismatch rate", b.SayDoMismatchRate, b.SayDoMismatchLow, b.SayDoMismatchHigh)
	c.interval("DIY rate", b.DIYRate, b.DIYLow, b.DIYHigh)
	c.want(b.Field == len(b.Tools), "field is %d, but %d tools are ranked", b.Field, len(b.Tools))
	c.want(b.Warnings != nil && b.Tools != nil && b.Agents != nil, "a list is nil and would print as null")
	c.want(slices.IsSorted(b.Warnings), "warnings %v are not sorted", b.Warnings)
	c.reading()
	if e := b.ExtractionError; e != nil {
		c.want(0 <= e.CILow && within(e.Rate, e.CILow, e.CIHigh) && e.CIHigh <= 1, "extraction error %g is outside its interval [%g, %g]", e.Rate, e.CILow, e.CIHigh)
	}
	picks, seen := 0, map[string]bool{}
	for _, s := range b.Tools {
		c.want(!seen[s.Slug], "%s is ranked twice", s.Slug)
		picks, seen[s.Slug] = picks+s.Picks, true
	}
	c.want(picks == o.Tool, "picks sum to %d, outcome tool is %d: a picked tool is not in the category", picks, o.Tool)
}

// reading checks how the outcomes were read.
func (c *checker) reading() {
	b, named := c.board, 0.0
	if u := b.Unresolved; u != nil {
		c.want(0 <= *u && *u <= b.Outcomes.Ambiguous, "%d unresolved of %d ambiguous trials", *u, b.Outcomes.Ambiguous)
		c.want(b.DecidedBy == nil || *u <= b.DecidedBy.Undecided, "more unresolved trials (%d) than undecided ones", *u)
	}
	if d := b.DecidedBy; d != nil {
		c.want(d.sum() == b.NTrials, "trials by layer sum to %d of %d", d.sum(), b.NTrials)
	}
	if j := b.Judge; j != nil {
		c.want(0 <= j.Resolved && j.Resolved <= j.Agreed && j.Agreed <= j.Judged && j.Judged <= b.NTrials, "judges: resolved %d, agreed %d, judged %d of %d trials", j.Resolved, j.Agreed, j.Judged, b.NTrials)
	}
	for _, s := range b.Tools {
		if r := s.FirstNamedRate; r != nil {
			c.want(within(*r, 0, 1), "%s: first-named rate %g is not in [0, 1]", s.Slug, *r)
			named += *r
		}
	}
	c.want(named <= 1+rounding*float64(len(b.Tools)), "first-named rates sum to %g", named)
}

// rounding is the most that a rate was rounded up by.
const rounding = 0.5e-6

func (c *checker) rates(s Standing) {
	c.want(s.NTrials == c.board.NTrials, "%s: %d trials of %d", s.Slug, s.NTrials, c.board.NTrials)
	raw := s.PickRate
	if s.RawRate != nil {
		raw = *s.RawRate
	}
	c.want(raw == share(s.Picks, s.NTrials), "%s: rate %g is not %d of %d", s.Slug, raw, s.Picks, s.NTrials)
	c.want(0 <= s.DefaultRate && s.DefaultRate <= s.PickRate && s.PickRate <= s.ShortlistRate && s.ShortlistRate <= 1,
		"%s: default %g, pick %g, shortlist %g are not nested", s.Slug, s.DefaultRate, s.PickRate, s.ShortlistRate)
	c.interval(s.Slug+": rate", s.PickRate, s.CILow, s.CIHigh)
	c.interval(s.Slug+": rate in its naive interval:", s.PickRate, s.FlatLow, s.FlatHigh)
	c.interval(s.Slug+": shortlist rate", s.ShortlistRate, s.ShortlistLow, s.ShortlistHigh)
	c.interval(s.Slug+": default rate", s.DefaultRate, s.DefaultLow, s.DefaultHigh)
	if s.BoundLow != nil {
		c.want(0 <= *s.BoundLow && *s.BoundLow <= *s.BoundHigh && *s.BoundHigh <= 1, "%s: bounds [%g, %g] are not in [0, 1]", s.Slug, *s.BoundLow, *s.BoundHigh)
	}
	if s.PopulationLow != nil {
		c.want(0 <= *s.PopulationLow && *s.PopulationLow <= s.CILow && s.CIHigh <= *s.PopulationHigh && *s.PopulationHigh <= 1,
			"%s: the interval for agents like these [%g, %g] is narrower than that of these agents", s.Slug, *s.PopulationLow, *s.PopulationHigh)
	}
	if l := s.Labelled; l != nil {
		c.interval(s.Slug+": corrected rate", l.PickRate, l.CILow, l.CIHigh)
		c.want(within(l.Lambda, 0, 1), "%s: lambda %g is not in [0, 1]", s.Slug, l.Lambda)
	}
	c.want(s.Warnings != nil && s.BeatenBy != nil, "%s: a list is nil and would print as null", s.Slug)
}

// ranks checks a place against the one above: order, shared ranks, rank sets.
func (c *checker) ranks(i int) {
	s := c.board.Tools[i]
	c.want(1 <= s.RankLow && s.RankLow <= s.Rank && s.Rank <= s.RankHigh && s.RankHigh <= c.board.Field,
		"%s: rank %d in [%d, %d] of %d", s.Slug, s.Rank, s.RankLow, s.RankHigh, c.board.Field)
	if i == 0 {
		c.want(s.Rank == 1, "%s: first with rank %d", s.Slug, s.Rank)
		return
	}
	above, rank := c.board.Tools[i-1], i+1
	order := cmp.Or(cmp.Compare(above.PickRate, s.PickRate), cmp.Compare(s.RankHigh, above.RankHigh), cmp.Compare(s.Slug, above.Slug))
	c.want(order > 0, "%s stands below %s", s.Slug, above.Slug)
	if s.PickRate == above.PickRate {
		rank = above.Rank
	}
	c.want(s.Rank == rank, "%s: rank %d, its place says %d", s.Slug, s.Rank, rank)
}

func (c *checker) rivals(s Standing) {
	shown := 0
	c.want(len(s.BeatenBy) == s.Rank-1, "%s has rank %d and is beaten by %d", s.Slug, s.Rank, len(s.BeatenBy))
	for i, r := range s.BeatenBy {
		c.want(r.Rank < s.Rank && r.PickRate >= s.PickRate, "%s: rival %s is not ahead", s.Slug, r.Slug)
		c.want(i == 0 || r.Rank >= s.BeatenBy[i-1].Rank, "%s: rival %s is out of order", s.Slug, r.Slug)
		c.want(-1 <= r.CILow && within(r.Diff, r.CILow, r.CIHigh) && r.CIHigh <= 1 && r.Diff >= 0,
			"%s: difference %g to %s is outside its interval [%g, %g]", s.Slug, r.Diff, r.Slug, r.CILow, r.CIHigh)
		c.want(r.Significant == (r.CILow > 0), "%s: rival %s has significant %t and an interval from %g", s.Slug, r.Slug, r.Significant, r.CILow)
		c.want(within(r.PAdjusted, 0, 1) && (r.PAdjusted == significant || r.Significant == (r.PAdjusted < significant)),
			"%s: rival %s has p %g and significant %t", s.Slug, r.Slug, r.PAdjusted, r.Significant)
		if r.Significant {
			shown++
		}
	}
	c.want(s.RankLow == 1+shown, "%s: rank range from %d, but %d rivals are significantly ahead", s.Slug, s.RankLow, shown)
}

// breakdown checks that the parts of a tool's trials sum to them, and that its rank range
// follows from its comparisons.
func (c *checker) breakdown(s Standing) {
	of := s.Breakdown
	picks, trials := 0, 0
	for _, a := range of.ByAgent {
		picks, trials = picks+a.Picks, trials+a.NTrials
		c.interval(s.Slug+": rate with "+a.Agent, a.PickRate, a.CILow, a.CIHigh)
	}
	c.want(picks == s.Picks && trials == s.NTrials, "%s: by agent, %d picks of %d trials", s.Slug, picks, trials)
	if c.board.Prompts != nil {
		picks, trials = 0, 0
		for _, p := range c.board.byPrompt(s.Slug) {
			picks, trials = picks+p.Picks, trials+p.NTrials
		}
		c.want(picks == s.Picks && trials == s.NTrials, "%s: by prompt, %d picks of %d trials", s.Slug, picks, trials)
	}
	low, high := 1, c.board.Field
	for _, r := range of.Rivals {
		c.want(-1 <= r.CILow && within(r.Diff, r.CILow, r.CIHigh) && r.CIHigh <= 1 && r.Ahead == (r.Diff > 0) && within(r.PAdjusted, 0, 1),
			"%s: difference %g to %s, in [%g, %g], ahead %t", s.Slug, r.Diff, r.Slug, r.CILow, r.CIHigh, r.Ahead)
		c.want(r.Significant == (r.CILow > 0 || r.CIHigh < 0), "%s: rival %s has significant %t and [%g, %g]", s.Slug, r.Slug, r.Significant, r.CILow, r.CIHigh)
		switch {
		case r.Significant && r.Ahead:
			low++
		case r.Significant:
			high--
		}
	}
	c.want(s.RankLow == low && s.RankHigh == high, "%s: rank range [%d, %d], its comparisons say [%d, %d]", s.Slug, s.RankLow, s.RankHigh, low, high)
}

func (c *checker) agents() {
	trials, picks, unresolved := 0, 0, 0
	for i, a := range c.board.Agents {
		if a.Unresolved != nil {
			unresolved += *a.Unresolved
		}
		trials += a.NTrials
		c.want(i == 0 || a.Agent > c.board.Agents[i-1].Agent, "agent %s is out of order", a.Agent)
		c.want(a.Tools != nil, "agent %s: a list is nil and would print as null", a.Agent)
		for _, t := range a.Tools {
			picks += t.Picks
			c.want(t.Picks > 0 && t.Picks <= a.NTrials, "agent %s: %d picks of %s in %d trials", a.Agent, t.Picks, t.Slug, a.NTrials)
			c.interval("agent "+a.Agent+": rate of "+t.Slug, t.PickRate, t.CILow, t.CIHigh)
		}
	}
	c.want(trials == c.board.NTrials, "agents' trials sum to %d of %d", trials, c.board.NTrials)
	if u := c.board.Unresolved; u != nil {
		c.want(unresolved == *u, "agents' unresolved trials sum to %d of %d", unresolved, *u)
	}
	c.want(picks == c.board.Outcomes.Tool, "agents' picks sum to %d of %d", picks, c.board.Outcomes.Tool)
}
