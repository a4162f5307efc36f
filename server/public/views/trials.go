package views

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/kit/traceview"
)

// A TrialFilter selects trials of a category. Empty fields select all. Tool is a slug, Prompt
// EVAL/PROMPT, Outcome a key of traceview.Outcomes.
type TrialFilter struct{ Agent, Tool, Prompt, Outcome string }

// Path is the path of the list of trials that the filter selects in a category. cursor is
// that of a page; empty for the first.
func (f TrialFilter) Path(category, cursor string) string {
	var pairs []string
	for _, p := range [][2]string{{"agent", f.Agent}, {"tool", f.Tool}, {"prompt", f.Prompt}, {"outcome", f.Outcome}, {"cursor", cursor}} {
		if p[1] != "" {
			pairs = append(pairs, p[0], p[1])
		}
	}
	return TrialsPath(category, pairs...)
}

// data is the path of the same trials in the API.
func (f TrialFilter) data(category string) string {
	_, query, _ := strings.Cut(f.Path(category, ""), "?")
	path := "/api/public/trials?" + url.Values{"category": {category}}.Encode()
	if query != "" {
		path += "&" + query
	}
	return path
}

// A TrialRow is a trial of a list. Prompt is EVAL/PROMPT, Picked a slug or a name outside the
// category.
type TrialRow struct {
	ID, Prompt, Agent, Template, Outcome, Picked string
	Repeat                                       int
	Unresolved                                   bool
	// Listing is what a study published of the answer; nil for any other.
	Listing *trialset.Listing
}

// A TrialList is a page of the trials of a category. Cursor is its own, Next that of the page
// behind it; empty on the first and the last.
type TrialList struct {
	Category     string
	Filter       TrialFilter
	Cursor, Next string
	Rows         []TrialRow
	// Total is how many trials the filter selects, Before how many of them are on the pages before.
	Total, Before int
}

type trialsPage struct {
	Name, Link, Category, Sum string
	Noun                      string // agent or model
	Path                      string // of the list without a filter
	Filtered                  bool
	Prompt                    *trialLine // has the prompt of all rows; nil for several
	Filters                   []trialSelect
	Rows                      []trialLine
	Groups                    []trialGroup // answers without a text, by what they share
	First, Next, JSON         string
	Range                     string // of the rows of a list of several pages: 51–100 of 312
	Synthetic                 bool
}

// A trialSelect is a field of the filter form.
type trialSelect struct {
	Name, Label, All string
	Options          []trialOption
}

type trialOption struct {
	Value, Text string
	On          bool
}

type trialLine struct {
	Link, Prompt, Text, PromptLink string
	Repeat                         int
	Agent, AgentTitle, Template    string
	Outcome                        traceview.Term
	Picked, PickedLink             string
}

// Trials renders a page of the trials of a category; ok is false for an unknown category.
func (r *Renderer) Trials(l TrialList) (p Page, ok bool, err error) {
	b := r.find(l.Category)
	if b == nil {
		return p, false, nil
	}
	f := l.Filter
	d := trialsPage{
		Name: b.Name, Link: boardPath(b.Category), Category: b.Category, Path: TrialsPath(b.Category), Filtered: f != TrialFilter{}, Synthetic: b.Synthetic, Noun: nounOf(b),
		Sum:  fmt.Sprintf("%s of %s to %s.", quantity(b.NTrials, "answer"), quantity(len(b.Agents), nounOf(b)), quantity(b.NPrompts, "prompt")),
		JSON: f.data(b.Category), Filters: filterFields(b, f),
	}
	if l.Cursor != "" {
		d.First = f.Path(b.Category, "")
	}
	if l.Next != "" {
		d.Next = f.Path(b.Category, l.Next)
	}
	if n := len(l.Rows); n > 0 && !slices.ContainsFunc(l.Rows, func(row TrialRow) bool { return row.Prompt != l.Rows[0].Prompt }) {
		line := r.trialLine(b, l.Rows[0])
		if p := findPrompt(b, line.Prompt); p != nil {
			line.Text = clip(p.Text, maxOnlyText)
		}
		d.Prompt = &line
	}
	if d.Filtered {
		d.Sum = fmt.Sprintf("%s of %s match.", chart.Whole(int64(max(l.Total, len(l.Rows)))), quantity(b.NTrials, "answer"))
	}
	if n := len(l.Rows); n > 0 && (l.Cursor != "" || l.Next != "") {
		d.Range = fmt.Sprintf("%s–%s of %s", chart.Whole(int64(l.Before+1)), chart.Whole(int64(l.Before+n)), chart.Whole(int64(max(l.Total, l.Before+n))))
	}
	for _, row := range l.Rows {
		line := r.trialLine(b, row)
		if row.Listing == nil {
			d.Rows = append(d.Rows, line)
			continue
		}
		d.Groups = addToGroup(d.Groups, &line, row.Listing)
	}
	sorting.StableFunc(d.Groups, byImports)
	p, err = r.page("trials", render.Head{
		Path: f.Path(b.Category, l.Cursor), Title: "Trials of " + b.Name, Section: "boards", Image: imagePath(b), NoIndex: d.Filtered || l.Cursor != "",
		Description: "Every answer behind the pick rates of " + b.Name + ", one by one: prompt, agent, outcome and evidence. " + d.Sum,
	}, d)
	return p, true, err
}

// NounTitle is the heading of a column of agents.
func (d trialsPage) NounTitle() string { return render.Capital(d.Noun) }

// maxOnlyText is how many characters of its prompt a list shows.
const maxOnlyText = 400

func (r *Renderer) trialLine(b *analytics.Board, t TrialRow) trialLine {
	line := trialLine{
		Link: TrialPath(t.ID), Prompt: t.Prompt, Repeat: t.Repeat, Agent: render.AgentName(t.Agent), AgentTitle: t.Agent, Picked: nameOf(b, t.Picked),
		Outcome: traceview.Of(traceview.Outcomes(), t.Outcome),
	}
	if t.Unresolved {
		line.Outcome = traceview.Of(traceview.Outcomes(), "unresolved")
	}
	if t.Template != "none" {
		line.Template = t.Template
	}
	if p := findPrompt(b, t.Prompt); p != nil {
		line.Text, line.PromptLink = clip(p.Text, maxTitle), PromptPath(b.Category, t.Prompt)
	}
	if r.tools[t.Picked] != nil {
		line.PickedLink = toolPath(t.Picked)
	}
	return line
}

// filterFields lists what trials can be filtered by. A chosen value is always among them.
func filterFields(b *analytics.Board, f TrialFilter) []trialSelect {
	var agents, tools, prompts, outcomes []trialOption
	for _, a := range b.Agents {
		agents = append(agents, trialOption{Value: a.Agent, Text: render.AgentName(a.Agent)})
	}
	for _, s := range b.Tools {
		if s.Picks > 0 || s.Slug == f.Tool {
			tools = append(tools, trialOption{Value: s.Slug, Text: s.Tool})
		}
	}
	for _, p := range b.Prompts {
		text := p.Name()
		if p.Text != "" {
			text += ": " + clip(p.Text, maxTitle)
		}
		prompts = append(prompts, trialOption{Value: p.Name(), Text: text})
	}
	for _, o := range traceview.Outcomes() {
		outcomes = append(outcomes, trialOption{Value: o.Key, Text: o.Name})
	}
	return slices.Concat(
		fieldOf("agent", render.Capital(nounOf(b)), "All "+nounOf(b)+"s", f.Agent, agents), fieldOf("tool", "Picked", "Any or none", f.Tool, tools),
		fieldOf("prompt", "Prompt", "All prompts", f.Prompt, prompts), fieldOf("outcome", "Outcome", "All outcomes", f.Outcome, outcomes),
	)
}

// fieldOf is a field with a chosen value; none where there is nothing to choose.
func fieldOf(name, label, all, chosen string, options []trialOption) []trialSelect {
	at := slices.IndexFunc(options, func(o trialOption) bool { return o.Value == chosen })
	if at < 0 && chosen != "" {
		at, options = len(options), append(options, trialOption{Value: chosen, Text: chosen})
	}
	if at >= 0 {
		options[at].On = true
	} else if len(options) < 2 {
		return nil
	}
	return []trialSelect{{name, label, all, options}}
}
