package observed

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics/stats"
	facts "github.com/firstpick/firstpick/fixtures/observed"
	"github.com/firstpick/firstpick/fixtures/sorting"
)

// A tally counts the units of a category by repository.
type tally struct {
	category Category
	units    []facts.Unit   // that use a tool of the category
	repos    map[string]int // place in sizes
	sizes    []int          // units by repository
	uses     [][]int        // by tool and repository
}

func tallyOf(s *facts.Study, c Category) *tally {
	var units []facts.Unit
	for _, u := range s.Units {
		if slices.ContainsFunc(u.Tools[c.Slug], func(slug string) bool { return c.place(slug) >= 0 }) {
			units = append(units, u)
		}
	}
	return newTally(c, units)
}

// place returns the index of a tool, -1 for one that the category does not have.
func (c Category) place(slug string) int {
	i, ok := slices.BinarySearchFunc(c.Tools, slug, func(t Tool, slug string) int { return strings.Compare(t.Slug, slug) })
	if !ok {
		return -1
	}
	return i
}

func newTally(c Category, units []facts.Unit) *tally {
	t := &tally{category: c, units: units, repos: map[string]int{}, uses: make([][]int, len(c.Tools))}
	for _, u := range units {
		if _, known := t.repos[u.Repo]; !known {
			t.repos[u.Repo] = len(t.repos)
		}
	}
	t.sizes = make([]int, len(t.repos))
	for i := range t.uses {
		t.uses[i] = make([]int, len(t.repos))
	}
	for _, u := range units {
		r := t.repos[u.Repo]
		t.sizes[r]++
		for _, slug := range u.Tools[c.Slug] {
			if i := c.place(slug); i >= 0 {
				t.uses[i][r]++
			}
		}
	}
	return t
}

// rates estimates the shares of all tools.
func (t *tally) rates(d *stats.Design) ([]stats.Estimate, []stats.Rate) {
	estimates, rates := make([]stats.Estimate, len(t.uses)), make([]stats.Rate, len(t.uses))
	for i, counts := range t.uses {
		estimates[i] = d.Estimate(counts)
		rates[i] = d.Rate(estimates[i])
	}
	d.Borrow(estimates, rates)
	return estimates, rates
}

func sum(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

func (t *tally) reposWith(tool int) (n int) {
	for _, uses := range t.uses[tool] {
		if uses > 0 {
			n++
		}
	}
	return n
}

// inOne returns how many uses of a tool are in the repository with most of them.
func (t *tally) inOne(tool int) (most int) {
	for _, uses := range t.uses[tool] {
		most = max(most, uses)
	}
	return most
}

// reposOf returns the number of repositories with a use of a tool, and the uses in the one with most; 0 for a
// tool that the category does not have.
func (t *tally) reposOf(slug string) (with, inOne int) {
	i := t.category.place(slug)
	if i < 0 {
		return 0, 0
	}
	return t.reposWith(i), t.inOne(i)
}

// warnings returns the doubts about the counts, sorted.
func (t *tally) warnings() []string {
	out := []string{}
	if len(t.repos) < MinRepos {
		out = append(out, FewRepositories)
	}
	if len(t.units) < MinUnits {
		out = append(out, FewUnits)
	}
	if t.dominated() {
		out = append(out, OneRepository)
	}
	return out
}

// part returns the part of a board, with the tools that it used.
func (t *tally) part() Part {
	p := Part{NUnits: len(t.units), NRepos: len(t.repos), Warnings: t.warnings(), Tools: []Rate{}}
	_, rates := t.rates(stats.NewRatio(t.sizes))
	for i, r := range rates {
		if uses := sum(t.uses[i]); uses > 0 {
			p.Tools = append(p.Tools, Rate{t.category.Tools[i].Slug, useOf(r, uses), t.reposWith(i), t.inOne(i)})
		}
	}
	sorting.Func(p.Tools, func(x, y Rate) int {
		return cmp.Or(cmp.Compare(y.UseRate, x.UseRate), strings.Compare(x.Slug, y.Slug))
	})
	return p
}

// A group is the units with one value of a key.
type group struct {
	name  string
	tally *tally
}

// split groups the units by a key, the largest group first.
func (t *tally) split(key func(facts.Unit) string) []group {
	by := map[string][]facts.Unit{}
	for _, u := range t.units {
		by[key(u)] = append(by[key(u)], u)
	}
	var out []group
	for name, units := range by {
		out = append(out, group{name, newTally(t.category, units)})
	}
	sorting.Func(out, func(a, b group) int {
		return cmp.Or(len(b.tally.units)-len(a.tally.units), strings.Compare(a.name, b.name))
	})
	return out
}
