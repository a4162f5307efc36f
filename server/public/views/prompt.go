package views

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/kit/traceview"
)

type promptPage struct {
	Name, Board, BoardLink string
	Text, SHA256, Since    string // Since is when the hash was published
	Family                 string
	Tags                   []render.Fact
	N                      int
	Sentence               string
	Forest                 render.Forest
	Matrix                 render.Matrix
	Outcomes               []outcome
	OutcomeBar             template.HTML
	Trials, JSON           string
	Noun                   string        // agent or model
	Others                 []render.Link // prompts of the same family
}

// Prompt renders the page of a prompt EVAL/PROMPT of a category; ok is false for an unknown one.
func (r *Renderer) Prompt(category, name string) (p Page, ok bool, err error) {
	b := r.find(category)
	if b == nil {
		return p, false, nil
	}
	of := findPrompt(b, name)
	if of == nil {
		return p, false, nil
	}
	part := promptBoard(b, of)
	d := promptPage{
		Name: name, Board: b.Name, BoardLink: boardPath(category), Text: traceview.Visible(of.Text), SHA256: of.SHA256, Since: render.Day(b.AsOf), N: of.NTrials,
		Noun: nounOf(b), Sentence: promptSentence(&part), Forest: promptForest(&part), JSON: "/api/public/prompts?category=" + category,
	}
	if !strings.HasPrefix(of.Family, "~") { // a key of equal texts says nothing
		d.Family = of.Family
	}
	for _, tag := range analytics.CutTags() {
		if v := of.Tags[tag]; v != "" {
			d.Tags = append(d.Tags, render.Fact{Name: strings.ToUpper(tag[:1]) + tag[1:], Value: v})
		}
	}
	trials := func(...string) string { return "" }
	if r.in.Trials {
		trials = func(pairs ...string) string { return TrialsPath(category, append(pairs, "prompt", name)...) }
	}
	d.Trials = trials()
	d.Matrix = render.NewMatrix(&part, func(a string) string { return agentPath(agentSlug(a)) }, standingPath,
		func(agent, slug string) string { return trials("agent", agent, "tool", slug) })
	d.Matrix.Caption = "Pick rates with this prompt, by " + nounOf(b)
	d.Outcomes, d.OutcomeBar = outcomesOf(&part, trials)
	for _, o := range b.Prompts {
		if of.Family != "" && o.Family == of.Family && o.Name() != name {
			d.Others = append(d.Others, render.Link{Path: PromptPath(category, o.Name()), Text: cmp.Or(clip(o.Text, maxTitle), o.Name())})
		}
	}
	title := "Prompt " + name
	if of.Text != "" {
		title = "Prompt: " + clip(of.Text, maxTitle)
	}
	p, err = r.page("prompt", render.Head{Path: PromptPath(category, name), Title: title, Description: d.Sentence + " " + quantity(of.NTrials, "answer") + " in " + b.Name + ".", Section: "boards"}, d)
	return p, true, err
}

// promptBoard is the board of one prompt: the shares of its trials, which all count the same.
func promptBoard(b *analytics.Board, p *analytics.Prompt) analytics.Board {
	rate := func(n, of int) float64 { return float64(n) / float64(max(1, of)) }
	out := analytics.Board{Category: b.Category, Name: b.Name, NTrials: p.NTrials, NPrompts: 1, Outcomes: p.Outcomes, Warnings: []string{analytics.SinglePrompt}, Synthetic: b.Synthetic, Study: b.Study}
	for _, s := range b.Tools {
		i := slices.IndexFunc(p.Tools, func(t analytics.PromptTool) bool { return t.Slug == s.Slug })
		n := analytics.PromptTool{}
		if i >= 0 {
			n = p.Tools[i]
		}
		out.Tools = append(out.Tools, analytics.Standing{
			Tool: s.Tool, Slug: s.Slug, PickRate: rate(n.Picks, p.NTrials), ShortlistRate: rate(n.Shortlists, p.NTrials), CIHigh: 1, Picks: n.Picks, NTrials: p.NTrials,
		})
	}
	sorting.StableFunc(out.Tools, func(x, y analytics.Standing) int { return y.Picks - x.Picks })
	for i := range out.Tools {
		out.Tools[i].Rank = 1 + slices.IndexFunc(out.Tools, func(s analytics.Standing) bool { return s.Picks == out.Tools[i].Picks })
	}
	for _, a := range p.Agents {
		board := analytics.AgentBoard{Agent: a.Agent, NTrials: a.NTrials}
		for _, s := range out.Tools {
			n := 0
			if i := slices.IndexFunc(a.Tools, func(t analytics.AgentPick) bool { return t.Slug == s.Slug }); i >= 0 {
				n = a.Tools[i].Picks
			}
			board.Tools = append(board.Tools, analytics.AgentRate{Slug: s.Slug, PickRate: rate(n, a.NTrials), Picks: n})
		}
		out.Agents = append(out.Agents, board)
	}
	return out
}

// promptForest draws the tools of one prompt as bars, with their counts.
func promptForest(b *analytics.Board) render.Forest {
	f := render.NewForest(b, standingPath)
	f.Caption, f.Metrics = "Tools by pick rate with this prompt", []string{"Shortlist", "Picks"}
	same := true
	for i := range f.Rows {
		at := slices.IndexFunc(b.Tools, func(s analytics.Standing) bool { return s.Slug == f.Rows[i].Slug })
		f.Rows[i].Metrics = []string{chart.Fixed(b.Tools[at].ShortlistRate), chart.Whole(int64(b.Tools[at].Picks))}
		same = same && b.Tools[at].ShortlistRate == b.Tools[at].PickRate
	}
	if same { // the column would repeat the pick rates
		f.Metrics = f.Metrics[1:]
		for i := range f.Rows {
			f.Rows[i].Metrics = f.Rows[i].Metrics[1:]
		}
	}
	return f
}

func promptSentence(b *analytics.Board) string {
	if b.NTrials == 0 {
		return fmt.Sprintf("No %s answered this prompt yet.", nounOf(b))
	}
	text, _ := claim(b)
	if n := b.Outcomes.Tool; n > 0 && n < b.NTrials {
		text += fmt.Sprintf(" %s picked no tool of this list.", quantity(b.NTrials-n, "answer"))
	}
	return text
}
