package evalpages

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/traceview"
)

// A summary is the content and the cost of an eval.
type summary struct {
	Category, Description string
	Prompts, Repeats      int
	Templates             string
	Trials                string
	Expected, Worst       string
	Agents                []evals.AgentSummary
	Keys                  []keyState
	Missing               []string
	Synthetic             bool
	Warnings              []string
}

// A keyState says whether a provider key that an eval needs is set.
type keyState struct {
	Name string
	Set  bool
}

func (v *visit) summary(e *evals.Eval) *summary {
	s := &summary{
		Category: v.category(e.Category), Description: e.Description, Prompts: e.Prompts, Repeats: e.Repeats, Templates: strings.Join(e.Templates, ", "),
		Trials: chart.Count(e.Trials, "trial", "trials"), Expected: chart.MaybeMoney(e.ExpectedUSD), Worst: chart.MaybeMoney(e.WorstUSD), Agents: e.Agents,
		Synthetic: e.Synthetic, Warnings: e.Warnings, Missing: e.MissingKeys,
	}
	for _, name := range e.ProviderKeys {
		s.Keys = append(s.Keys, keyState{name, !slices.Contains(e.MissingKeys, name)})
	}
	if s.Templates == "none" {
		s.Templates = "" // an empty folder, which needs no saying
	}
	return s
}

type evalData struct {
	Page     layout.Page
	Paid     bool
	Notice   string
	Problem  string
	ID, Name string
	Version  int
	Updated  string
	Summary  *summary
	Budget   string // suggested
	Worst    bool   // it is the worst case
	Typed    bool   // it was typed
	Once     string // makes a form that is sent twice start one run
	Runs     []runRow
	History  string
	Versions []choice
	Earlier  int // versions that are not listed
	Edit     string
	Source   string
	Settings string
	Action   string
	Schedule *scheduleView // nil without one
	Plan     string        // where the schedule is
	Erase    *layout.Erase
}

// versionsListed is how many versions an eval's page names.
const versionsListed = 10

// notices returns the notices of an eval's page after an action.
func notices() []traceview.Term {
	return []traceview.Term{
		{Key: "created", Name: "Saved."},
		{Key: "saved", Name: "Saved. Active runs keep their version."},
		{Key: "accepted", Name: "Saved: your tool's entry and its eval. Runs start below."},
		{Key: "confirm", Name: "Saved, and no run has started: the plan was for other models. Check the cost of this one below, then start the run."},
		{Key: "same", Name: "No change: identical to the previous version."},
	}
}

func (v *visit) eval() error {
	e, err := v.h.Evals.Eval(v.R.Context(), v.actor(), v.param("eval"))
	if err != nil {
		return err
	}
	budget := v.R.URL.Query().Get("budget")
	if _, err := dollars(budget); err != nil {
		budget = ""
	}
	return v.showEval(http.StatusOK, e, "", budget)
}

// showEval answers with the page of an eval. After a problem the form of a new run
// holds the budget that was typed.
func (v *visit) showEval(status int, e *evals.Eval, problem, budget string) error {
	d := evalData{
		Page: v.page(), Paid: v.paid(), Problem: problem, ID: e.ID, Name: e.Name, Version: e.Version, Updated: chart.Minute(e.UpdatedAt), Summary: v.summary(e),
		Once: v.h.Sessions.Secrets.ID("form_"), History: v.at("runs") + "?eval=" + e.ID, Edit: v.at("evals", e.ID, "edit"), Source: e.Source,
		Settings: v.at("settings", "evals"), Action: v.at("evals", e.ID, "runs"), Plan: v.at("evals", e.ID, "schedule"),
	}
	var err error
	if d.Schedule, _, err = v.scheduleOf(e); err != nil {
		return err
	}
	for _, t := range notices() {
		if t.Key == v.R.URL.Query().Get("done") && v.R.Method == http.MethodGet {
			d.Notice = t.Name
		}
	}
	d.Budget, d.Worst = budgetOf(e)
	d.Erase = v.eraseEvalForm(e, "all runs of it")
	if d.Typed = budget != ""; d.Typed {
		d.Budget = budget
	}
	runs, _, err := v.h.Evals.Runs(v.R.Context(), v.actor(), evals.RunQuery{EvalID: e.ID, Limit: runsAlongside})
	if err != nil {
		return err
	}
	for _, r := range runs {
		row := v.runRow(r)
		if row.Result, err = v.leads(r); err != nil {
			return err
		}
		d.Runs = append(d.Runs, row)
	}
	for n := e.Version; n > 0 && len(d.Versions) < versionsListed; n-- {
		d.Versions = append(d.Versions, choice{Name: "Version " + strconv.Itoa(n), Link: v.at("evals", e.ID, "versions", strconv.Itoa(n)), On: n == e.Version})
	}
	d.Earlier = e.Version - len(d.Versions)
	return v.Show(status, "workspace-ev-eval", e.Name, d)
}

// budgetOf suggests a budget: the worst case if it is known, so that no
// trial is left out.
func budgetOf(e *evals.Eval) (text string, worst bool) {
	switch {
	case e.WorstUSD != nil:
		return up(*e.WorstUSD), true
	case e.ExpectedUSD != nil:
		return up(*e.ExpectedUSD), false
	}
	return "", false
}

type versionData struct {
	Page         layout.Page
	Name         string
	Version      int
	Latest       bool
	When         string
	Summary      *summary
	Source       string
	Back         string
	Older, Newer string
}

// version shows an earlier version of an eval.
func (v *visit) version() error {
	number, _ := strconv.Atoi(v.param("n")) // invalid numbers become 0, an unknown version
	e, err := v.h.Evals.Version(v.R.Context(), v.actor(), v.param("eval"), number)
	if err != nil {
		return err
	}
	latest, err := v.h.Evals.Eval(v.R.Context(), v.actor(), e.ID)
	if err != nil {
		return err
	}
	d := versionData{
		Page: v.page(), Name: e.Name, Version: e.Version, Latest: e.Version == latest.Version, When: chart.Minute(e.UpdatedAt), Summary: v.summary(e),
		Source: e.Source, Back: v.at("evals", e.ID),
	}
	if e.Version > 1 {
		d.Older = v.at("evals", e.ID, "versions", strconv.Itoa(e.Version-1))
	}
	if !d.Latest {
		d.Newer = v.at("evals", e.ID, "versions", strconv.Itoa(e.Version+1))
	}
	return v.Show(http.StatusOK, "workspace-ev-version", e.Name+", version "+strconv.Itoa(e.Version), d)
}
