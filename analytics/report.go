package analytics

import "slices"

// Report returns one tool's part of the board, and whether the tool is on it.
// It shares nothing with the board but the tags of prompts.
func (b Board) Report(slug string) (Report, bool) {
	i := slices.IndexFunc(b.Tools, func(s Standing) bool { return s.Slug == slug })
	if i < 0 {
		return Report{}, false
	}
	s := b.Tools[i]
	breakdown := newCopier("").breakdown(s.Breakdown)
	if breakdown != nil {
		breakdown.ByPrompt = b.byPrompt(slug)
	}
	return Report{
		Tool: s.Tool, Slug: s.Slug, Category: b.Category, PickRate: s.PickRate,
		CILow: s.CILow, CIHigh: s.CIHigh, FlatLow: s.FlatLow, FlatHigh: s.FlatHigh,
		Rank: s.Rank, RankLow: s.RankLow, RankHigh: s.RankHigh, Field: b.Field,
		DefaultRate: s.DefaultRate, ShortlistRate: s.ShortlistRate, FirstNamedRate: copyOfValue(s.FirstNamedRate), Picks: s.Picks, NTrials: s.NTrials,
		Detail: copyOfDetail(s.Detail), Estimand: b.Estimand, Coverage: copyOfValue(b.Coverage), AsOf: copyOfValue(b.AsOf), Synthetic: b.Synthetic, Warnings: b.warningsOf(s),
		BeatenBy: copyOf(s.BeatenBy), Breakdown: breakdown, URL: s.URL, Labelled: s.Labelled, ExtractionError: b.ExtractionError,
		FieldRate: copyOfValue(s.FieldRate),
	}, true
}

// warningsOf returns the doubts about the board and about one tool's rate, sorted.
func (b Board) warningsOf(s Standing) []string {
	out := append(append([]string{}, b.Warnings...), s.Warnings...) // never nil, which would print as null
	slices.Sort(out)
	return slices.Compact(out)
}

// Item returns the board's line in the list of categories.
func (b Board) Item() CategoryItem {
	return CategoryItem{
		Slug: b.Category, Name: b.Name, Domain: b.Domain, Study: b.Study, Field: b.Field, NTrials: b.NTrials, AsOf: copyOfValue(b.AsOf), URL: b.URL,
	}
}

// WithBase returns a deep copy whose URLs begin with base, an address without
// trailing slash.
func (b Board) WithBase(base string) Board {
	c := newCopier(base)
	b.URL, b.AsOf, b.Warnings = base+b.URL, copyOfValue(b.AsOf), copyOf(b.Warnings)
	b.Tools, b.Agents, b.Cuts, b.Prompts = copyOf(b.Tools), copyOf(b.Agents), slices.Clone(b.Cuts), c.prompts(b.Prompts)
	b.Coverage, b.Consistency, b.BoardDetail = copyOfValue(b.Coverage), copyOfValue(b.Consistency), copyOfValue(b.BoardDetail)
	b.FieldAgreement = b.FieldAgreement.withBase(base)
	b.Unresolved, b.DecidedBy, b.Judge = copyOfValue(b.Unresolved), copyOfValue(b.DecidedBy), copyOfValue(b.Judge)
	for i := range b.Tools {
		s := &b.Tools[i]
		s.Tool, s.Slug, s.URL, s.Warnings, s.BeatenBy = c.text(s.Tool), c.text(s.Slug), c.url(s.URL), copyOf(s.Warnings), c.rivals(s.BeatenBy)
		s.FirstNamedRate, s.Detail, s.Breakdown, s.FieldRate = copyOfValue(s.FirstNamedRate), copyOfDetail(s.Detail), c.breakdown(s.Breakdown), s.FieldRate.withBase(base)
	}
	for i := range b.Cuts {
		cut := &b.Cuts[i]
		cut.Warnings, cut.Tools = copyOf(cut.Warnings), c.rates(cut.Tools)
	}
	for i := range b.Agents {
		a := &b.Agents[i]
		a.Agent, a.Tools, a.Unresolved = c.text(a.Agent), c.rates(a.Tools), copyOfValue(a.Unresolved)
	}
	return b
}

// WithBase returns a deep copy whose URLs begin with base.
func (r Report) WithBase(base string) Report {
	c := newCopier(base)
	r.URL, r.AsOf, r.Warnings = base+r.URL, copyOfValue(r.AsOf), copyOf(r.Warnings)
	r.BeatenBy, r.FirstNamedRate = c.rivals(r.BeatenBy), copyOfValue(r.FirstNamedRate)
	r.Detail, r.Coverage, r.Breakdown, r.FieldRate = copyOfDetail(r.Detail), copyOfValue(r.Coverage), c.breakdown(r.Breakdown), r.FieldRate.withBase(base)
	return r
}

// WithBase returns a copy whose URL begins with base.
func (c CategoryItem) WithBase(base string) CategoryItem {
	c.URL = base + c.URL
	return c
}

func copyOfDetail(d *Detail) *Detail {
	if d = copyOfValue(d); d == nil {
		return nil
	}
	d.RawRate, d.PopulationLow, d.PopulationHigh = copyOfValue(d.RawRate), copyOfValue(d.PopulationLow), copyOfValue(d.PopulationHigh)
	d.BoundLow, d.BoundHigh = copyOfValue(d.BoundLow), copyOfValue(d.BoundHigh)
	d.WithoutAgent, d.WithoutFamily, d.Variance = copyOfValue(d.WithoutAgent), copyOfValue(d.WithoutFamily), copyOfValue(d.Variance)
	return d
}

// copyOf clones a slice and makes nil empty: a board read from JSON has no
// BeatenBy, and null is not a list.
func copyOf[T any](s []T) []T { return append([]T{}, s...) }

func copyOfValue[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
