package evals_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/evals/resource"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/state"
)

// A timetable is a world with a scheduler.
type timetable struct {
	*world
	t     *testing.T
	eval  *evals.Eval
	ticks *evals.Scheduler
	mails []string
}

func onTimetables(t *testing.T, run func(b *timetable)) {
	onBoth(t, func(t *testing.T, w *world) {
		b := &timetable{world: w, t: t, eval: w.put(t, w.paid, "weekly"), ticks: &evals.Scheduler{Service: w.Service}}
		w.Notify = func(_ context.Context, _ *state.Tx, _ time.Time, ws *state.Workspace, subject string, text []string) error {
			b.mails = append(b.mails, ws.Slug+": "+subject+": "+strings.Join(text, " "))
			return nil
		}
		run(b)
	})
}

// TestAPushChangesNoSchedule: the eval of a pushed run may not run here.
func TestAPushChangesNoSchedule(t *testing.T) {
	onTimetables(t, func(b *timetable) {
		b.put(1, 40)
		push := func(source string, version int) error {
			e, _, _, err := b.PutPushed(t.Context(), b.paid, []byte(source))
			if err == nil && e.Version != version {
				t.Errorf("%s: version %d, want %d", source, e.Version, version)
			}
			return err
		}
		for _, source := range []string{"weekly", "another"} {
			if err := push(source, 1); err != nil {
				t.Errorf("%s: %v", source, err)
			}
		}
		if err := push("weekly A_KEY", 2); err == nil || err.Error() != "eval_scheduled" {
			t.Errorf("%v", err)
		}
		if e, err := b.Eval(t.Context(), b.paid, b.eval.ID); err != nil || e.Source != "weekly" {
			t.Errorf("%+v, %v", e, err)
		}
		if _, err := b.PauseSchedule(t.Context(), b.paid, b.eval.ID); err != nil {
			t.Fatal(err)
		}
		if err := push("weekly A_KEY", 2); err != nil {
			t.Error(err)
		}
	})
}

// put sets a schedule at every hour of UTC with budgets for a run and a month.
func (b *timetable) put(run, month float64) *evals.Schedule {
	b.t.Helper()
	s, _, err := b.PutSchedule(b.t.Context(), b.paid, evals.ScheduleRequest{EvalID: b.eval.ID, Cron: "0 * * * *", BudgetUSD: run, MonthlyBudgetUSD: month})
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// at sets the clock and lets the scheduler act.
func (b *timetable) at(text string) {
	b.t.Helper()
	at, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		b.t.Fatal(err)
	}
	b.now = at
	if err := b.ticks.Step(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

// end ends the run that waits or runs.
func (b *timetable) end(status string, cost int64) {
	b.t.Helper()
	if err := b.DB.Write(b.t.Context(), func(tx *state.Tx) error {
		r, err := tx.ClaimRun(b.t.Context(), "worker", b.now, time.Hour)
		if err != nil || r == nil {
			return fmt.Errorf("no run waits: %w", err)
		}
		return tx.FinishRun(b.t.Context(), r.Lease(), b.now, state.RunOutcome{Status: status, Failure: "note of the run", RunProgress: state.RunProgress{SpentMicros: cost, AtMostMicros: cost}})
	}); err != nil {
		b.t.Fatal(err)
	}
	if err := b.ticks.Step(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

func (b *timetable) schedule() *evals.Schedule {
	b.t.Helper()
	s, err := b.Schedule(b.t.Context(), b.paid, b.eval.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// history fails unless the ticks of the schedule are these, oldest first.
func (b *timetable) history(want ...string) {
	b.t.Helper()
	var got []string
	for _, tick := range b.schedule().Ticks {
		text := tick.At.Format("02 15:04") + " " + tick.Outcome
		if tick.RunStatus != "" {
			text += " " + tick.RunStatus
		}
		got = append(got, text)
	}
	if slices.Reverse(got); !slices.Equal(got, want) {
		b.t.Errorf("ticks:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (b *timetable) next(want string) {
	b.t.Helper()
	s, got := b.schedule(), "none"
	if s.NextRunAt != nil {
		got = s.NextRunAt.UTC().Format("02 15:04")
	}
	if got != want {
		b.t.Errorf("the next run is at %s, not %s", got, want)
	}
}

func TestScheduleStartsOneRunATick(t *testing.T) {
	onTimetables(t, func(b *timetable) {
		b.put(5, 1000)
		b.next("21 11:00")
		b.at("2026-11-21 10:59")
		b.history()
		b.at("2026-11-21 11:00")
		b.at("2026-11-21 11:00")
		b.next("21 12:00")
		b.end(state.RunDone, 1)
		b.at("2026-11-21 11:01")
		b.history("21 11:00 started done")
		b.at("2026-11-21 12:04")
		b.history("21 11:00 started done", "21 12:00 started queued")
		runs, _, err := b.Runs(t.Context(), b.paid, evals.RunQuery{})
		if err != nil || len(runs) != 2 || runs[0].BudgetUSD != 5 {
			t.Errorf("runs: %v %v", runs, err)
		}
		if s := b.schedule(); s.LastRun == nil || s.LastRun.RunID != runs[0].ID || s.Status != resource.Active {
			t.Errorf("got %+v", s)
		}
	})
}

func TestScheduleSkips(t *testing.T) {
	for name, test := range map[string]struct {
		run  func(b *timetable)
		want []string
		note string // of the last tick
		next string
	}{
		"a tick while the run before waits or runs": {
			run:  func(b *timetable) { b.put(5, 1000); b.at("2026-11-21 11:00"); b.at("2026-11-21 12:00") },
			want: []string{"21 11:00 started queued", "21 12:00 skipped"}, note: "has not ended: run_", next: "21 13:00",
		},
		"ticks that passed while no server ran": {
			run:  func(b *timetable) { b.put(5, 1000); b.at("2026-11-21 14:30"); b.at("2026-11-21 14:31") },
			want: []string{"21 11:00 missed"}, note: "No server ran at this time", next: "21 15:00",
		},
		"and starts the one that is due now": {
			run:  func(b *timetable) { b.put(5, 1000); b.at("2026-11-21 14:02") },
			want: []string{"21 11:00 missed", "21 14:00 started queued"}, next: "21 15:00",
		},
		"a tick that is six minutes late": {
			run:  func(b *timetable) { b.put(5, 1000); b.at("2026-11-21 11:06") },
			want: []string{"21 11:00 missed"}, next: "21 12:00",
		},
		"a run that could exceed what the month has left": {
			run: func(b *timetable) {
				b.put(5, 12)
				for hour := 11; hour < 14; hour++ {
					b.at(fmt.Sprintf("2026-11-21 %d:00", hour))
					if hour < 13 {
						b.end(state.RunDone, 4_000_000)
					}
				}
			},
			want: []string{"21 11:00 started done", "21 12:00 started done", "21 13:00 skipped"},
			note: "Monthly budget: 4.00 of 12.00 USD are left until 1 December 2026, and a run may cost 5.00 USD.", next: "21 14:00",
		},
		"nothing of what the next month has": {
			run: func(b *timetable) {
				b.put(5, 5)
				b.at("2026-11-21 11:00")
				b.end(state.RunDone, 5_000_000)
				b.at("2026-11-21 12:00")
				b.at("2026-12-01 00:00")
			},
			want: []string{"21 11:00 started done", "21 12:00 skipped", "21 13:00 missed", "01 00:00 started queued"}, next: "01 01:00",
		},
		"a workspace that is not paid": {
			run: func(b *timetable) {
				b.put(5, 1000)
				b.plan(state.PlanFree)
				b.at("2026-11-21 11:00")
				b.plan(state.PlanPaid)
				b.at("2026-11-21 12:00")
			},
			want: []string{"21 11:00 skipped", "21 12:00 started queued"}, next: "21 13:00",
		},
		"a full queue": {
			run: func(b *timetable) {
				b.put(5, 1000)
				for range 3 {
					b.start(b.t, b.paid, evals.StartRequest{EvalID: b.eval.ID, BudgetUSD: 1})
				}
				b.at("2026-11-21 11:00")
			},
			want: []string{"21 11:00 skipped"}, note: "3 runs waiting", next: "21 12:00",
		},
		"the ticks of a pause": {
			run: func(b *timetable) {
				b.put(5, 1000)
				_, err := b.PauseSchedule(b.t.Context(), b.paid, b.eval.ID)
				b.at("2026-11-21 11:00")
				b.next("none")
				b.now = b.now.Add(90 * time.Minute)
				if _, err2 := b.ResumeSchedule(b.t.Context(), b.paid, b.eval.ID); err != nil || err2 != nil {
					b.t.Error(err, err2)
				}
				b.at("2026-11-21 13:00")
			},
			want: []string{"21 13:00 started queued"}, next: "21 14:00",
		},
	} {
		t.Run(name, func(t *testing.T) {
			onTimetables(t, func(b *timetable) {
				b.t = t
				test.run(b)
				b.history(test.want...)
				b.next(test.next)
				if ticks := b.schedule().Ticks; !strings.Contains(ticks[0].Note, test.note) {
					t.Errorf("note %q, want %q", ticks[0].Note, test.note)
				}
			})
		})
	}
}

func (b *timetable) plan(plan string) {
	b.t.Helper()
	if err := b.DB.Write(b.t.Context(), func(tx *state.Tx) error { return tx.SetPlanOf(b.t.Context(), b.paid.Workspace.ID, plan) }); err != nil {
		b.t.Fatal(err)
	}
}

func TestScheduleClocksJump(t *testing.T) {
	for name, test := range map[string]struct {
		times []string // the clock at each step; runs end at once
		want  []string
		next  string
	}{
		"back before a tick that ran":  {[]string{"2026-11-21 11:00", "2026-11-21 10:30", "2026-11-21 11:00", "2026-11-21 11:01", "2026-11-21 12:00"}, []string{"21 11:00 started done", "21 12:00 started done"}, "21 13:00"},
		"back by a day":                {[]string{"2026-11-22 11:00", "2026-11-21 11:00", "2026-11-21 12:00"}, []string{"21 11:00 missed", "21 12:00 started done", "22 11:00 started done"}, "21 13:00"},
		"forward by a year, and back":  {[]string{"2026-11-21 11:00", "2027-11-21 11:30", "2026-11-21 12:30", "2026-11-21 13:00"}, []string{"21 11:00 started done", "21 12:00 missed", "21 13:00 started done"}, "21 14:00"},
		"forward by an hour":           {[]string{"2026-11-21 11:00", "2026-11-21 13:00"}, []string{"21 11:00 started done", "21 12:00 missed", "21 13:00 started done"}, "21 14:00"},
		"back while the server is off": {[]string{"2026-11-25 11:00", "off", "2026-11-21 11:00", "2026-11-21 12:00"}, []string{"21 11:00 missed", "21 12:00 started done", "25 11:00 started done"}, "21 13:00"},
	} {
		t.Run(name, func(t *testing.T) {
			onTimetables(t, func(b *timetable) {
				b.t = t
				b.put(1, 1000)
				for _, at := range test.times {
					if at == "off" {
						b.ticks = &evals.Scheduler{Service: b.Service}
						continue
					}
					b.at(at)
					if slices.ContainsFunc(b.schedule().Ticks, func(t resource.ScheduleTick) bool { return t.RunStatus == state.RunQueued }) {
						b.end(state.RunDone, 1)
					}
				}
				b.history(test.want...)
				b.next(test.next)
			})
		})
	}
}

func TestSchedulePausesAfterFailures(t *testing.T) {
	onTimetables(t, func(b *timetable) {
		b.put(5, 1000)
		fail := func(at string) { b.at(at); b.end(state.RunFailed, 1) }
		fail("2026-11-21 11:00")
		fail("2026-11-21 12:00")
		b.at("2026-11-21 13:00")
		b.end(state.RunDone, 1)
		if s := b.schedule(); s.FailuresInARow != 0 {
			t.Errorf("a success leaves %d failures", s.FailuresInARow)
		}
		fail("2026-11-21 14:00")
		fail("2026-11-21 15:00")
		if s := b.schedule(); s.FailuresInARow != 2 || s.Status != resource.Active || len(b.mails) != 0 {
			t.Errorf("after two: %+v %q", s, b.mails)
		}
		fail("2026-11-21 16:00")
		s := b.schedule()
		if s.Status != resource.Paused || s.Pause.Reason != resource.PauseFailures || s.Pause.Note != "3 runs in a row failed. The last: note of the run" || s.NextRunAt != nil {
			t.Errorf("after three: %+v %+v", s, s.Pause)
		}
		if len(b.mails) != 1 || !strings.Contains(b.mails[0], "paid: The schedule of weekly is paused: 3 runs in a row failed") || !strings.Contains(b.mails[0], "/workspaces/paid/evals/"+b.eval.ID+"/schedule") {
			t.Errorf("mails: %q", b.mails)
		}
		b.at("2026-11-21 17:00")
		if _, err := b.ResumeSchedule(t.Context(), b.paid, b.eval.ID); err != nil {
			t.Fatal(err)
		}
		if s := b.schedule(); s.FailuresInARow != 0 || s.Status != resource.Active || s.Pause != nil {
			t.Errorf("resumed: %+v", s)
		}
		b.next("21 18:00")
		if s := b.schedule(); len(s.Ticks) != 6 {
			t.Errorf("%d ticks", len(s.Ticks))
		}
	})
}

func TestScheduleThatCannotStartFails(t *testing.T) {
	onTimetables(t, func(b *timetable) {
		b.eval = b.world.put(t, b.paid, "keyed OPENAI_API_KEY")
		b.put(5, 1000)
		for _, at := range []string{"2026-11-21 11:00", "2026-11-21 12:00", "2026-11-21 13:00", "2026-11-21 14:00"} {
			b.at(at)
		}
		b.history("21 11:00 failed", "21 12:00 failed", "21 13:00 failed")
		if s := b.schedule(); s.Pause == nil || !strings.Contains(s.Pause.Note, "OPENAI_API_KEY") || len(b.mails) != 1 {
			t.Errorf("%+v %q", s.Pause, b.mails)
		}
	})
}

func TestRunScheduleNow(t *testing.T) {
	onTimetables(t, func(b *timetable) {
		b.put(5, 8)
		r, err := b.RunSchedule(t.Context(), b.paid, b.eval.ID)
		if err != nil || r.BudgetUSD != 5 {
			t.Fatal(r, err)
		}
		if _, err := b.RunSchedule(t.Context(), b.paid, b.eval.ID); code(err) != "schedule_busy" {
			t.Errorf("a second run: %v", err)
		}
		b.at("2026-11-21 11:00")
		b.history("21 10:00 started queued", "21 11:00 skipped")
		b.end(state.RunDone, 4_000_000)
		if s := b.schedule(); s.Month.UsedUSD != 4 || s.Month.LeftUSD != 4 || !s.Ticks[1].Manual {
			t.Errorf("%+v", s)
		}
		if _, err := b.RunSchedule(t.Context(), b.paid, b.eval.ID); code(err) != "schedule_busy" || !strings.Contains(apierr.Of(err).Description, "Monthly budget") {
			t.Errorf("beyond the month: %v", err)
		}
		if err := b.DeleteSchedule(t.Context(), b.paid, b.eval.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Schedule(t.Context(), b.paid, b.eval.ID); code(err) != "schedule_not_found" {
			t.Error(err)
		}
		if _, err := b.Run(t.Context(), b.paid, r.ID); err != nil {
			t.Error("the run is gone:", err)
		}
	})
}

func TestScheduleAccess(t *testing.T) {
	onTimetables(t, func(b *timetable) {
		b.put(5, 8)
		ctx, id := t.Context(), b.eval.ID
		reader := b.paid
		reader.Scopes = []string{evals.ScopeRead}
		for name, test := range map[string]struct {
			by   evals.Actor
			want string
		}{"a stranger": {b.eve, "not_found"}, "a key that may only read": {reader, "insufficient_scope"}} {
			_, _, put := b.PutSchedule(ctx, test.by, evals.ScheduleRequest{EvalID: id, Cron: "0 6 * * *", BudgetUSD: 1, MonthlyBudgetUSD: 2})
			_, pause := b.PauseSchedule(ctx, test.by, id)
			_, resume := b.ResumeSchedule(ctx, test.by, id)
			_, run := b.RunSchedule(ctx, test.by, id)
			for i, err := range []error{put, pause, resume, run, b.DeleteSchedule(ctx, test.by, id)} {
				if !strings.HasSuffix(code(err), test.want) {
					t.Errorf("%s, operation %d: %v", name, i, err)
				}
			}
		}
		if list, err := b.Schedules(ctx, b.eve); err != nil || len(list) != 0 {
			t.Errorf("eve sees %v %v", list, err)
		}
		if list, err := b.Schedules(ctx, reader); err != nil || len(list) != 1 || list[0].Ticks != nil {
			t.Errorf("the reader sees %v %v", list, err)
		}
		for name, req := range map[string]evals.ScheduleRequest{
			"cron":                         {Cron: "0 6 * *", BudgetUSD: 1, MonthlyBudgetUSD: 2},
			"five fields":                  {BudgetUSD: 1, MonthlyBudgetUSD: 2},
			"timeZone":                     {Cron: "0 6 * * *", TimeZone: "Mars/Olympus", BudgetUSD: 1, MonthlyBudgetUSD: 2},
			"monthlyBudgetUsd must be":     {Cron: "0 6 * * *", BudgetUSD: 3, MonthlyBudgetUSD: 2},
			"budgetUsd is required":        {Cron: "0 6 * * *", MonthlyBudgetUSD: 2},
			"budgetUsd is at most 100":     {Cron: "0 6 * * *", BudgetUSD: 101, MonthlyBudgetUSD: 200},
			"monthlyBudgetUsd is at most ": {Cron: "0 6 * * *", BudgetUSD: 1, MonthlyBudgetUSD: 1e9},
		} {
			req.EvalID = id
			if _, _, err := b.PutSchedule(ctx, b.paid, req); err == nil || !strings.Contains(apierr.Of(err).Description, name) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
