package evalpages

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/kit/chart"
)

type traceData struct {
	Page         layout.Page
	Run          head
	ID           string
	Prompt       string
	PromptText   string
	Agent        string
	Template     string
	Repeat       int
	Outcome      term
	Picked       string
	Excluded     string // why it was given up
	Why          term   // how the outcome was decided
	Say          string // the tool that was said where another was used
	FirstNamed   string // the tool that the message names first
	Shortlist    []string
	Rejected     []string
	Evidence     []evidenceRow
	Facts        []fact
	Attempts     []attemptRow
	Answered     int // the attempt that was
	Notes        []string
	Text         []piece
	TextLeft     string // how much of it is not shown
	Structured   []piece
	Commands     []commandRow
	CommandsLeft int
	Files        []fileRow
	FilesLeft    int
	Study        string  // that published imports and no code
	Imports      []piece // that it lists
	Sources      []sourceRow
	SourcesLeft  int
	Stop         term
	Back         string
	Before       string
	Behind       string
	Kinds        []term
	Synthetic    bool
}

type fact struct{ Name, Value string }

// An evidenceRow is one reason for the outcome. Link is its place on the page;
// empty where that is not shown.
type evidenceRow struct {
	Number      int
	Tool, Quote string
	Kind        term
	Where, Link string
}

type attemptRow struct {
	Number       int
	When, Reason string
	Cost         string
}

// stops returns why an agent stopped, where that decides the outcome.
func stops() []term {
	return []term{
		{"length", "The length limit truncated the answer.", "", ""},
		{"refusal", "The provider reported a refusal.", "", ""},
		{"turns", "Turn limit reached.", "", ""},
		{"cost", "Cost limit reached.", "", ""},
		{"time", "Time limit reached.", "", ""},
		{"incomplete", "The program exited before its result.", "", ""},
		{"limit", "Memory, disk or process limit reached.", "", ""},
	}
}

// trace shows one trial: prompt, answer, and how its outcome was decided.
func (v *visit) trace() error {
	r, b, release, err := v.results()
	if err != nil {
		return err
	}
	defer release()
	data, err := b.Trace(v.R.Context(), v.param("trial"))
	if err != nil {
		return missingTrial(err)
	}
	var t trialset.Trace
	if err := json.Unmarshal(data, &t); err != nil {
		return err
	}
	tools, err := toolsOf(b)
	if err != nil {
		return err
	}
	f := filterOf(v.R.URL.Query())
	before, behind, err := neighbours(v.R.Context(), b, f, t.ID)
	if err != nil {
		return err
	}
	list := v.at("runs", r.ID, "traces")
	to := func(id string) string {
		if id == "" {
			return ""
		}
		return list + "/" + id + queryOf(f)
	}
	d := traceData{
		Page: v.page(), Run: v.head(r, "Traces"), ID: t.ID, Prompt: t.Prompt, PromptText: visible(t.PromptText), Agent: t.Agent, Repeat: t.Repeat,
		Outcome: outcomeOf(&t.Entry), Picked: named(tools, t.Picked), Answered: t.Attempt, Back: list + queryOf(f), Before: to(before), Behind: to(behind),
		Kinds: kinds(), Synthetic: b.Manifest.Synthetic,
	}
	if t.Template != "none" {
		d.Template = t.Template
	}
	if t.Reason != "" {
		d.Excluded = visible(reason(t.Reason))
	}
	for _, a := range t.Attempts {
		d.Attempts = append(d.Attempts, newAttempt(&a))
	}
	quotes := d.result(&t, tools)
	if t.Answer != nil {
		d.answer(t.Answer, quotes)
	}
	d.facts(&t)
	d.link()
	return v.Show(http.StatusOK, "workspace-ev-trace", "Trial "+t.ID, d)
}

func newAttempt(a *trialset.Attempt) attemptRow {
	row := attemptRow{Number: a.Attempt, When: when(a.At), Reason: visible(reason(a.Reason))}
	switch {
	case a.CostUSD != nil && *a.CostUSD > 0:
		row.Cost = money(*a.CostUSD)
	case a.AtMostUSD != nil && *a.AtMostUSD > 0:
		row.Cost = "at most " + money(*a.AtMostUSD)
	}
	return row
}

// result fills in how the outcome was decided, and returns the evidence to mark.
func (d *traceData) result(t *trialset.Trace, tools []toolName) []quote {
	if t.Result == nil {
		return nil
	}
	if !t.Unresolved {
		d.Why = of(methods(), t.Result.Method)
	}
	if t.Result.Say != "" {
		d.Say = named(tools, t.Result.Say)
	}
	d.FirstNamed = named(tools, t.Result.FirstNamed)
	for _, slug := range t.Result.Shortlist {
		d.Shortlist = append(d.Shortlist, named(tools, slug))
	}
	for _, slug := range t.Result.Rejected {
		d.Rejected = append(d.Rejected, named(tools, slug))
	}
	var quotes []quote
	for i := range t.Result.Evidence {
		e := &t.Result.Evidence[i]
		row := evidenceRow{Number: i + 1, Tool: named(tools, e.Tool), Quote: visible(e.Quote), Kind: of(kinds(), e.Kind), Where: where(e)}
		row.Quote, _ = cut(row.Quote, lineShown)
		d.Evidence = append(d.Evidence, row)
		quotes = append(quotes, quote{i + 1, row.Tool, e})
	}
	return quotes
}

// where returns the part of the answer with the evidence.
func where(e *trialset.Evidence) string {
	switch e.In {
	case "finalText":
		return "answer"
	case "commands":
		return "command " + strconv.Itoa(e.Index+1)
	case "structured":
		return "structured answer"
	case "listing":
		return "as listed by the study"
	}
	if e.Line > 0 {
		return visible(e.Path) + ", added line " + strconv.Itoa(e.Line)
	}
	return visible(e.Path)
}

func (d *traceData) facts(t *trialset.Trace) {
	add := func(name, value string) {
		if value != "" {
			d.Facts = append(d.Facts, fact{name, value})
		}
	}
	if t.Answer == nil {
		return
	}
	if r := t.Result; r != nil {
		add(map[bool]string{false: "Rule", true: "Last rule tried"}[t.Unresolved], visible(r.Rule))
		add("Named first", d.FirstNamed)
		add("Language", visible(r.Language))
	}
	add("Model", visible(t.Answer.Model))
	add("Cost", maybeMoney(t.CostUSD))
	add("Took", seconds(t.WallMS))
	if k := t.Answer.Tokens; k != nil {
		add("Tokens read", chart.Whole(int64(k.Input)))
		add("Tokens written", chart.Whole(int64(k.Output)))
		if k.Reasoning > 0 {
			add("of them reasoning", chart.Whole(int64(k.Reasoning)))
		}
		if k.Searches > 0 {
			add("Web searches", chart.Whole(int64(k.Searches)))
		}
	}
	if t.FinishedAt != nil {
		add("Finished", when(*t.FinishedAt))
	}
}
