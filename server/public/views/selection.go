package views

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// An UnknownValueError is a filter by a value that the board does not have.
type UnknownValueError struct {
	Name, Value string
	Known       []render.Link // the values that it has
}

// Error implements error.
func (e *UnknownValueError) Error() string {
	return fmt.Sprintf("No trial of this board has the %s %q.", e.Name, e.Value)
}

// Selection renders a board of the trials that a filter selects. cells are those of the whole
// board; they are read only where the filter selects by something. The error is an
// *UnknownValueError for values that the board does not have.
func (r *Renderer) Selection(category string, f Filter, cells []analytics.Cell) (Page, error) {
	i := slices.IndexFunc(r.in.Boards, func(b analytics.Board) bool { return b.Category == category })
	if i < 0 {
		return Page{}, fmt.Errorf("no board of %s", category)
	}
	whole := &r.in.Boards[i]
	templates := templatesOf(cells)
	if err := f.check(whole, templates); err != nil {
		return Page{}, err
	}
	b := whole
	if !f.All() {
		part := rankPart(whole, f, cells)
		b = &part
	}
	d := r.boardData(b, f.Sort)
	d.Filters = r.filters(whole, f, templates)
	h := boardHead(b, d.Claim)
	h.Own, h.NoIndex = f.Path(category), true
	if !f.All() {
		d.Selection = fmt.Sprintf("Only %s: %s of %s.", f.text(), chart.Whole(int64(b.NTrials)), quantity(whole.NTrials, "trial"))
		d.Whole, d.Dataset = Filter{}.Path(category), nil
		d.Forest.Metrics = nil // what answers named besides is not counted by these
		for i := range d.Forest.Rows {
			d.Forest.Rows[i].Metrics = nil
		}
		h.Title += ", " + f.text()
		d.Cite = citeOf(r.in, b, b.Name+", only "+f.text(), r.in.BaseURL+f.Path(category))
		h.Description = d.Selection + " " + h.Description
	}
	return r.page("board", h, d)
}

// text describes a selection.
func (f Filter) text() string {
	var parts []string
	if f.Agent != "" {
		parts = append(parts, render.AgentName(f.Agent))
	}
	if name, value, ok := strings.Cut(f.Tag, ":"); ok {
		parts = append(parts, "prompts with "+name+" "+value)
	}
	if f.Template != "" {
		parts = append(parts, "project "+f.Template)
	}
	return strings.Join(parts, ", ")
}

// check finds a value that the board does not have.
func (f Filter) check(b *analytics.Board, templates []string) error {
	var agents, tags []string
	for _, a := range b.Agents {
		agents = append(agents, a.Agent)
	}
	for _, tag := range analytics.CutTags() {
		tags = append(tags, tagValues(b, tag)...)
	}
	for _, c := range []struct {
		name, value string
		known       []string
		with        func(string) Filter
	}{
		{"agent", f.Agent, agents, func(v string) Filter { return Filter{Agent: v} }},
		{"tag", f.Tag, tags, func(v string) Filter { return Filter{Tag: v} }},
		{"template", f.Template, templates, func(v string) Filter { return Filter{Template: v} }},
		{"order", f.Sort, []string{"shortlist", "default", "picks", "name"}, func(v string) Filter { return Filter{Sort: v} }},
	} {
		if c.value == "" || slices.Contains(c.known, c.value) {
			continue
		}
		e := &UnknownValueError{Name: c.name, Value: c.value}
		for _, v := range c.known {
			e.Known = append(e.Known, render.Link{Path: c.with(v).Path(b.Category), Text: v})
		}
		return e
	}
	return nil
}

func templatesOf(cells []analytics.Cell) []string {
	names := map[string]bool{}
	for _, c := range cells {
		if c.Template != "" {
			names[c.Template] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// rankPart ranks the tools of a board by the cells that a filter selects.
func rankPart(whole *analytics.Board, f Filter, cells []analytics.Cell) analytics.Board {
	tag, value, _ := strings.Cut(f.Tag, ":")
	m := analytics.Measurement{Category: categoryOf(whole), Synthetic: whole.Synthetic, Design: designOf(whole)}
	for _, c := range cells {
		if (f.Agent == "" || c.Agent == f.Agent) && (f.Template == "" || c.Template == f.Template) && (tag == "" || m.Design.Tags[c.Prompt][tag] == value) {
			m.Cells, m.Planned = append(m.Cells, c), m.Planned+c.Trials
		}
	}
	for _, doubt := range []string{analytics.CoverageUnknown, analytics.Incomplete, analytics.StoppedByRule} {
		if slices.Contains(whole.Warnings, doubt) {
			m.Doubts = append(m.Doubts, doubt)
		}
	}
	b := analytics.Rank(m)
	if slices.Contains(whole.Warnings, analytics.Unlabelled) {
		b.Warnings = append(b.Warnings, analytics.Unlabelled)
		slices.Sort(b.Warnings)
	}
	b.URL, b.Estimand, b.AsOf = whole.URL, "", whole.AsOf
	texts := map[string]analytics.Prompt{}
	for _, p := range whole.Prompts {
		texts[p.Name()] = p
	}
	for _, p := range m.Prompts() {
		p.Text, p.SHA256, p.Tags = texts[p.Name()].Text, texts[p.Name()].SHA256, texts[p.Name()].Tags
		b.Prompts = append(b.Prompts, p)
	}
	return b
}

// categoryOf returns the category that a board ranks.
func categoryOf(b *analytics.Board) *catalog.Category {
	c := &catalog.Category{Slug: b.Category, Name: b.Name, Domain: catalog.Domain(b.Domain), Study: b.Study}
	for _, s := range b.Tools {
		c.Entries = append(c.Entries, catalog.Entry{Tool: &catalog.Tool{Slug: s.Slug, Name: s.Tool, Home: c}})
	}
	sorting.Func(c.Entries, func(x, y catalog.Entry) int { return strings.Compare(x.Tool.Slug, y.Tool.Slug) })
	return c
}

// designOf returns how the trials of a board count.
func designOf(b *analytics.Board) analytics.Design {
	d := analytics.Design{Families: map[string]string{}, Tags: map[string]map[string]string{}, Weights: map[string]float64{}}
	for _, p := range b.Prompts {
		d.Tags[p.Name()] = p.Tags
		if p.Family != "" {
			d.Families[p.Name()] = p.Family
		}
	}
	for _, a := range b.Agents {
		d.Weights[a.Agent] = a.Weight
	}
	return d
}
