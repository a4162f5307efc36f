package evalwork_test

import (
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/cmd/evalwork"
	"github.com/firstpick/firstpick/server/store/state"
)

// TestRunsThatHangDoNotHoldAWorker: one workspace has all slots, and none of its
// questions is ever answered. The run of another goes through.
func TestRunsThatHangDoNotHoldAWorker(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		g := newGate(0)
		f := fake(t, g.script)
		defer close(g.open)
		w.worker.Runs, w.worker.Drain, w.worker.Lease = 2, 10*time.Millisecond, time.Minute
		const other = "wsp_2"
		w.write(func(tx *state.Tx) error {
			_, err := tx.AddWorkspace(t.Context(), &state.Workspace{ID: other, Slug: "other", Plan: "paid", CreatedAt: time.Now(), ClaimedAt: time.Now()})
			return err
		})
		hang := []string{w.queue(asked(5, model("api", f.URL)), 5), w.queue(asked(5, model("api", f.URL)), 5)}
		w.start()
		for _, id := range hang {
			w.until(id, "under way", func(r *state.EvalRun) bool { return r.Status == state.RunRunning })
		}
		id := w.queueOf(other, asked(5, recorded), 1)
		for deadline := time.Now().Add(2 * time.Minute); w.runOf(other, id).EndedAt.IsZero(); {
			if time.Now().After(deadline) {
				t.Fatalf("the other workspace waits for ever: %+v", w.runOf(other, id))
			}
			_ = sleep(t.Context(), 5*time.Millisecond)
		}
		if r := w.runOf(other, id); r.Status != state.RunDone || r.Valid != 5 {
			t.Errorf("%+v", r)
		}
		// One of them went back into the queue and is taken again; the other kept its slot.
		again := func() (n int) {
			for _, id := range hang {
				r := w.run(id)
				if !r.EndedAt.IsZero() || r.Attempt > 2 {
					t.Fatalf("%+v", r)
				}
				n += r.Attempt - 1
			}
			return n
		}
		for deadline := time.Now().Add(2 * time.Minute); again() == 0; _ = sleep(t.Context(), 5*time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("neither run is taken again")
			}
		}
		if n := again(); n != 1 {
			t.Errorf("%d runs were given back, want one", n)
		}
	})
}

// TestARunEndsWithWhatItHas: a run that takes too long gives its slot back for good.
func TestARunEndsWithWhatItHas(t *testing.T) {
	for what, answers := range map[string]int{"some trials": 3, "none": 0} {
		t.Run(what, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				g := newGate(answers)
				f := fake(t, g.script)
				defer close(g.open)
				late := make(chan time.Time)
				w.worker.Drain, w.worker.MaxTime, w.worker.Lease = 10*time.Millisecond, 6*time.Hour, time.Minute
				w.worker.Sleep = after(w.worker.MaxTime, late)
				w.start()
				id := w.queue(asked(10, model("api", f.URL)), 5)
				<-g.waiting
				w.until(id, "answered", func(*state.EvalRun) bool { return len(w.answers(id)) == answers })
				close(late)
				r := w.ended(id)
				want := state.RunFailed
				if answers > 0 {
					want = state.RunDone
				}
				if r.Status != want || r.Valid != answers || !strings.Contains(r.Failure, "The run reached its time limit of 6h0m0s.") || (r.Bundle != "") != (answers > 0) {
					t.Errorf("%+v", r)
				}
			})
		})
	}
}

// TestTimeoutsOfWorkspacesAreBounded: a question that waits for an hour holds a slot.
func TestTimeoutsOfWorkspacesAreBounded(t *testing.T) {
	c := newChecker(t, evalwork.Policy{})
	source := asked(1, "{name: a, kind: openai-responses, model: gpt-5.2, api_key_env: OPENAI_API_KEY, timeout_s: 900}")
	if _, issues := c.Check([]byte(source)); len(issues) > 0 {
		t.Errorf("%+v", issues)
	}
	_, issues := c.Check([]byte(strings.Replace(source, "900", "901", 1)))
	if len(issues) != 1 || issues[0].Line != 7 || issues[0].Message != "agent a: timeout_s must be at most 900 here (got 901)" {
		t.Errorf("%+v", issues)
	}
	c.Policy.MaxTimeout = time.Hour
	if _, issues := c.Check([]byte(strings.Replace(source, "900", "3600", 1))); len(issues) > 0 {
		t.Errorf("%+v", issues)
	}
}
