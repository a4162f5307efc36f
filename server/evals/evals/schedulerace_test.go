package evals_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	mathrand "math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/evals/bundle"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// servers opens a store as often as there are servers, and returns each server's
// scheduler. Its clock is what clock returns.
func servers(t *testing.T, engine string, n int, clock func() time.Time) []*evals.Scheduler {
	t.Helper()
	address, out := statetest.Address(t, engine), []*evals.Scheduler(nil)
	for range n {
		out = append(out, &evals.Scheduler{Service: &evals.Service{
			DB: statetest.Open(t, address), Secrets: secret.Source{Rand: rand.Reader}, Checker: checker{}, Bundles: bundle.NewCache(t.TempDir(), nil, 1),
			Log: slog.New(slog.DiscardHandler), Now: clock, BaseURL: "https://fp.example",
		}})
	}
	return out
}

// TestTwoServersStartOneRunATick lets the schedulers of two servers, each with its own
// connection to one store, race over the ticks of several schedules. Runs end in between,
// clocks jump both ways, and a server restarts.
func TestTwoServersStartOneRunATick(t *testing.T) {
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			var mu sync.Mutex
			now := time.Date(2026, 11, 21, 10, 30, 0, 0, time.UTC)
			clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
			both := servers(t, engine, 2, clock)
			w := &world{Service: both[0].Service, now: now}
			owner := w.workspace(t, "paid", "dana", state.PlanPaid)
			var schedules []*evals.Schedule
			for _, name := range []string{"a", "b", "c"} {
				s, _, err := both[0].PutSchedule(t.Context(), owner, evals.ScheduleRequest{EvalID: w.put(t, owner, name).ID, Cron: "0 * * * *", BudgetUSD: 1, MonthlyBudgetUSD: 100_000})
				if err != nil {
					t.Fatal(err)
				}
				schedules = append(schedules, s)
			}
			random := mathrand.New(mathrand.NewPCG(7, 7))
			passed := map[int64]bool{} // the hours at which both stepped on time
			for step := range 60 {
				jump := time.Hour
				switch random.IntN(6) {
				case 0:
					jump = -time.Duration(random.IntN(10)) * time.Hour
				case 1:
					jump = time.Duration(random.IntN(30)) * time.Hour
				case 2:
					both[1] = &evals.Scheduler{Service: both[1].Service}
				}
				mu.Lock()
				now = now.Add(jump).Truncate(time.Hour).Add(time.Duration(random.IntN(240)) * time.Second)
				passed[now.Truncate(time.Hour).Unix()] = true
				mu.Unlock()
				var race sync.WaitGroup
				for _, s := range both {
					race.Go(func() {
						if err := s.Step(t.Context()); err != nil {
							t.Errorf("step %d: %v", step, err)
						}
					})
				}
				race.Wait()
				endAll(t, both[step%2].DB, clock())
			}
			started := 0
			for _, s := range schedules {
				started += atMostOnce(t, both[0].DB, owner.Workspace.ID, s.EvalID)
			}
			if started < len(schedules)*len(passed)/2 {
				t.Errorf("%d runs of %d schedules in %d hours", started, len(schedules), len(passed))
			}
		})
	}
}

// endAll ends every run that waits.
func endAll(t *testing.T, db *state.DB, now time.Time) {
	t.Helper()
	none := errors.New("none waits")
	for {
		err := db.Write(t.Context(), func(tx *state.Tx) error {
			r, err := tx.ClaimRun(t.Context(), "worker", now, time.Minute)
			if r == nil {
				return errors.Join(err, none)
			}
			return tx.FinishRun(t.Context(), r.Lease(), now, state.RunOutcome{Status: state.RunDone})
		})
		if errors.Is(err, none) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// atMostOnce counts the runs of an eval by the time of its schedule that they were started
// for, and fails where there are two.
func atMostOnce(t *testing.T, db *state.DB, workspace, eval string) int {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	runs, err := db.Read().Runs(ctx, workspace, state.RunFilter{EvalID: eval}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	times := map[time.Time]string{}
	for _, r := range runs {
		tick := r.CreatedAt.Truncate(time.Hour)
		if times[tick] != "" {
			t.Errorf("%s and %s were both started for %s", times[tick], r.ID, tick)
		}
		times[tick] = r.ID
	}
	return len(runs)
}
