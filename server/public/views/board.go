package views

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A boardPage is a leaderboard.
type boardPage struct {
	*analytics.Board
	full          *analytics.Board // of which it may be a part: it has the colours
	Claim, Domain string
	Standing      string       // how surely the first tool is ahead; empty where that is not tested
	Noun, Nouns   string       // agent or model
	Asked         *render.Link // the only prompt; nil where there are several
	Used          *used        // what agents used in real work, of the same category
	Doubts        []render.Warning
	Agreement     *analytics.FieldAgreement // with what agents used; nil for one prompt, whose order says little
	Age           age
	Forest        render.Forest
	Shortlisted   string   // the first tool by shortlist rate, where another is first by pick rate
	Reading       []string // how to read the ranks, and the tools without a pick
	Matrix        render.Matrix
	Outcomes      []outcome
	OutcomeBar    template.HTML
	Notes         []string
	Prompts       []promptRow
	Filters       []filter
	Cite          string
	Dataset       *dataset
	HasTrials     bool
	Single        bool          // one prompt
	Pairs         []render.Link // comparisons of the first tools
	// Selection says which trials the board is of, Whole is the path of all; empty for all.
	Selection, Whole string
}

// Shortlists reports whether the plot has the shortlist or the default rate.
func (d boardPage) Shortlists() bool {
	return d.Forest.Legend() != ""
}

// More names the filters that are shown when asked for.
func (d boardPage) More() string {
	var names []string
	sort := ""
	for _, f := range d.Filters {
		switch {
		case f.Folded && f.Name == "Sort":
			sort = f.Name
		case f.Folded:
			names = append(names, strings.ToLower(f.Name))
		}
	}
	switch {
	case len(names) == 0:
		return sort
	case sort == "":
		return "Filter by " + and(names)
	}
	return sort + ", filter by " + and(names)
}

// Leaders are the tools that have a colour of their own.
func (d boardPage) Leaders() (out []portion) {
	for _, s := range d.full.Tools[:min(maxBarTools, len(d.full.Tools))] {
		if s.Picks > 0 && classOf(d.full, s.Slug) != otherClass {
			out = append(out, portion{Class: classOf(d.full, s.Slug), Tool: s.Tool})
		}
	}
	return out
}

// Others reports whether a prompt has picks of tools without a colour.
func (d boardPage) Others() bool {
	return slices.ContainsFunc(d.Prompts, func(p promptRow) bool { return p.Others })
}

// NoPick reports whether a prompt has answers without a pick.
func (d boardPage) NoPick() bool {
	return slices.ContainsFunc(d.Prompts, func(p promptRow) bool { return p.NoPick })
}

// Narrowed reports whether one of them is in use.
func (d boardPage) Narrowed() bool {
	return slices.ContainsFunc(d.Filters, func(f filter) bool { return f.Folded && !f.Options[0].On })
}

// An outcome is how trials ended, with the class of its colour.
type outcome struct {
	Name, Class, Share, Link string
	N                        int
}

// A promptRow is a prompt of a board and what agents picked.
type promptRow struct {
	Name, Text, Link string
	Tags             []string
	Bar              template.HTML
	Top              []portion
	N                string
	Others, NoPick   bool // it has picks of tools without a colour, answers without a pick
	lead             float64
}

// A filter is a dimension of a board with its values as links.
type filter struct {
	Name    string
	Folded  bool // shown when asked for
	Options []option
}

// An option is a value of a filter.
type option struct {
	Text, Title, Link string
	On                bool
}

func (r *Renderer) board(category string) (Page, error) {
	i := slices.IndexFunc(r.in.Boards, func(b analytics.Board) bool { return b.Category == category })
	b := &r.in.Boards[i]
	d := r.boardData(b, "")
	d.Filters = r.filters(b, Filter{}, nil)
	return r.page("board", boardHead(b, d.Claim), d)
}

func boardHead(b *analytics.Board, claim string) render.Head {
	return render.Head{
		Path: boardPath(b.Category), Title: b.Name + ": which tools AI " + nounOf(b) + "s pick", Section: "boards", Image: "/og" + boardPath(b.Category) + ".png",
		Description: fmt.Sprintf("%s Pick rates of %d tools, from %s.", claim, b.Field, quantity(b.NTrials, "answer")),
	}
}

// standing says whether the first tool of a board is ahead of the second significantly; empty for
// one prompt, without a test, and where the claim says it.
func standing(b *analytics.Board, claim string) string {
	if render.Single(*b) || len(b.Tools) < 2 || b.Tools[1].Picks == 0 || b.Tools[0].PickRate == b.Tools[1].PickRate || strings.HasPrefix(claim, noLead) {
		return ""
	}
	first, second := b.Tools[0], b.Tools[1]
	text, verb := "The lead", "is"
	if len(b.Agents) > 1 {
		text = fmt.Sprintf("Taken together, %s is first with %s; its lead", first.Tool, chart.Fixed(first.PickRate))
	}
	if unproven(second, first.Slug) {
		verb = "is not"
	}
	return fmt.Sprintf("%s over %s, with %s, %s significant.", text, second.Tool, chart.Fixed(second.PickRate), verb)
}

// boardData is a board for its page, with the tools in an order; see Filter.
func (r *Renderer) boardData(b *analytics.Board, order string) boardPage {
	ordered := sorted(b, order)
	d := boardPage{
		Board: b, full: r.find(b.Category), Domain: render.DomainName(b.Domain), Age: ageOf(b.AsOf, r.in.Now), Cite: cite(r.in, b), Dataset: datasetOf(r.in, b),
		HasTrials: r.in.Trials, Single: render.Single(*b), Forest: render.NewForest(ordered, standingPath),
	}
	if d.Claim, _ = claim(b); b.NPrompts == 1 {
		d.Claim = "On one prompt, " + inSentence(d.Claim)
	}
	d.Standing = standing(b, d.Claim)
	d.Reading, d.Forest.RankNote, d.Forest.Bound = []string{d.Forest.RankNote, d.Forest.Bound}, "", ""
	d.Reading = slices.DeleteFunc(d.Reading, func(s string) bool { return s == "" })
	if slices.Contains(d.Forest.Metrics, "Shortlist") {
		d.Shortlisted = shortlisted(b)
	}
	d.Noun, d.Used, d.Doubts = nounOf(b), r.used(b), render.Doubts(b, b.Tools[:min(1, len(b.Tools))]...)
	if text := equalAnswers(b); text != "" {
		d.Doubts = append(d.Doubts, render.Warning{Title: "Equal answers", Text: text})
	}
	if !render.Single(*b) {
		d.Agreement = b.FieldAgreement
	}
	for _, note := range render.BoardNotes(*b) {
		d.Notes = append(d.Notes, inTermsOf(b, note))
	}
	d.Nouns = render.Capital(d.Noun) + "s"
	if len(b.Prompts) == 1 {
		if p := &b.Prompts[0]; p.Text != "" {
			d.Asked = &render.Link{Path: PromptPath(b.Category, p.Name()), Text: clip(p.Text, maxAsked)}
		}
	}
	trials := func(pairs ...string) string { return "" }
	if r.in.Trials {
		trials = func(pairs ...string) string { return TrialsPath(b.Category, pairs...) }
	}
	d.Matrix = render.NewMatrix(ordered, func(a string) string { return agentPath(agentSlug(a)) }, standingPath,
		func(agent, slug string) string { return trials("agent", agent, "tool", slug) })
	d.Matrix.Caption = inTermsOf(b, d.Matrix.Caption)
	d.Outcomes, d.OutcomeBar = outcomesOf(b, trials)
	for i := range b.Prompts {
		d.Prompts = append(d.Prompts, r.promptRow(b, &b.Prompts[i]))
	}
	sorting.StableFunc(d.Prompts, descending(func(p promptRow) float64 { return p.lead }))
	for i := range min(3, len(b.Tools)) {
		for j := i + 1; j < min(3, len(b.Tools)); j++ {
			if b.Tools[j].Picks > 0 {
				d.Pairs = append(d.Pairs, render.Link{Path: ComparePath(b.Tools[i].Slug, b.Tools[j].Slug), Text: b.Tools[i].Tool + " or " + b.Tools[j].Tool})
			}
		}
	}
	return d
}

// equalAnswers says with how many agents of a board of one prompt all answers are alike; empty where with none.
func equalAnswers(b *analytics.Board) string {
	n := 0
	for _, a := range b.Agents {
		if a.NTrials > 1 && mostOf(a.Tools).PickRate == 1 {
			n++
		}
	}
	if n == 0 || !render.Single(*b) {
		return ""
	}
	return fmt.Sprintf("%s of %s pick%s the same tool in every answer: more answers to this prompt say nothing more of them", render.Capital(small(n)), quantity(len(b.Agents), nounOf(b)), verbEnding(n))
}

// shortlisted says that another tool than the first by pick rate is first by shortlist rate; else it is empty.
func shortlisted(b *analytics.Board) string {
	if len(b.Tools) < 2 || b.Tools[0].Picks == 0 {
		return ""
	}
	first := b.Tools[0]
	most := slices.MaxFunc(b.Tools, func(x, y analytics.Standing) int { return cmp.Compare(x.ShortlistRate, y.ShortlistRate) })
	own, other := chart.Fixed(first.ShortlistRate), chart.Fixed(most.ShortlistRate)
	if own == other {
		return ""
	}
	return fmt.Sprintf("On the shortlist %s is first: in %s of answers, %s in %s. Not tested.", most.Tool, other, first.Tool, own)
}

// Planned says which part of the planned trials is valid.
func (d boardPage) Planned() string {
	if d.Coverage == nil {
		return "of an unknown number"
	}
	return chart.Percent(*d.Coverage) + " of those planned"
}

// Means says what the rates are of.
func (d boardPage) Means() string { return estimand(d.Board) }

func standingPath(s analytics.Standing) string { return toolPath(s.Slug) }

// TrialsPath is the path of the list of trials of a category, with filters in pairs of name
// and value.
func TrialsPath(category string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	path := boardPath(category) + "/trials"
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	return path
}

// outcomesOf lists how trials ended, and draws them as one bar.
func outcomesOf(b *analytics.Board, trials func(...string) string) (out []outcome, bar template.HTML) {
	var parts []chart.Part
	open := 0
	if b.Unresolved != nil {
		open = *b.Unresolved
	}
	for _, o := range []struct {
		code, name, class string
		n                 int
	}{
		{"tool", "picked a tool of this list", "r2", b.Outcomes.Tool}, {"diy", "built their own", "r3", b.Outcomes.DIY}, {"other", "picked another tool", "r4", b.Outcomes.Other},
		{"none", "picked no tool", "r5", b.Outcomes.None}, {"ambiguous", "undecided between tools", "r6", b.Outcomes.Ambiguous - open},
		{"unresolved", "unresolved: no rule applies, counted as ambiguous", "r6", open},
		{"refused", "refused", "rest", b.Outcomes.Refused}, {"truncated", "cut off", "rest", b.Outcomes.Truncated},
	} {
		if o.n > 0 {
			out = append(out, outcome{o.name, o.class, chart.Percent(float64(o.n) / float64(b.NTrials)), trials("outcome", o.code), o.n})
			parts = append(parts, chart.Part{Series: chart.Series{Class: o.class, Name: o.name}, Value: int64(o.n)})
		}
	}
	return out, chart.Split(parts, int64(b.NTrials), "Outcomes of "+quantity(b.NTrials, "answer"))
}

// maxAsked is how many characters of its only prompt a board shows.
const maxAsked = 320

// maxRowText is how many characters of a prompt a row shows.
const maxRowText = 180

func (r *Renderer) promptRow(b *analytics.Board, p *analytics.Prompt) promptRow {
	full := r.find(b.Category)
	row := promptRow{Name: p.Name(), Text: clip(p.Text, maxRowText), Link: PromptPath(b.Category, p.Name()), N: chart.Whole(int64(p.NTrials))}
	for _, tag := range analytics.CutTags() {
		if v := p.Tags[tag]; v != "" {
			row.Tags = append(row.Tags, v)
		}
	}
	tools := slices.Clone(p.Tools)
	place := func(t analytics.PromptTool) int {
		return slices.IndexFunc(full.Tools, func(s analytics.Standing) bool { return s.Slug == t.Slug })
	}
	sorting.StableFunc(tools, func(x, y analytics.PromptTool) int { return y.Picks - x.Picks })
	var parts []chart.Part
	picks, others := 0, 0
	for i, t := range tools {
		if t.Picks == 0 {
			continue
		}
		rate := float64(t.Picks) / float64(p.NTrials)
		if i < 3 {
			row.Top = append(row.Top, portion{Class: classOf(full, t.Slug), Tool: nameOf(b, t.Slug), Rate: chart.Percent(rate)})
		}
		switch i {
		case 0:
			row.lead = rate
		case 1:
			row.lead -= rate
		}
	}
	// In the order of the board, so that a colour has its place in all bars.
	sorting.StableFunc(tools, func(x, y analytics.PromptTool) int { return place(x) - place(y) })
	for _, t := range tools {
		if t.Picks == 0 {
			continue
		}
		class, name, rate := classOf(full, t.Slug), nameOf(b, t.Slug), float64(t.Picks)/float64(p.NTrials)
		if picks += t.Picks; class == otherClass {
			others += t.Picks
		} else {
			parts = append(parts, barPart(class, name, rate))
		}
	}
	if row.Others, row.NoPick = others > 0, picks < p.NTrials; row.Others {
		parts = append(parts, barPart(otherClass, "other tools", float64(others)/float64(p.NTrials)))
	}
	row.Bar = chart.Split(parts, whole, "Picks of prompt "+p.Name())
	return row
}

// PromptPath is the path of the page of a prompt, EVAL/PROMPT.
func PromptPath(category, prompt string) string {
	return boardPath(category) + "/prompts/" + (&url.URL{Path: prompt}).EscapedPath()
}

// clip shortens a text to n characters, at a space where there is one.
func clip(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	cut := n
	for i := n; i > n*2/3; i-- {
		if runes[i] == ' ' {
			cut = i
			break
		}
	}
	return string(runes[:cut]) + " …"
}
