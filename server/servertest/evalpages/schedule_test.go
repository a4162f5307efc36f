package evalpages_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/store/state"
)

// TestSchedulePage makes, changes, pauses, resumes, runs and deletes a schedule with the
// forms of its page, as the owner does without script.
func TestSchedulePage(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	o.keys("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
	e := o.put(payments)
	page := "/evals/" + e.ID + "/schedule"
	shows := func(name, body string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(text(body), w) {
				t.Errorf("%s: no %q in %s", name, w, text(body))
			}
		}
	}
	_, body := o.get(o.at("/evals/" + e.ID))
	shows("the eval's page", body, "Not scheduled.", "Schedule it")
	_, body = o.get(o.at(page))
	shows("an empty page", body, "Set times and budgets", "0 6 * * MON is Mondays at 06:00", "Expected cost", "now version 1")
	if strings.Contains(body, `action="`+o.at(page)+`/delete"`) {
		t.Error("a schedule that is not there can be deleted")
	}
	typed := func(cron, zone, budget, month string) []string {
		return []string{"cron", cron, "zone", zone, "budget", budget, "month", month}
	}
	for name, test := range map[string]struct {
		form []string
		want string
	}{
		"a cron expression of four fields": {typed("0 6 * *", "UTC", "5", "25"), "five fields"},
		"a minute of 99":                   {typed("99 6 * * MON", "UTC", "5", "25"), "Example: 0 6 * * MON is Mondays at 06:00."},
		"an unknown zone":                  {typed("0 6 * * MON", "Mars", "5", "25"), "is not an IANA time zone"},
		"a month smaller than a run":       {typed("0 6 * * MON", "UTC", "5", "4"), "monthlyBudgetUsd must be at least budgetUsd"},
		"a budget in words":                {typed("0 6 * * MON", "UTC", "five", "25"), "Both budgets must be numbers of US dollars"},
		"every minute":                     {typed("* * * * *", "UTC", "5", "25"), "at most one run an hour"},
	} {
		status, body := o.send(page, test.form...)
		if status != http.StatusUnprocessableEntity || !strings.Contains(text(body), test.want) || !strings.Contains(body, `value="`+test.form[1]+`"`) {
			t.Errorf("%s: %d %s", name, status, text(body))
		}
	}
	for every, want := range map[string]string{"daily": "Daily, at 07:45 45 7 * * *", "weekly": "Weekly, on Monday, at 07:45 45 7 * * MON", "monthly": "Monthly, on the 1st, at 07:45 45 7 1 * *"} {
		_, body = o.send(page, append(typed("", "UTC", "5", "25"), "every", every, "at", "07:45")...)
		shows(every, body, "Schedule saved.", want)
		if !strings.Contains(body, `<option value="`+every+`" selected>`) || !strings.Contains(body, `type="time" value="07:45"`) {
			t.Errorf("%s: the form forgot it", every)
		}
	}
	if status, body := o.send(page, append(typed("", "UTC", "5", "25"), "every", "daily", "at", "7 am")...); status != http.StatusUnprocessableEntity || !strings.Contains(text(body), `such as 06:00 (got "7 am")`) {
		t.Errorf("a bad time: %d %s", status, text(body))
	}
	_, body = o.send(page, typed("0 6 * * MON", "UTC", "0.05", "25")...)
	shows("a budget below the cost of a run", body, "Schedule saved.", "and may cost $0.05: it would end early. Raise both budgets.")
	_, body = o.send(page, typed("30 6 * * MON", "Europe/Berlin", "5", "12.50")...)
	if strings.Contains(body, "it would end early") {
		t.Error("a budget above the cost of a run would end it early")
	}
	shows("saved", body, "Schedule saved.", "Active", "30 6 * * MON", "Europe/Berlin", "06:30 CE", "Left this month $12.50 of $12.50", "Next times: Mon", "Nothing yet.")
	_, body = o.get(o.at("/evals/" + e.ID))
	shows("the eval's page", body, "Next run Mon", "Last run none yet", "Change")

	_, body = o.send(page+"/runs", "x", "y")
	shows("run now", body, "Queued")
	status, body := o.send(page+"/runs", "x", "y")
	if status != http.StatusUnprocessableEntity {
		t.Errorf("a second run: %d", status)
	}
	shows("a second run", body, "The schedule's run before this one has not ended", "run now", "Left this month $7.50 of $12.50")
	_, body = o.send(page+"/pause", "x", "y")
	shows("paused", body, "Schedule paused.", "Paused by a user", "Next run none", "Resume")
	_, body = o.send(page+"/resume", "x", "y")
	shows("resumed", body, "Schedule resumed.", "Next times: Mon", "Pause")

	// A scheduled time comes while the run is under way; then the run ends, and the next one
	// finds the month spent.
	schedule, err := s.Evals.Schedule(t.Context(), o.actor(), e.ID)
	if err != nil {
		t.Fatal(err)
	}
	runs, _, err := s.Evals.Runs(t.Context(), o.actor(), evals.RunQuery{})
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	ticker := &evals.Scheduler{Service: s.Evals}
	step := func(at time.Time) {
		t.Helper()
		s.Clock.Add(at.Sub(s.Clock.Now()))
		if err := ticker.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	step(*schedule.NextRunAt)
	o.end(runs[0], "", state.RunOutcome{Status: state.RunDone, RunProgress: state.RunProgress{SpentMicros: 5_000_000, AtMostMicros: 5_000_000}})
	step(schedule.NextRunAt.Add(time.Hour))
	o.signIn()
	_, body = o.get(o.at(page))
	shows("a skipped time", body, "Skipped", "has not ended", "Open the run", "Done")

	_, body = o.send(page+"/delete", "x", "y")
	shows("deleted", body, "Schedule deleted. Its runs stay.", "Set times and budgets")
	_, body = o.get(o.at("/runs"))
	shows("its runs", body, "payments")
}

// A workspace that is not paid sees its schedule and cannot run it; it can stop it.
func TestScheduleOfAnUnpaidWorkspace(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	o.keys("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
	e := o.put(payments)
	page := "/evals/" + e.ID + "/schedule"
	if _, _, err := s.Evals.PutSchedule(t.Context(), o.actor(), evals.ScheduleRequest{EvalID: e.ID, Cron: "0 6 * * *", BudgetUSD: 1, MonthlyBudgetUSD: 9}); err != nil {
		t.Fatal(err)
	}
	if err := s.Agents.DB.Write(t.Context(), func(tx *state.Tx) error { return tx.SetPlanOf(t.Context(), o.w.ID, "free") }); err != nil {
		t.Fatal(err)
	}
	_, body := o.get(o.at(page))
	if strings.Contains(body, ">Run now<") || strings.Contains(body, ">Save<") || !strings.Contains(body, ">Pause<") {
		t.Errorf("the page offers the wrong forms: %s", text(body))
	}
	if status, body := o.send(page+"/runs", "x", "y"); status != http.StatusUnprocessableEntity || !strings.Contains(text(body), "paid plan") {
		t.Errorf("run now: %d %s", status, text(body))
	}
}
