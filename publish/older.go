package publish

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/fixtures/sorting"
)

// older returns the boards of a snapshot by formulas 1, with every figure set that follows
// from counts: shares of trials, order, ranks, differences. Intervals, rank ranges, tests,
// warnings and corrections by labels stay as they are. now are the boards by the formulas of
// this version. A document that is far larger than today's is refused before it is decoded.
func (s source) older(ctx context.Context, id string, m Manifest, now []analytics.Board, docs map[string][]byte) ([]analytics.Board, error) {
	sizes, err := documents(now, m.SchemaVersion)
	if err != nil {
		return nil, err
	}
	for name, data := range sizes {
		if len(docs[name]) > 2*len(data)+4096 {
			return nil, &DamageError{Path: name, Reason: "larger than the trials of the snapshot can make it"}
		}
	}
	then, err := assemble(id, m, docs, nil)
	if err != nil {
		return nil, err
	}
	counts, err := s.store.Counts(ctx, nil)
	if err != nil {
		return nil, err
	}
	for i, b := range now {
		old, _ := then.Board(b.Category)
		of, _ := find(counts, func(c trialstore.Count) bool { return c.Category == b.Category })
		now[i] = plainBoard(old, b, of.Cells)
	}
	return now, nil
}

// plainBoard returns an old board with the figures that follow from cells. Fields that
// formulas 1 did not have are empty.
func plainBoard(old, now analytics.Board, cells []analytics.Cell) analytics.Board {
	all := pool(cells, "")
	b := analytics.Board{
		Category: now.Category, Name: now.Name, Domain: now.Domain, Study: now.Study, AsOf: now.AsOf, Field: now.Field,
		NTrials: all.Trials, NPrompts: old.NPrompts, Coverage: cmp.Or(now.Coverage, old.Coverage), Synthetic: now.Synthetic,
		Warnings: marked(old.Warnings, now.Synthetic), Outcomes: all.Outcomes, SayDoMismatchRate: share(all.Mismatched, all.Trials),
		Unresolved: ifThere(old.Unresolved, now.Unresolved), DecidedBy: ifThere(old.DecidedBy, now.DecidedBy), Judge: ifThere(old.Judge, now.Judge),
		ExtractionError: old.ExtractionError, Tools: []analytics.Standing{}, Agents: []analytics.AgentBoard{}, URL: now.URL,
	}
	for _, tool := range now.Tools {
		c := countOf(all, tool.Slug)
		was, _ := find(old.Tools, func(s analytics.Standing) bool { return s.Slug == tool.Slug })
		s := analytics.Standing{
			RankLow: was.RankLow, RankHigh: was.RankHigh, Tool: tool.Tool, Slug: tool.Slug, PickRate: share(c.Picks, all.Trials),
			CILow: was.CILow, CIHigh: was.CIHigh, FlatLow: was.FlatLow, FlatHigh: was.FlatHigh,
			ShortlistRate: share(c.Shortlists, all.Trials), DefaultRate: share(c.Defaults, all.Trials), FirstNamedRate: was.FirstNamedRate,
			Picks: c.Picks, NTrials: all.Trials, Warnings: marked(was.Warnings, now.Synthetic), URL: tool.URL, Labelled: was.Labelled, BeatenBy: was.BeatenBy,
		}
		if s.FirstNamedRate != nil {
			rate := share(c.FirstNamed, all.Trials)
			s.FirstNamedRate = &rate
		}
		b.Tools = append(b.Tools, s)
	}
	sorting.Func(b.Tools, func(x, y analytics.Standing) int {
		return cmp.Or(cmp.Compare(y.Picks, x.Picks), cmp.Compare(x.RankHigh, y.RankHigh), strings.Compare(x.Slug, y.Slug))
	})
	for i := range b.Tools {
		s := &b.Tools[i]
		s.Rank = 1 + slices.IndexFunc(b.Tools, func(o analytics.Standing) bool { return o.Picks == s.Picks })
		s.RankLow, s.RankHigh = min(s.RankLow, s.Rank), max(s.RankHigh, s.Rank)
		s.BeatenBy = plainRivals(s.BeatenBy, b.Tools[:s.Rank-1], s.Picks)
	}
	for _, a := range now.Agents {
		b.Agents = append(b.Agents, plainAgent(a, pool(cells, a.Agent), old.Agents))
	}
	return b
}

// plainRivals returns the rivals ahead of a tool, with the tests that the snapshot has.
func plainRivals(old []analytics.Rival, ahead []analytics.Standing, picks int) []analytics.Rival {
	out := []analytics.Rival{}
	for _, s := range ahead {
		r, _ := find(old, func(r analytics.Rival) bool { return r.Slug == s.Slug })
		r.Tool, r.Slug, r.Rank, r.PickRate, r.Diff, r.URL = s.Tool, s.Slug, s.Rank, s.PickRate, share(s.Picks-picks, s.NTrials), s.URL
		out = append(out, r)
	}
	return out
}

func plainAgent(now analytics.AgentBoard, all analytics.Cell, old []analytics.AgentBoard) analytics.AgentBoard {
	was, _ := find(old, func(a analytics.AgentBoard) bool { return a.Agent == now.Agent })
	a := analytics.AgentBoard{Agent: now.Agent, NTrials: all.Trials, Unresolved: ifThere(was.Unresolved, now.Unresolved), Tools: []analytics.AgentRate{}}
	for _, t := range now.Tools {
		n := all.Picks(t.Slug)
		a.Tools = append(a.Tools, analytics.AgentRate{Slug: t.Slug, PickRate: share(n, all.Trials), Picks: n})
	}
	sorting.Func(a.Tools, func(x, y analytics.AgentRate) int {
		return cmp.Or(cmp.Compare(y.Picks, x.Picks), strings.Compare(x.Slug, y.Slug))
	})
	return a
}

// pool sums the cells of an agent, or of all if it is empty.
func pool(cells []analytics.Cell, agent string) analytics.Cell {
	var one []analytics.Cell
	for _, c := range cells {
		if agent == "" || c.Agent == agent {
			c.Prompt, c.Agent, c.Template = "", "", ""
			one = append(one, c)
		}
	}
	if sum := analytics.Merge(one, nil); len(sum) > 0 {
		return sum[0]
	}
	return analytics.Cell{}
}

func countOf(c analytics.Cell, slug string) analytics.ToolCount {
	t, _ := find(c.Tools, func(t analytics.ToolCount) bool { return t.Slug == slug })
	return t
}

func find[T any](list []T, is func(T) bool) (found T, ok bool) {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i], true
	}
	return found, false
}

// ifThere returns a count where the old board has one: older programs did not count it.
func ifThere[T any](old, now *T) *T {
	if old == nil {
		return nil
	}
	return now
}

// marked returns warnings that mark simulated agents if, and only if, there are any.
func marked(warnings []string, synthetic bool) []string {
	out := slices.DeleteFunc(slices.Clone(warnings), func(w string) bool { return w == analytics.Synthetic })
	if synthetic {
		out = append(out, analytics.Synthetic)
		slices.Sort(out)
	}
	return out
}

// share rounds as formulas 1 did, whatever package analytics does later.
func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return math.Round(float64(n)/float64(of)*1e6) / 1e6
}
