package evalwork_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/cmd/evalwork"
	"github.com/firstpick/firstpick/server/store/state"
)

// Two workers work on a run; each counts what it did itself.
func TestWorkersCount(t *testing.T) {
	w := newWorld(t, "sqlite")
	g := newGate(20)
	f := fake(t, g.script)
	id := w.queue(asked(60, model("api", f.URL)), 5)
	var first, second evalwork.Counts
	w.worker.Counts = &first
	stop := w.start()
	<-g.waiting
	go func() {
		_ = sleep(t.Context(), 200*time.Millisecond) // the worker waits for what is under way
		close(g.open)
	}()
	stop()
	w.worker.Counts = &second
	w.start()
	if r := w.ended(id); r.Status != state.RunDone || r.Valid != 60 {
		t.Fatalf("%+v", r)
	}
	w.until(id, "counted", func(*state.EvalRun) bool { return second.Read().Ended["done"] == 1 })
	a, b := first.Read(), second.Read()
	if a.Trials == 0 || b.Trials == 0 || a.Trials+b.Trials != 60 || math.Abs(a.SpentUSD+b.SpentUSD-60*answerUSD) > 1e-9 {
		t.Errorf("%+v and %+v", a, b)
	}
	if diff := cmp.Diff(evalwork.Done{Taken: 1, Ended: map[string]uint64{"given_back": 1}, Trials: a.Trials, SpentUSD: a.SpentUSD}, a); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(evalwork.Done{Taken: 1, Ended: map[string]uint64{"done": 1}, Trials: b.Trials, SpentUSD: b.SpentUSD}, b); diff != "" {
		t.Error(diff)
	}
}
