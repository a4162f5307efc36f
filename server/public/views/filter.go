package views

import (
	"net/url"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A Filter selects trials of a board, and orders its tools. The zero Filter selects all, by
// pick rate.
type Filter struct {
	Agent    string
	Tag      string // NAME:VALUE
	Template string
	Sort     string // shortlist, default, picks or name
}

// All reports whether the filter selects all trials.
func (f Filter) All() bool { return f.Agent == "" && f.Tag == "" && f.Template == "" }

// Path is the path of a board with a filter.
func (f Filter) Path(category string) string {
	q := url.Values{}
	for name, value := range map[string]string{"agent": f.Agent, "tag": f.Tag, "template": f.Template, "sort": f.Sort} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if len(q) == 0 {
		return boardPath(category)
	}
	return boardPath(category) + "?" + q.Encode()
}

// maxUnfolded is how many values a filter has that is shown at once.
const maxUnfolded = 12

// filters lists what a board can be filtered by; now is the filter of the page.
func (r *Renderer) filters(b *analytics.Board, now Filter, templates []string) (out []filter) {
	add := func(name, all string, values []string, text func(string) string, chosen *string) {
		if len(values) == 0 || len(values) == 1 && name != "Sort" {
			return
		}
		f, kept := filter{Name: name, Folded: chosen == &now.Sort || chosen == &now.Tag || chosen == &now.Template || len(values) > maxUnfolded}, *chosen
		*chosen = ""
		f.Options = append(f.Options, option{Text: all, Link: now.Path(b.Category), On: !slices.Contains(values, kept)})
		for _, v := range values {
			*chosen = v
			f.Options = append(f.Options, option{Text: text(v), Title: v, Link: now.Path(b.Category), On: kept == v})
		}
		*chosen = kept
		out = append(out, f)
	}
	if r.in.Trials {
		var agents []string
		for _, a := range b.Agents {
			agents = append(agents, a.Agent)
		}
		noun := nounOf(b)
		add(render.Capital(noun), "All "+noun+"s", agents, render.AgentName, &now.Agent)
		for _, tag := range analytics.CutTags() {
			add(render.Capital(tag), "All", tagValues(b, tag), func(v string) string { return strings.TrimPrefix(v, tag+":") }, &now.Tag)
		}
		add("Project", "All projects", templates, func(s string) string { return s }, &now.Template)
	}
	sorts := []string{"shortlist", "default", "name"}
	switch {
	case len(picked(b)) < leastSorted:
		sorts = nil
	case !now.All():
		sorts = []string{"picks", "name"} // the others are not counted
	}
	if len(sorts) > 0 {
		sorts = slices.DeleteFunc(sorts, func(v string) bool { return v != "name" && sameOrder(b, v) })
	}
	add("Sort", "By pick rate", sorts, func(v string) string {
		return map[string]string{"shortlist": "By shortlist rate", "default": "By default rate", "picks": "By picks", "name": "By name"}[v]
	}, &now.Sort)
	return out
}

// sameOrder reports whether a board has the same order of tools when sorted.
func sameOrder(b *analytics.Board, by string) bool {
	return slices.EqualFunc(b.Tools, sorted(b, by).Tools, func(x, y analytics.Standing) bool { return x.Slug == y.Slug })
}

// leastSorted is how many picked tools a board has that can be sorted: fewer are seen at once.
const leastSorted = 3

// picked returns the tools of a board that an answer picked.
func picked(b *analytics.Board) []analytics.Standing {
	return slices.DeleteFunc(slices.Clone(b.Tools), func(s analytics.Standing) bool { return s.Picks == 0 })
}

// tagValues lists the values of a tag, as NAME:VALUE.
func tagValues(b *analytics.Board, tag string) (out []string) {
	for _, c := range b.Cuts {
		if c.Tag == tag {
			out = append(out, tag+":"+c.Value)
		}
	}
	return out
}

// sorted returns a board with its tools in an order.
func sorted(b *analytics.Board, by string) *analytics.Board {
	var less func(x, y analytics.Standing) int
	switch by {
	case "shortlist":
		less = descending(func(s analytics.Standing) float64 { return s.ShortlistRate })
	case "default":
		less = descending(func(s analytics.Standing) float64 { return s.DefaultRate })
	case "picks":
		less = descending(func(s analytics.Standing) float64 { return float64(s.Picks) })
	case "name":
		less = func(x, y analytics.Standing) int {
			return strings.Compare(strings.ToLower(x.Tool), strings.ToLower(y.Tool))
		}
	default:
		return b
	}
	out := *b
	out.Tools = slices.Clone(b.Tools)
	sorting.StableFunc(out.Tools, less)
	return &out
}

func descending[T any](of func(T) float64) func(x, y T) int {
	return func(x, y T) int {
		switch a, b := of(x), of(y); {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	}
}
