package analytics

import "github.com/firstpick/firstpick/analytics/stats"

// Alone tests for itself how far one tool of a board is ahead of another: the 95 % interval and
// the two-sided p-value (Adjusted) are for this pair, where Rivals allow for all pairs of the
// board. ok is false where trials do not count the same, so that the counts by prompt do not give
// the rates, or where there are fewer than two prompt families.
func (b Board) Alone(ahead, behind Standing) (l stats.Lead, ok bool) {
	if ahead.Detail == nil || ahead.RawRate != nil {
		return l, false
	}
	type counts struct{ trials, ahead, behind int }
	var families []counts
	at := map[string]int{}
	for _, p := range b.Prompts {
		name := p.Family
		if name == "" {
			name = p.Name()
		}
		i, seen := at[name]
		if !seen {
			i = len(families)
			at[name], families = i, append(families, counts{})
		}
		families[i].trials += p.NTrials
		for _, t := range p.Tools {
			switch t.Slug {
			case ahead.Slug:
				families[i].ahead += t.Picks
			case behind.Slug:
				families[i].behind += t.Picks
			}
		}
	}
	if len(families) < 2 {
		return l, false
	}
	rows, first, second := make([][]int, len(families)), make([]int, len(families)), make([]int, len(families))
	for i, f := range families {
		if f.trials != families[0].trials || f.trials == 0 {
			return l, false
		}
		rows[i], first[i], second[i] = []int{f.trials}, f.ahead, f.behind
	}
	d := stats.NewDesign(rows, nil)
	estimates := []stats.Estimate{d.Estimate(first), d.Estimate(second)}
	return d.Compare(estimates, []stats.Rate{d.Rate(estimates[0]), d.Rate(estimates[1])}).Lead(0, 1)
}
