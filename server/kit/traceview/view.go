// Package traceview turns a trial into what a page shows of it: how its outcome was decided,
// the evidence, marked in the texts where it stands, and the answer. The private page of a
// run and the public page of a snapshot share it. Texts are those of agents: they are plain,
// with invisible characters written out, and templates escape them.
package traceview

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// A View is one trial. New fills in all fields but those of the page around it.
type View struct {
	ID         string
	Prompt     string
	PromptText string
	Agent      string
	Template   string // empty if absent
	Repeat     int    // from 1
	Repeats    int    // of the agent and the prompt; 0 if unknown
	Outcome    Term
	Picked     string
	Excluded   string // why it was given up
	Why        Term   // how the outcome was decided
	Say        string // the tool that was said where another was used
	Shortlist  []string
	Rejected   []string
	Evidence   []Evidence
	Kinds      []Term // of evidence, strongest first
	Reading    []Fact // of how it was decided
	Facts      []Fact // of how it was asked
	Attempts   []Attempt
	Answered   int // the attempt that was
	Notes      []string
	Text       []Piece
	TextLeft   string // how much of it is not shown
	Structured []Piece
	Commands   []Command
	Files      []File
	Listing    *Listing // of a study that published imports and no text; nil for other answers
	Sources    []Source
	Stop       Term
	// How many are not shown.
	CommandsLeft, FilesLeft, SourcesLeft int

	// Of the page. Rest is where everything is that is too long for it; Withheld says why the
	// prompt or the answer is not shown; empty where it is.
	Rest                           string
	PromptLink, AgentLink          string
	PromptWithheld, AnswerWithheld string
	// Beside leaves out the quotes of evidence that is marked in the answer: the page shows both at once.
	Beside bool
}

// maxDeciding is how many characters a quote has in the sentence that says what decided.
const maxDeciding = 160

// Deciding returns the first evidence that decided, where its quote is published and short enough to
// stand in a sentence; nil if absent.
func (v View) Deciding() *Evidence {
	for i := range v.Evidence {
		if e := &v.Evidence[i]; e.Decided && e.Quote != "" && utf8.RuneCountInString(e.Quote) <= maxDeciding {
			return e
		}
	}
	return nil
}

// A Fact is a figure of a trial.
type Fact struct{ Name, Value string }

// Evidence is one reason for the outcome. Link is its place on the page; empty where that is
// not shown.
type Evidence struct {
	Number      int
	Tool, Quote string
	Kind        Term
	Where, Link string
	// Decided marks the evidence that decided the outcome, Rejected what speaks of a tool that
	// was rejected.
	Decided, Rejected bool
}

// An Attempt is a failed attempt.
type Attempt struct {
	Number             int
	When, Reason, Cost string
}

// New returns the view of a trial. named returns the name of a tool by its slug.
func New(t *trialset.Trace, named func(slug string) string) View {
	v := View{
		ID: t.ID, Prompt: t.Prompt, PromptText: Visible(t.PromptText), Agent: t.Agent, Repeat: t.Repeat, Outcome: OutcomeOf(&t.Entry), Picked: named(t.Picked),
		Answered: t.Attempt, Kinds: kinds(),
	}
	if t.Template != "none" {
		v.Template = t.Template
	}
	if t.Reason != "" {
		v.Excluded = Visible(Reason(t.Reason))
	}
	for _, a := range t.Attempts {
		v.Attempts = append(v.Attempts, newAttempt(&a))
	}
	quotes := v.result(t, named)
	if t.Answer != nil {
		v.answer(t.Answer, quotes)
	}
	v.Listing = v.newListing(t, named)
	v.facts(t, named)
	v.link()
	return v
}

func newAttempt(a *trialset.Attempt) Attempt {
	row := Attempt{Number: a.Attempt, When: chart.Minute(a.At), Reason: Visible(Reason(a.Reason))}
	switch {
	case a.CostUSD != nil && *a.CostUSD > 0:
		row.Cost = chart.Money(*a.CostUSD)
	case a.AtMostUSD != nil && *a.AtMostUSD > 0:
		row.Cost = "at most " + chart.Money(*a.AtMostUSD)
	}
	return row
}

// asksBack is the meaning of an outcome without a pick whose answer asks the user.
const asksBack = "The answer picks no tool: it asks back, for a choice or for missing facts."

// asksUser reports whether an answer picks nothing and asks the user.
func asksUser(t *trialset.Trace) bool {
	return t.Picked == "" && slices.Contains(t.Result.Details, trialset.AskedUser)
}

// result fills in how the outcome was decided, and returns the evidence to mark.
func (v *View) result(t *trialset.Trace, named func(string) string) (quotes []quote) {
	if t.Result == nil {
		return nil
	}
	if !t.Unresolved {
		v.Why = Of(methods(), t.Result.Method)
	}
	if v.Why.Key == "deed" && slices.ContainsFunc(t.Result.Evidence, func(e trialset.Evidence) bool { return e.Kind == "listed" }) {
		v.Why.Name = "by the imports that the study lists"
	}
	if asksUser(t) {
		v.Outcome.Means = asksBack
	}
	if t.Result.Say != "" {
		v.Say = named(t.Result.Say)
	}
	for _, slug := range t.Result.Shortlist {
		v.Shortlist = append(v.Shortlist, named(slug))
	}
	for _, slug := range t.Result.Rejected {
		v.Rejected = append(v.Rejected, named(slug))
	}
	for i := range t.Result.Evidence {
		e := &t.Result.Evidence[i]
		row := Evidence{Number: len(v.Evidence) + 1, Tool: named(e.Tool), Quote: strings.ReplaceAll(Visible(e.Quote), "**", ""), Kind: Of(kinds(), e.Kind), Where: where(e)}
		row.Quote, _ = cut(row.Quote, lineShown)
		own := t.Outcome == "diy" && e.Tool == "" && e.Kind != "mention" // own work is the choice
		row.Decided = i == 0 && (own || e.Tool == t.Picked && t.Picked != "")
		row.Rejected = e.Kind != "rejection" && slices.Contains(t.Result.Rejected, e.Tool)
		if at := slices.IndexFunc(v.Evidence, row.repeats); at >= 0 { // the strongest comes first
			if e.Kind != "mention" && v.Evidence[at].Kind.Key != e.Kind {
				v.Evidence[at].Kind.Name += ", " + row.Kind.Name
			}
			continue
		}
		v.Evidence = append(v.Evidence, row)
		quotes = append(quotes, quote{row.Number, row.Tool, e})
	}
	return quotes
}

// repeats reports whether two pieces of evidence are the same words about the same tool.
func (e Evidence) repeats(o Evidence) bool {
	return e.Quote != "" && e.Quote == o.Quote && e.Tool == o.Tool && e.Where == o.Where && e.Rejected == o.Rejected
}

// where returns the part of the answer with the evidence.
func where(e *trialset.Evidence) string {
	switch e.In {
	case trialset.InText:
		return "answer"
	case trialset.InCommands:
		return "command " + strconv.Itoa(e.Index+1)
	case trialset.InStructured:
		return "structured answer"
	case trialset.InListing:
		return "as listed by the study"
	}
	if e.Line > 0 {
		return Visible(e.Path) + ", added line " + strconv.Itoa(e.Line)
	}
	return Visible(e.Path)
}

func (v *View) facts(t *trialset.Trace, named func(string) string) {
	add := func(name, value string) {
		if value != "" {
			v.Facts = append(v.Facts, Fact{name, value})
		}
	}
	if r := t.Result; r != nil {
		if v.Listing == nil { // it has its own reason
			rule := Of(rules(), r.Rule)
			if asksUser(t) {
				rule = Of(rules(), "asks")
			}
			add(map[bool]string{false: "Rule", true: "Last rule tried"}[t.Unresolved], Visible(rule.Name))
		}
		add("Named first", named(r.FirstNamed))
		v.Reading, v.Facts = v.Facts, nil
		add("Language", Visible(r.Language))
	}
	if a := t.Answer; a != nil {
		if a.Model != t.Agent {
			add("Model", Visible(a.Model))
		}
		if t.CostUSD != nil {
			add("Cost", chart.MaybeMoney(t.CostUSD))
		}
		if t.WallMS >= 50 { // 0.1 s
			add("Took", chart.Seconds(t.WallMS))
		}
		if k := a.Tokens; k != nil {
			add("Tokens read", chart.Whole(int64(k.Input)))
			add("Tokens written", chart.Whole(int64(k.Output)))
			if k.Reasoning > 0 {
				add("of them reasoning", chart.Whole(int64(k.Reasoning)))
			}
			if k.Searches > 0 {
				add("Web searches", chart.Whole(int64(k.Searches)))
			}
		}
	}
	if l := v.Listing; l != nil {
		r := l.Record
		if r == nil {
			r = &trialset.Record{}
		}
		for _, f := range []Fact{{"API", r.API}, {"Temperature", r.Temperature}, {"System prompt", r.System}} {
			add(f.Name, cmp.Or(f.Value, "not published"))
		}
	}
	if t.FinishedAt != nil {
		add(map[bool]string{false: "Finished", true: "Study ended"}[v.Listing != nil], chart.Minute(*t.FinishedAt)+" UTC")
	}
}
