package evals_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// TestMonthsAndSummerTimeOfTwoServers: two servers step every ten minutes through the two
// changes of summer time and the border of a month. Each night has one run, also the night
// with two half past two and that with none, and the budget is of a month in the time zone.
func TestMonthsAndSummerTimeOfTwoServers(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range statetest.Engines() {
		for name, c := range map[string]struct {
			from          time.Time
			days          int
			cron          string
			month         float64 // budget; a run may cost, and costs, 1 USD
			started, last int     // runs, and how many of them in the last month
		}{
			"spring":             {time.Date(2027, 3, 26, 12, 0, 0, 0, berlin), 4, "30 2 * * *", 100, 4, 4},
			"autumn":             {time.Date(2027, 10, 29, 12, 0, 0, 0, berlin), 4, "30 2 * * *", 100, 4, 2},
			"a month's border":   {time.Date(2027, 3, 28, 12, 0, 0, 0, berlin), 6, "30 0 * * *", 2, 4, 2},
			"an hour of borders": {time.Date(2027, 3, 31, 22, 0, 0, 0, berlin), 1, "0 23,0,1 * * *", 1, 2, 1},
		} {
			t.Run(engine+"/"+name, func(t *testing.T) {
				var mu sync.Mutex
				now := c.from
				clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
				both := servers(t, engine, 2, clock)
				w := &world{Service: both[0].Service, now: now}
				owner := w.workspace(t, "paid", "dana", state.PlanPaid)
				e := w.put(t, owner, "nightly")
				if _, _, err := both[0].PutSchedule(t.Context(), owner, evals.ScheduleRequest{EvalID: e.ID, Cron: c.cron, TimeZone: "Europe/Berlin", BudgetUSD: 1, MonthlyBudgetUSD: c.month}); err != nil {
					t.Fatal(err)
				}
				nights, started, last := map[string]int{}, 0, 0
				for end := c.from.AddDate(0, 0, c.days); now.Before(end); {
					mu.Lock()
					now = now.Add(10 * time.Minute)
					mu.Unlock()
					var race sync.WaitGroup
					for _, s := range both {
						race.Go(func() {
							if err := s.Step(t.Context()); err != nil {
								t.Error(err)
							}
						})
					}
					race.Wait()
					if spend(t, both[0].DB, now) {
						started++
						if now.In(berlin).Month() == end.In(berlin).Month() {
							last++
						}
						nights[now.In(berlin).Format(time.DateOnly)]++
					}
				}
				if started != c.started || last != c.last {
					t.Errorf("%d runs, %d in the last month; want %d and %d: %v", started, last, c.started, c.last, nights)
				}
			})
		}
	}
}

// spend ends the run that waits, at a cost of a dollar; false without one.
func spend(t *testing.T, db *state.DB, now time.Time) bool {
	t.Helper()
	none := errors.New("none waits")
	err := db.Write(t.Context(), func(tx *state.Tx) error {
		r, err := tx.ClaimRun(t.Context(), "worker", now, time.Minute)
		if err != nil || r == nil {
			return errors.Join(err, none)
		}
		return tx.FinishRun(t.Context(), r.Lease(), now, state.RunOutcome{Status: state.RunDone, RunProgress: state.RunProgress{SpentMicros: 1_000_000, AtMostMicros: 1_000_000}})
	})
	if err != nil && !errors.Is(err, none) {
		t.Fatal(err)
	}
	return err == nil
}
