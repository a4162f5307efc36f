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

func within(v, low, high float64) bool { return low <= v && v <= high }

func (c *checker) totals() {
	b, o := c.board, c.board.Outcomes
	sum := o.Tool + o.DIY + o.Other + o.None + o.Ambiguous + o.Refused + o.Truncated
	c.want(sum == b.NTrials, "outcomes sum to %d of %d trials", sum, b.NTrials)
	c.want(b.NPrompts >= 0 && b.NPrompts <= b.NTrials, "%d prompts in %d trials", b.NPrompts, b.NTrials)
	c.want(within(b.Coverage, 0, 1), "coverage %g is not in [0, 1]", b.Coverage)
	c.want(within(b.SayDoMismatchRate, 0, 1), "mismatch rate %g is not in [0, 1]", b.SayDoMismatchRate)
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
	c.want(s.PickRate == share(s.Picks, s.NTrials), "%s: rate %g is not %d of %d", s.Slug, s.PickRate, s.Picks, s.NTrials)
	c.want(0 <= s.DefaultRate && s.DefaultRate <= s.PickRate && s.PickRate <= s.ShortlistRate && s.ShortlistRate <= 1,
		"%s: default %g, pick %g, shortlist %g are not nested", s.Slug, s.DefaultRate, s.PickRate, s.ShortlistRate)
	c.want(0 <= s.CILow && within(s.PickRate, s.CILow, s.CIHigh) && s.CIHigh <= 1,
		"%s: rate %g is outside its interval [%g, %g]", s.Slug, s.PickRate, s.CILow, s.CIHigh)
	c.want(0 <= s.FlatLow && within(s.PickRate, s.FlatLow, s.FlatHigh) && s.FlatHigh <= 1,
		"%s: rate %g is outside its flat interval [%g, %g]", s.Slug, s.PickRate, s.FlatLow, s.FlatHigh)
	if l := s.Labelled; l != nil {
		c.want(0 <= l.CILow && within(l.PickRate, l.CILow, l.CIHigh) && l.CIHigh <= 1 && within(l.Lambda, 0, 1),
			"%s: corrected rate %g (lambda %g) is outside its interval [%g, %g]", s.Slug, l.PickRate, l.Lambda, l.CILow, l.CIHigh)
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
	order := cmp.Or(cmp.Compare(above.Picks, s.Picks), cmp.Compare(s.RankHigh, above.RankHigh), cmp.Compare(s.Slug, above.Slug))
	c.want(order > 0, "%s stands below %s", s.Slug, above.Slug)
	if s.Picks == above.Picks {
		rank = above.Rank
	}
	c.want(s.Rank == rank, "%s: rank %d, its place says %d", s.Slug, s.Rank, rank)
}

func (c *checker) rivals(s Standing) {
	c.want(len(s.BeatenBy) == s.Rank-1, "%s has rank %d and is beaten by %d", s.Slug, s.Rank, len(s.BeatenBy))
	for i, r := range s.BeatenBy {
		c.want(r.Rank < s.Rank && r.PickRate >= s.PickRate, "%s: rival %s is not ahead", s.Slug, r.Slug)
		c.want(i == 0 || r.Rank >= s.BeatenBy[i-1].Rank, "%s: rival %s is out of order", s.Slug, r.Slug)
		c.want(-1 <= r.CILow && within(r.Diff, r.CILow, r.CIHigh) && r.CIHigh <= 1 && r.Diff >= 0,
			"%s: difference %g to %s is outside its interval [%g, %g]", s.Slug, r.Diff, r.Slug, r.CILow, r.CIHigh)
		c.want(within(r.PAdjusted, 0, 1) && (r.PAdjusted == significant || r.Significant == (r.PAdjusted < significant)),
			"%s: rival %s has p %g and significant %t", s.Slug, r.Slug, r.PAdjusted, r.Significant)
	}
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
			c.want(t.Picks > 0 && t.PickRate == share(t.Picks, a.NTrials), "agent %s: rate %g of %s is not %d of %d",
				a.Agent, t.PickRate, t.Slug, t.Picks, a.NTrials)
		}
	}
	c.want(trials == c.board.NTrials, "agents' trials sum to %d of %d", trials, c.board.NTrials)
	if u := c.board.Unresolved; u != nil {
		c.want(unresolved == *u, "agents' unresolved trials sum to %d of %d", unresolved, *u)
	}
	c.want(picks == c.board.Outcomes.Tool, "agents' picks sum to %d of %d", picks, c.board.Outcomes.Tool)
}
