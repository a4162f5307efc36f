package views

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/kit/traceview"
)

// A Trial is one trial of the snapshot, to be shown whole.
type Trial struct {
	Category, Eval string
	Notice         string // what its text is, for agents that read the page
	Trace          trialset.Trace
}

type trialPage struct {
	traceview.View
	Title, Notice    string
	Board, BoardLink string
	All, JSON        string
	// Repeats lists the other answers of the agent to the prompt, PickedLink is the page of the
	// tool; empty where there is none.
	Repeats, PickedLink string
	Context             string // how often the prompt had this outcome
	Synthetic, Listed   bool   // Listed: a study published imports instead of the answer
	Category            string
}

// Answer is the final message as one text.
func (p trialPage) Answer() string { return joinPieces(p.Text) }

// JSONAnswer is the structured answer as one text.
func (p trialPage) JSONAnswer() string { return joinPieces(p.Structured) }

// Ran is the text of a command or a line.
func (trialPage) Ran(pieces []traceview.Piece) string { return joinPieces(pieces) }

// Code is what a file gained, as a code block of markdown.
func (trialPage) Code(f traceview.File) string {
	var lines []string
	for _, l := range f.Lines {
		lines = append(lines, joinPieces(l.Text))
	}
	return fenced(strings.Join(lines, "\n"))
}

func joinPieces(pieces []traceview.Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Trial renders the page of a trial.
func (r *Renderer) Trial(t Trial) (Page, error) {
	b := r.find(t.Category)
	if b == nil {
		b = &analytics.Board{Category: t.Category, Name: t.Category}
	}
	d := trialPage{
		View: traceview.New(&t.Trace, func(slug string) string { return nameOf(b, slug) }), Notice: t.Notice, Board: b.Name, BoardLink: boardPath(b.Category),
		All: TrialsPath(b.Category), JSON: "/api/public/trials/" + t.Trace.ID, Synthetic: t.Trace.Synthetic, Category: b.Category,
	}
	d.Prompt, d.Rest = t.Eval+"/"+t.Trace.Prompt, "the JSON"
	if r.agents[agentSlug(d.Agent)] != nil {
		d.AgentLink = agentPath(agentSlug(d.Agent))
	}
	d.PromptWithheld = "The text of this prompt is not published."
	if p := findPrompt(b, d.Prompt); p != nil {
		d.PromptLink, d.Repeats = PromptPath(b.Category, d.Prompt), TrialsPath(b.Category, "agent", d.Agent, "prompt", d.Prompt)
		if n := picksOf(*p, t.Trace.Picked); n > 0 && p.NTrials > 1 && t.Trace.Outcome == "tool" {
			d.Context = fmt.Sprintf("%s answers to this prompt picked %s: %s.", chart.Whole(int64(n))+" of "+chart.Whole(int64(p.NTrials)), nameOf(b, t.Trace.Picked), chart.Percent(float64(n)/float64(p.NTrials)))
		}
		if p.Text != "" {
			d.PromptText, d.PromptWithheld = traceview.Visible(p.Text), ""
		} else if p.SHA256 != "" {
			d.PromptWithheld = "The text of this prompt is under embargo."
		}
	}
	if res := t.Trace.Result; res != nil {
		d.Listed = slices.ContainsFunc(res.Evidence, func(e trialset.Evidence) bool { return e.Kind == "listed" })
	}
	if t.Trace.Answer == nil {
		if d.AnswerWithheld = withheld(r.in.Evidence); d.Listed {
			d.AnswerWithheld = "The study published the imports of this answer, not its text."
		}
	}
	if picked := t.Trace.Picked; r.tools[picked] != nil {
		d.PickedLink = toolPath(picked)
	}
	d.Title = trialTitle(&d.View, render.AgentName(d.Agent))
	text := d.Title + ", asked with prompt " + d.Prompt + "."
	if d.Why.Key != "" {
		text += " Decided " + d.Why.Name + "."
	}
	return r.page("trial", render.Head{Path: TrialPath(d.ID), Title: d.Title, Description: text, Section: "boards"}, d)
}

// withheld says why a snapshot has no answers, by how much of a trial it publishes.
func withheld(evidence string) string {
	switch trialset.Level(evidence) {
	case trialset.Quotes:
		return "This snapshot publishes quotes only."
	case trialset.None:
		return "This snapshot publishes outcomes only, without quotes."
	case trialset.Full:
	}
	return "This snapshot does not publish the answer."
}

// trialTitle says in one clause what the agent did.
func trialTitle(v *traceview.View, agent string) string {
	switch v.Outcome.Key {
	case "tool":
		return agent + " picked " + v.Picked
	case "diy":
		return agent + " built its own"
	case "other":
		if v.Picked != "" {
			return agent + " picked " + v.Picked + ", a tool outside this list"
		}
		return agent + " picked a tool outside this list"
	case "none":
		return agent + " picked nothing"
	case "ambiguous":
		return agent + " picked two or more"
	case trialset.Unresolved:
		return agent + " picked a tool that no rule decides"
	case "refused":
		return agent + " refused to answer"
	case "truncated":
		return agent + " was cut off"
	}
	return agent + " gave no answer"
}

// find returns the board of trials of a category, or nil.
func (r *Renderer) find(category string) *analytics.Board {
	if i := slices.IndexFunc(r.in.Boards, func(b analytics.Board) bool { return b.Category == category }); i >= 0 {
		return &r.in.Boards[i]
	}
	return nil
}

// findPrompt returns the prompt EVAL/PROMPT of a board, or nil.
func findPrompt(b *analytics.Board, name string) *analytics.Prompt {
	if i := slices.IndexFunc(b.Prompts, func(p analytics.Prompt) bool { return p.Name() == name }); i >= 0 {
		return &b.Prompts[i]
	}
	return nil
}

// fenced is a text as a code block of markdown, which ends nowhere in the text.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + strings.TrimSuffix(text, "\n") + "\n" + fence
}
