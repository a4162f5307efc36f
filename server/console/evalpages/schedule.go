package evalpages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/evals/resource"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/traceview"
)

const (
	// upcoming is how many times a schedule's page names.
	upcoming = 3
	// monthOfRuns is how many runs the suggested monthly budget pays: a weekly schedule.
	monthOfRuns = 5
)

// A scheduleForm is what was typed, or is stored.
type scheduleForm struct{ Every, At, Cron, Zone, Budget, Month string }

// A scheduleView is a schedule on pages.
type scheduleView struct {
	State        traceview.Term
	Times        string // in words; empty for custom ones
	Cron, Zone   string
	Why          string // it is paused
	Next         []string
	Last         string
	LastLink     string
	LastStatus   traceview.Term
	Used, Left   string
	Month, Until string
	Short        bool   // the month has too little left for a run
	Tight        string // why its runs would end early; empty where the budget covers one
	Failures     int
	Ticks        []tickRow
}

// A tickRow is a time of a schedule and its outcome.
type tickRow struct {
	When, Note, Link string
	Manual           bool
	Outcome          traceview.Term
	Status           traceview.Term // of the run
}

type scheduleData struct {
	Page          layout.Page
	Paid          bool
	Notice        string
	Problem       string
	Name, Back    string
	Action        string
	Settings      string
	Missing       []string
	Synthetic     bool          // its agents are simulated
	Schedule      *scheduleView // nil before there is one
	Form          scheduleForm
	Every         []choice // of the times
	Examples      []choice
	Zones         []string
	Expected      string
	Worst         string
	LatestVersion int
}

func scheduleStates() []traceview.Term {
	return []traceview.Term{
		{Key: resource.Active, Name: "Active", Means: "Starts runs at the scheduled times.", Look: "good"},
		{Key: resource.Paused, Name: "Paused", Means: "Starts no runs.", Look: "off"},
	}
}

func tickOutcomes() []traceview.Term {
	return []traceview.Term{
		{Key: "started", Name: "Started", Means: "A run was started.", Look: "good"},
		{Key: "skipped", Name: "Skipped", Means: "No run was started; the cause is temporary.", Look: "wait"},
		{Key: "failed", Name: "Failed", Means: "The run could not be started.", Look: "bad"},
		{Key: "missed", Name: "Missed", Means: "No server ran at this time.", Look: "off"},
	}
}

func scheduleNotices() []traceview.Term {
	return []traceview.Term{
		{Key: "saved", Name: "Schedule saved."},
		{Key: "paused", Name: "Schedule paused. A run under way continues."},
		{Key: "resumed", Name: "Schedule resumed."},
		{Key: "deleted", Name: "Schedule deleted. Its runs stay."},
	}
}

func scheduleExamples() []choice {
	return []choice{
		{Key: "0 6 * * MON", Name: "Mondays at 06:00"}, {Key: "30 5 * * *", Name: "every day at 05:30"}, {Key: "0 6 * * MON-FRI", Name: "weekdays at 06:00"},
		{Key: "0 6 1 * *", Name: "the first of each month at 06:00"}, {Key: "0 */6 * * *", Name: "every six hours"},
	}
}

const scheduleTime = "Mon 2 Jan 2006, 15:04 MST"

// scheduleOf returns the schedule of an eval; nil without one.
func (v *visit) scheduleOf(e *evals.Eval) (*scheduleView, *evals.Schedule, error) {
	s, err := v.h.Evals.Schedule(v.R.Context(), v.actor(), e.ID)
	if apierr.Of(err).Code == "schedule_not_found" {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	zone, err := time.LoadLocation(s.TimeZone)
	if err != nil {
		zone = time.UTC // it is paused, or will be at its next time
	}
	when := func(t time.Time) string { return t.In(zone).Format(scheduleTime) }
	view := &scheduleView{
		State: traceview.Of(scheduleStates(), s.Status), Times: timesText(s.Cron), Cron: s.Cron, Zone: s.TimeZone, Used: chart.Money(s.Month.UsedUSD), Left: chart.Money(s.Month.LeftUSD),
		Month: chart.Money(s.MonthlyBudgetUSD), Until: s.Month.EndsAt.In(zone).Format(day), Short: s.Month.LeftUSD < s.BudgetUSD, Failures: s.FailuresInARow,
	}
	if cost := e.ExpectedUSD; cost != nil && *cost > s.BudgetUSD {
		view.Tight = fmt.Sprintf("A run is expected to cost %s, and may cost %s: it would end early. Raise both budgets.", chart.Money(*cost), chart.Money(s.BudgetUSD))
	}
	if s.Pause != nil {
		view.Why = cmp.Or(s.Pause.Note, "Paused by a user") + " (" + when(s.Pause.At) + ")"
	}
	for _, t := range evals.Upcoming(s, upcoming) {
		view.Next = append(view.Next, when(t))
	}
	if last := s.LastRun; last != nil {
		view.Last, view.LastLink, view.LastStatus = when(last.At), v.at("runs", last.RunID), traceview.Of(statuses(), last.RunStatus)
	}
	for _, t := range s.Ticks {
		row := tickRow{When: when(t.At), Note: t.Note, Manual: t.Manual, Outcome: traceview.Of(tickOutcomes(), t.Outcome)}
		if t.RunID != "" {
			row.Link, row.Status = v.at("runs", t.RunID), traceview.Of(statuses(), t.RunStatus)
		}
		view.Ticks = append(view.Ticks, row)
	}
	return view, s, nil
}

// schedule shows the schedule of an eval, and its form.
func (v *visit) schedule() error { return v.showSchedule(http.StatusOK, "", nil) }

// showSchedule shows the page with a problem and what was typed, if there is any.
func (v *visit) showSchedule(status int, problem string, typed *scheduleForm) error {
	e, err := v.h.Evals.Eval(v.R.Context(), v.actor(), v.param("eval"))
	if err != nil {
		return err
	}
	view, stored, err := v.scheduleOf(e)
	if err != nil {
		return err
	}
	d := scheduleData{
		Page: v.page(), Paid: v.paid(), Problem: problem, Name: e.Name, Back: v.at("evals", e.ID), Action: v.at("evals", e.ID, "schedule"), Settings: v.at("settings", "evals"),
		Missing: e.MissingKeys, Synthetic: e.Synthetic, Schedule: view, Examples: scheduleExamples(), Zones: layout.Zones(), Expected: chart.MaybeMoney(e.ExpectedUSD), Worst: chart.MaybeMoney(e.WorstUSD), LatestVersion: e.Version,
	}
	for _, t := range scheduleNotices() {
		if t.Key == v.R.URL.Query().Get("done") && v.R.Method == http.MethodGet {
			d.Notice = t.Name
		}
	}
	switch {
	case typed != nil:
		d.Form = *typed
	case stored != nil:
		d.Form = scheduleForm{Cron: stored.Cron, Zone: stored.TimeZone, Budget: up(stored.BudgetUSD), Month: up(stored.MonthlyBudgetUSD)}
		d.Form.Every, d.Form.At = timesOf(stored.Cron)
	default:
		d.Form = scheduleForm{Cron: scheduleExamples()[0].Key, Zone: "UTC"}
		d.Form.Every, d.Form.At = timesOf(d.Form.Cron)
		if d.Form.Budget, _ = budgetOf(e); d.Form.Budget != "" {
			usd, _ := dollars(d.Form.Budget) // it was made by up
			d.Form.Month = up(usd * monthOfRuns)
		}
	}
	for _, t := range scheduleTimes() {
		d.Every = append(d.Every, choice{Key: t.Key, Name: t.Name, On: t.Key == d.Form.Every})
	}
	return v.Show(status, "workspace-ev-schedule", "Schedule of "+e.Name, d)
}

func (v *visit) saveSchedule() error {
	field := func(name string) string { return strings.TrimSpace(v.R.PostFormValue(name)) }
	typed := &scheduleForm{cmp.Or(field("every"), customTimes), field("at"), field("cron"), field("zone"), field("budget"), field("month")}
	cron, problem := cronOf(typed.Every, typed.At, typed.Cron)
	if problem != "" {
		return v.showSchedule(http.StatusUnprocessableEntity, problem, typed)
	}
	budget, err := dollars(typed.Budget)
	month, err2 := dollars(typed.Month)
	if errors.Join(err, err2) != nil {
		return v.showSchedule(http.StatusUnprocessableEntity, "Both budgets must be numbers of US dollars, such as 5 or 2.50.", typed)
	}
	_, _, err = v.h.Evals.PutSchedule(v.R.Context(), v.actor(), evals.ScheduleRequest{
		EvalID: v.param("eval"), Cron: cron, TimeZone: typed.Zone, BudgetUSD: budget, MonthlyBudgetUSD: month,
	})
	return v.scheduleDone("saved", err, typed)
}

// scheduleDone leads back to the page, or shows what was wrong.
func (v *visit) scheduleDone(done string, err error, typed *scheduleForm) error {
	if problem := wrong(err); problem != nil {
		return v.showSchedule(http.StatusUnprocessableEntity, cronProblem(problem.Description), typed)
	} else if err != nil {
		return err
	}
	return v.see(v.at("evals", v.param("eval"), "schedule") + "?done=" + done)
}

func (v *visit) pauseSchedule() error  { return v.changeSchedule("paused", v.h.Evals.PauseSchedule) }
func (v *visit) resumeSchedule() error { return v.changeSchedule("resumed", v.h.Evals.ResumeSchedule) }

func (v *visit) changeSchedule(done string, change func(context.Context, evals.Actor, string) (*evals.Schedule, error)) error {
	_, err := change(v.R.Context(), v.actor(), v.param("eval"))
	return v.scheduleDone(done, err, nil)
}

func (v *visit) deleteSchedule() error {
	return v.scheduleDone("deleted", v.h.Evals.DeleteSchedule(v.R.Context(), v.actor(), v.param("eval")), nil)
}

// runSchedule starts a run now, and leads to it.
func (v *visit) runSchedule() error {
	r, err := v.h.Evals.RunSchedule(v.R.Context(), v.actor(), v.param("eval"))
	if err != nil {
		return v.scheduleDone("", err, nil)
	}
	return v.see(v.at("runs", r.ID))
}
