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
	// Previous and Next are the trials around it, of Repeats of its agent and its prompt; nil
	// and 0 where the snapshot does not list them.
	Previous, Next *trialset.Entry
	Repeats        int
}

type trialPage struct {
	traceview.View
	Title, Notice    string
	Board, BoardLink string
	All, JSON        string
	// Others lists the other answers of the agent to the prompt, PickedLink is the page of the
	// tool; each is empty if it does not exist, as are Previous and Next.
	Others, PickedLink string
	Previous, Next     *render.Link
	Compare            *render.Link // the pick with the other first tool of the board
	Context            string       // how often the prompt had this outcome
	Doubt              string       // that answers may be read wrong; empty where they are not read
	Cite               string
	Synthetic          bool
	Category           string
	Noun               string // agent or model
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
		All: TrialsPath(b.Category), JSON: "/api/public/trials/" + t.Trace.ID, Synthetic: t.Trace.Synthetic, Category: b.Category, Noun: nounOf(b),
	}
	d.Prompt, d.Rest, d.Repeats, d.Beside = t.Eval+"/"+t.Trace.Prompt, "the JSON", t.Repeats, true
	d.Previous, d.Next = neighbour(b, t.Previous), neighbour(b, t.Next)
	if r.agents[agentSlug(d.Agent)] != nil {
		d.AgentLink = agentPath(agentSlug(d.Agent))
	}
	d.PromptWithheld = "The text of this prompt is not published."
	if p := findPrompt(b, d.Prompt); p != nil {
		d.PromptLink, d.Others = PromptPath(b.Category, d.Prompt), TrialsPath(b.Category, "agent", d.Agent, "prompt", d.Prompt)
		d.Context = promptContext(b, p, &t.Trace)
		if p.Text != "" {
			d.PromptText, d.PromptWithheld = traceview.Visible(p.Text), ""
		} else if p.SHA256 != "" {
			d.PromptWithheld = "The text of this prompt is under embargo."
		}
	}
	listed := t.Trace.Result != nil && slices.ContainsFunc(t.Trace.Result.Evidence, func(e trialset.Evidence) bool { return e.Kind == "listed" })
	if t.Trace.Answer == nil {
		if d.AnswerWithheld = withheld(r.in.Evidence); listed {
			d.AnswerWithheld = "The study published the imports of this answer, not its text."
		}
	}
	d.Doubt = readingDoubt(b, &t.Trace, listed)
	if picked := t.Trace.Picked; r.tools[picked] != nil {
		d.PickedLink = toolPath(picked)
	}
	d.Compare = withPick(b, t.Trace.Picked)
	image := "/og/home.png" // that of the board may show another tool
	if d.PickedLink != "" {
		image = "/og" + d.PickedLink + ".png"
	}
	d.Title = trialTitle(&d.View, render.AgentName(d.Agent))
	d.Cite = citeTrial(r.in, b, &d)
	text := d.Title + ", asked with prompt " + d.Prompt + "."
	if d.Why.Key != "" {
		text += " Decided " + d.Why.Name + "."
	}
	return r.page("trial", render.Head{Path: TrialPath(d.ID), Title: d.Title, Description: text, Section: "boards", Image: image}, d)
}

// readingDoubt says that the outcome of a trial may be read wrong; empty for a trial without an answer, for
// an outcome that no rule read, and on a board that has no measure of it and no warning.
func readingDoubt(b *analytics.Board, t *trialset.Trace, listed bool) string {
	switch e := b.ExtractionError; {
	case t.Result == nil || listed || t.Result.Method == "judge" || t.Result.Method == "given":
		return ""
	case e != nil:
		return fmt.Sprintf("Rules read the answers: on this board %s of outcomes are read wrong (95%% CI %s–%s, %s labels).", chart.Percent(e.Rate), chart.Percent(e.CILow), chart.Percent(e.CIHigh), chart.Whole(int64(e.NLabels)))
	case slices.Contains(b.Warnings, analytics.Unlabelled):
		return "Rules read the answers, and some are read wrong: check the answer before you cite it."
	}
	return ""
}

// withPick compares the tool that a trial picked with the first other tool of the board; nil
// where there is none.
func withPick(b *analytics.Board, slug string) *render.Link {
	if i := slices.IndexFunc(picked(b), func(s analytics.Standing) bool { return s.Slug == slug }); i < 0 {
		return nil
	}
	for _, s := range picked(b) {
		if s.Slug != slug {
			return &render.Link{Path: ComparePath(slug, s.Slug), Text: nameOf(b, slug) + " and " + s.Tool}
		}
	}
	return nil
}

// neighbour links a trial by its repeat and outcome; nil if absent.
func neighbour(b *analytics.Board, e *trialset.Entry) *render.Link {
	if e == nil {
		return nil
	}
	text := traceview.Of(traceview.Outcomes(), e.Outcome).Name
	if e.Outcome == "tool" {
		text = nameOf(b, e.Picked)
	}
	return &render.Link{Path: TrialPath(e.ID), Text: fmt.Sprintf("%d · %s", e.Repeat, text)}
}

// promptContext says how often the agent, and every agent, had the outcome with a prompt; empty
// where there is one answer.
func promptContext(b *analytics.Board, p *analytics.Prompt, t *trialset.Trace) string {
	own := slices.IndexFunc(p.Agents, func(a analytics.PromptAgent) bool { return a.Agent == t.Agent })
	if own < 0 || p.NTrials < 2 || t.Outcome == trialset.Excluded {
		return ""
	}
	a := p.Agents[own]
	did, mine, all := "picked "+nameOf(b, t.Picked), 0, picksOf(*p, t.Picked)
	for _, pick := range a.Tools {
		if t.Outcome != "tool" || pick.Slug == t.Picked {
			mine += pick.Picks
		}
	}
	ofThem := ""
	if t.Outcome != "tool" {
		did, mine, all = "picked no single tool of the list", a.NTrials-mine, p.NTrials-p.Outcomes.Tool
		if diy := p.Outcomes.DIY; t.Outcome == "diy" && diy == all {
			did = "built its own"
		} else if t.Outcome == "diy" && diy > 0 { // the board counts own work by prompt alone
			ofThem = fmt.Sprintf(", %s of them own work", chart.Whole(int64(diy)))
		}
	}
	if mine < 1 || all < mine { // a board without these counts
		return ""
	}
	text := fmt.Sprintf("%s %s in %s of %s to this prompt", render.AgentName(t.Agent), did, chart.Whole(int64(mine)), quantity(a.NTrials, "answer"))
	if len(p.Agents) > 1 {
		text += fmt.Sprintf("; all %s in %s of %s (%s)", quantity(len(p.Agents), nounOf(b)), chart.Whole(int64(all)), chart.Whole(int64(p.NTrials)), chart.Fixed(float64(all)/float64(p.NTrials)))
	}
	return text + ofThem + "."
}

// citeTrial is how to cite a trial of a snapshot; empty without a snapshot.
func citeTrial(in Input, b *analytics.Board, d *trialPage) string {
	if in.SnapshotID == "" {
		return ""
	}
	kind := ""
	if d.Synthetic {
		kind = " (a simulated agent: not a measurement)"
	}
	which, data := fmt.Sprintf("repeat %d", d.Repeat), ""
	if d.Listing != nil && d.Listing.Record != nil {
		if r := d.Listing.Record; r.Answers > 1 { // the study has no order
			which = fmt.Sprintf("one of %d answers with these imports, numbered by firstpick", r.Answers)
		}
		if c := d.Listing.Record.Citation; c != "" {
			data = " Data: " + strings.TrimSuffix(c, ".") + "."
		}
	}
	text := fmt.Sprintf("firstpick: %s%s. Trial %s of %s, %s. Snapshot %s, %s.%s", d.Title, kind, d.ID, b.Name, which, in.SnapshotID, render.Day(b.AsOf), data)
	return text + " " + in.BaseURL + TrialPath(d.ID)
}

// imagePath is the path of the picture of a board.
func imagePath(b *analytics.Board) string { return "/og" + boardPath(b.Category) + ".png" }

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
	if v.Listing != nil {
		switch {
		case v.Outcome.Key == "none" && len(v.Listing.Imports) == 0:
			return agent + ": the study lists no import"
		}
		switch v.Outcome.Key {
		case "none", "other":
			return agent + " imported no tool of the list"
		case "ambiguous":
			return agent + " imported two or more tools of the list"
		}
	}
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
		return agent + " picked no tool"
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
