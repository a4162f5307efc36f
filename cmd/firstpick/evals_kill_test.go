package main

import (
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/firstpick/firstpick/cmd/evalwork"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/server/evals/bundle"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// TestKilledWorkersFinishARunOnce kills the worker of a run many times in the middle
// of it, and the server beside it every other time. The run ends once, every trial has one
// answer, and the bill is right: what was answered is known to the cent, and what the
// model charged for questions that the kills took lies within what may have been.
func TestKilledWorkersFinishARunOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a worker twelve times: half a minute")
	}
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			const trials, concurrency, budget = 1000, 8, 5
			model := newPaidModel(t, func() time.Duration { return time.Duration(10+rand.IntN(40)) * time.Millisecond }, func(*http.Request) string { return "I would use Flask." })
			h := newHouse(t, engine)
			h.workspace("wsp_1", ownEval(model.URL, trials/2, concurrency), "sk-of-the-kills")
			server := h.start("server", "--listen", freeAddress(t), "--access-log=false")
			id := h.queue("wsp_1", 1, budget)[0]
			root := evalwork.RunsRoot(filepath.Join(h.dir, ".firstpick"), "wsp_1")
			var worker *exec.Cmd
			seen := 0
			rounds := kills(t, 12)
			for round := range rounds {
				worker = h.start("worker", "--runs", "1")
				h.until("wsp_1", id, func(*state.EvalRun) bool { // it gets somewhere
					done, err := runner.Replay(root, id)
					return err == nil && len(done.Valid) > seen+10
				})
				time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond) // the moment of the kill is the test
				h.kill(worker)
				if round%2 == 1 {
					h.kill(server)
					server = h.start("server", "--listen", freeAddress(t), "--access-log=false")
				}
				done, err := runner.Replay(root, id)
				if err != nil || len(done.Valid) == trials {
					t.Fatalf("round %d: %d answers, %v: the run was over before it was killed", round, len(done.Valid), err)
				}
				if r := h.run("wsp_1", id); r.Status != state.RunRunning {
					t.Fatalf("round %d: %+v", round, r)
				}
				seen = len(done.Valid)
			}
			h.start("worker", "--runs", "1")
			h.start("worker", "--runs", "1") // either may take it
			r := h.until("wsp_1", id, func(r *state.EvalRun) bool { return !r.EndedAt.IsZero() })
			if r.Status != state.RunDone || r.Failure != "" || r.Valid != trials || r.Excluded != 0 || h.endings(id) != 1 {
				t.Errorf("%+v, ended %d times", r, h.endings(id))
			}
			counts, asked := map[string]int{}, int64(0)
			if _, err := journal.Scan(root, id, journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
				if r.Kind == journal.KindResult {
					counts[r.Trial.ID]++
				}
				if r.Kind == journal.KindAsked {
					asked++
				}
				return nil
			}); err != nil || len(counts) != trials {
				t.Errorf("%d trials have an answer, %v", len(counts), err)
			}
			for trial, n := range counts {
				if n != 1 {
					t.Errorf("trial %s has %d answers", trial, n)
				}
			}
			// What the model charges for is in the journal before it is asked.
			charged := model.charged.Load() * ownAnswerMicros
			if r.SpentMicros != trials*ownAnswerMicros || charged < r.SpentMicros || charged > asked*ownAnswerMicros {
				t.Errorf("the model charged %d micros, the row says %d spent, and %d questions were noted", charged, r.SpentMicros, asked)
			}
			if charged > r.AtMostMicros || r.AtMostMicros > budget*1e6 {
				t.Errorf("the model charged %d micros, the row says at most %d of %d", charged, r.AtMostMicros, r.BudgetMicros)
			}
			b, err := bundle.Open(evalwork.BundlesRoot(filepath.Join(h.dir, ".firstpick", "bundles"), "wsp_1"), r.Bundle)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = b.Close() }()
			if m := b.Manifest; m.Counts.Valid != trials || int64(m.SpentUSD*1e6+0.5) != r.SpentMicros || int64(m.AtMostUSD*1e6+0.5) != r.AtMostMicros {
				t.Errorf("the results say %+v %+v, the row %+v", m.Counts, m.Money, r)
			}
			t.Logf("%d kills, %d attempts; the model was asked %d times for %d answers; spent %.4f, at most %.4f USD", rounds, r.Attempt, model.charged.Load(), trials, float64(r.SpentMicros)/1e6, float64(r.AtMostMicros)/1e6)
		})
	}
}
