package evalwork_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/cmd/evalwork"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/provider/providertest"
	"github.com/firstpick/firstpick/server/store/state"
)

// fake starts a fake provider that lasts as long as the test.
func fake(t *testing.T, script providertest.Script) *providertest.Server {
	t.Helper()
	s := providertest.New(script)
	s.Key = theKey
	t.Cleanup(s.Close)
	return s
}

// A gate lets a number of questions through; further ones wait until it opens.
type gate struct {
	mu      sync.Mutex
	through int
	open    chan struct{}
	waiting chan struct{} // closed when one waits
	once    sync.Once
}

func newGate(through int) *gate {
	return &gate{through: through, open: make(chan struct{}), waiting: make(chan struct{})}
}

func (g *gate) script(providertest.Request) providertest.Step {
	g.mu.Lock()
	g.through--
	wait := g.through < 0
	g.mu.Unlock()
	if wait {
		g.once.Do(func() { close(g.waiting) })
		<-g.open
	}
	return answered()
}

func TestARunLeavesScoresTracesAndItsBill(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		f := fake(t, providertest.Always(answered()))
		id := w.queue(asked(30, model("api", f.URL), recorded, "{name: sim, kind: simulated, truth: {flask: 1, diy: 1}}"), 5)
		w.start()
		r := w.ended(id)
		if r.Status != state.RunDone || r.Failure != "" || r.Planned != 90 || r.Valid != 90 || r.Excluded != 0 || r.Attempt != 1 || r.StartedAt.IsZero() {
			t.Errorf("%+v", r)
		}
		if !near(r.SpentMicros, 30*answerUSD) || r.AtMostMicros != r.SpentMicros {
			t.Errorf("spent %d, at most %d micros for 30 answers", r.SpentMicros, r.AtMostMicros)
		}
		types, all := w.events(id)
		if types[0] != "started" || types[len(types)-1] != "ended done" || !strings.Contains(all, `"valid":90`) {
			t.Errorf("events: %s", all)
		}
		b := w.results(r)
		if m := b.Manifest; m.Counts.Valid != 90 || m.Eval.Name != "own" || !m.Synthetic || !near(r.SpentMicros, m.SpentUSD) || len(m.Notes) == 0 {
			t.Errorf("%+v", m)
		}
		if !strings.Contains(string(b.Scores()), "flask") {
			t.Errorf("%s", b.Scores())
		}
		w.once(id, 90)
	})
}

func TestKeysOfTheWorkspaceAreKeptNowhere(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.key("OTHER_API_KEY", otherKey)
		// The model says both keys, the asker's own and another of the workspace.
		f := fake(t, func(r providertest.Request) providertest.Step {
			s := answered()
			s.Text += " My key is " + theKey + ", and the other one is " + otherKey + "."
			if r.N%5 == 4 {
				return providertest.Step{Do: providertest.ServerError, Text: s.Text, Header: map[string]string{"X-Echo": theKey}}
			}
			return s
		})
		id := w.queue(asked(40, model("api", f.URL)), 5)
		stop := w.start()
		if r := w.ended(id); r.Status != state.RunDone || r.Valid != 40 {
			t.Errorf("%+v", r)
		}
		stop()
		_, events := w.events(id)
		found := map[string]string{"events": events, "log": w.log.String()}
		files := 0
		if err := filepath.WalkDir(w.worker.Data, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			found[path] = string(unpacked(t, path, data))
			files++
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if files < 8 {
			t.Errorf("%d files looked at", files)
		}
		redacted := 0
		for where, text := range found {
			for _, key := range []string{theKey, otherKey} {
				if strings.Contains(text, key) || strings.Contains(text, strings.ReplaceAll(key, "/", `\/`)) {
					t.Errorf("a key stands in %s", where)
				}
			}
			if strings.Contains(text, "the other one is [redacted:") {
				redacted++
			}
		}
		if redacted < 3 { // journal, raw answers, traces
			t.Errorf("the answers are in %d files: the test looks at the wrong places", redacted)
		}
	})
}

func TestCancelling(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.worker.Lease = 9 * time.Second // looked at every three; not lost on a busy machine
		g := newGate(3)
		f := fake(t, g.script)
		cancel := func(id string) {
			w.write(func(tx *state.Tx) error {
				_, err := tx.RequestCancel(t.Context(), workspaceID, id, time.Now())
				return err
			})
		}
		queued := w.queue(asked(10, model("api", f.URL)), 5)
		cancel(queued)
		id := w.queue(asked(10, "{name: api, kind: openai-chat, base_url: '"+f.URL+"/v1', model: fake-1, api_key_env: FAKE_API_KEY, max_concurrency: 1, max_tokens: 20, price: {input_per_mtok: 10, output_per_mtok: 10}}"), 5)
		w.start()
		<-g.waiting
		cancel(id)
		// The question under way may end: it is paid for.
		_ = sleep(t.Context(), 6*time.Second)
		close(g.open)
		r := w.ended(id)
		if r.Status != state.RunCancelled || r.Valid != 4 || !near(r.SpentMicros, 4*answerUSD) || r.AtMostMicros != r.SpentMicros || r.Bundle == "" {
			t.Errorf("%+v", r)
		}
		if n := len(f.Requests()); n != 4 {
			t.Errorf("the model was asked %d times, want 4", n)
		}
		if types, all := w.events(id); types[len(types)-1] != "ended cancelled" {
			t.Errorf("events: %s", all)
		}
		if m := w.results(r).Manifest; m.Counts.Valid != 4 || m.Counts.Missing != 6 {
			t.Errorf("%+v", m.Counts)
		}
		if r := w.run(queued); r.Status != state.RunCancelled || r.Attempt != 0 {
			t.Errorf("the queued run: %+v", r)
		}
	})
}

func TestALostLeaseEndsTheWork(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		g := newGate(3)
		f := fake(t, g.script)
		id := w.queue(asked(50, model("api", f.URL)), 5)
		stop := w.start()
		<-g.waiting
		var taken *state.EvalRun
		w.write(func(tx *state.Tx) (err error) { // as if the worker had not been heard of
			taken, err = tx.ClaimRun(t.Context(), "thief", time.Now().Add(time.Minute), time.Hour)
			return err
		})
		if taken == nil || taken.ID != id {
			t.Fatalf("%+v", taken)
		}
		for deadline := time.Now().Add(2 * time.Minute); !strings.Contains(w.log.String(), "run lost to another worker"); _ = sleep(t.Context(), 5*time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the worker does not notice that it lost the run")
			}
		}
		close(g.open)
		stop()
		if r := w.run(id); r.LeaseOwner != "thief" || r.Status != state.RunRunning || r.Bundle != "" || !r.LeaseUntil.Equal(taken.LeaseUntil) {
			t.Errorf("%+v", r)
		}
		if types, _ := w.events(id); slices.ContainsFunc(types, func(s string) bool { return strings.HasPrefix(s, "ended") }) {
			t.Errorf("events: %v", types)
		}
		// Who has the run now goes on with the same journal, and with its bill.
		w.write(func(tx *state.Tx) error {
			_, err := tx.RenewLease(t.Context(), taken.Lease(), time.Now(), 0, taken.RunProgress)
			return err
		})
		w.start()
		r := w.ended(id)
		if r.Status != state.RunDone || r.Valid != 50 || r.Attempt != 3 {
			t.Errorf("%+v", r)
		}
		w.once(id, 50)
		if charged := float64(len(f.Requests())) * answerUSD; float64(r.AtMostMicros)/1e6 < charged-1e-9 {
			t.Errorf("at most %d micros, and %.4f USD were charged", r.AtMostMicros, charged)
		}
	})
}

func TestAStoppedWorkerGivesItsRunBack(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		g := newGate(20)
		f := fake(t, g.script)
		id := w.queue(asked(100, model("api", f.URL)), 5)
		stop := w.start()
		<-g.waiting
		go func() {
			_ = sleep(t.Context(), 200*time.Millisecond) // the worker waits for what is under way
			close(g.open)
		}()
		stop()
		r := w.run(id)
		if r.Status != state.RunRunning || r.LeaseUntil.After(time.Now()) || r.Valid == 0 || r.Valid >= 100 || r.SpentMicros != r.AtMostMicros {
			t.Errorf("after the stop: %+v", r)
		}
		if r.Valid != len(f.Requests()) {
			t.Errorf("%d answers of %d questions", r.Valid, len(f.Requests()))
		}
		w.start()
		r = w.ended(id)
		if r.Status != state.RunDone || r.Valid != 100 || r.Attempt != 2 || !near(r.SpentMicros, 100*answerUSD) {
			t.Errorf("%+v", r)
		}
		w.once(id, 100)
		if n := len(f.Requests()); n != 100 {
			t.Errorf("the model was asked %d times for 100 answers", n)
		}
	})
}

func TestALostJournalStaysOnTheBill(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		g := newGate(20)
		f := fake(t, g.script)
		// A question is reckoned at 0.02 USD at most and costs 0.0003.
		id := w.queue(asked(100, model("api", f.URL)), 0.05)
		w.worker.Concurrency = 2
		stop := w.start()
		<-g.waiting
		close(g.open)
		stop()
		first := w.run(id)
		if first.Valid < 20 || first.Valid == 100 || first.SpentMicros == 0 {
			t.Fatalf("%+v", first)
		}
		if err := os.RemoveAll(evalwork.RunsRoot(w.worker.Data, workspaceID)); err != nil {
			t.Fatal(err)
		}
		w.start()
		r := w.ended(id)
		if r.Status != state.RunDone || !strings.Contains(r.Failure, "journal of an earlier worker was lost") || r.Valid == 0 {
			t.Errorf("%+v", r)
		}
		if bill := float64(len(f.Requests())) * answerUSD; !near(r.SpentMicros, bill) || r.AtMostMicros > r.BudgetMicros {
			t.Errorf("the model charged %.4f, the bill is %d of %d micros", bill, r.SpentMicros, r.BudgetMicros)
		}
	})
}

func TestABudgetEndsARun(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		f := fake(t, providertest.Always(answered()))
		id := w.queue(asked(200, model("api", f.URL)), 0.03)
		w.start()
		r := w.ended(id)
		if r.Status != state.RunDone || !strings.Contains(r.Failure, "The budget of 0.03 USD was reached") || r.Valid == 0 || r.Valid == 200 || r.AtMostMicros > r.BudgetMicros || r.Bundle == "" {
			t.Errorf("%+v", r)
		}
	})
}

func TestARunThatCannotBe(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		f := fake(t, providertest.Always(providertest.Step{Do: providertest.Unauthorized}))
		for what, c := range map[string]struct{ source, note string }{
			"a key that is not set":     {strings.ReplaceAll(asked(2, model("api", f.URL)), "FAKE_API_KEY", "LOST_API_KEY"), "LOST_API_KEY are not set"},
			"a key that is not taken":   {asked(2, model("api", f.URL)), "No trial has an answer. Main reason (2 trials): auth: "},
			"an eval of another policy": {asked(2, "{name: c, kind: command, command: [ls]}"), "cannot be run any more: line 7: agent c: command is not allowed on this service"},
		} {
			id := w.queue(c.source, 5)
			stop := w.start()
			r := w.ended(id)
			if r.Status != state.RunFailed || !strings.Contains(r.Failure, c.note) || r.SpentMicros != 0 || r.Bundle != "" {
				t.Errorf("%s: %+v", what, r)
			}
			stop()
		}
	})
}

// TestNoPlans: a server without plans runs the evals of every workspace.
func TestNoPlans(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.worker.Plans = false
		w.write(func(tx *state.Tx) error { return tx.SetPlanOf(t.Context(), workspaceID, state.PlanFree) })
		id := w.queue(asked(5, recorded), 1)
		w.start()
		if r := w.ended(id); r.Status != state.RunDone {
			t.Errorf("%+v", r)
		}
	})
}

// TestPlansOfTheStore: a worker follows what the server said, not its own configuration.
func TestPlansOfTheStore(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		for server, want := range map[bool]string{true: state.RunCancelled, false: state.RunDone} {
			w.worker.Plans = !server
			if err := w.db.SetPlans(t.Context(), server); err != nil {
				t.Fatal(err)
			}
			w.write(func(tx *state.Tx) error { return tx.SetPlanOf(t.Context(), workspaceID, state.PlanFree) })
			id := w.queue(strings.Replace(asked(5, recorded), "name: own", fmt.Sprintf("name: own-%t", server), 1), 1)
			stop := w.start()
			if r := w.ended(id); r.Status != want {
				t.Errorf("plans %t: %+v", server, r)
			}
			stop()
		}
	})
}

// TestAWorkspaceThatMayNotRun: an operator's word ends what waits and what is under
// way, and its owner reads why.
func TestAWorkspaceThatMayNotRun(t *testing.T) {
	tests := map[string]struct {
		stop func(tx *state.Tx) error
		note string
	}{
		"its plan ended": {
			func(tx *state.Tx) error { return tx.SetPlanOf(t.Context(), workspaceID, state.PlanFree) },
			"the workspace's plan is no longer paid",
		},
		"its owner is disabled": {
			func(tx *state.Tx) error {
				a, err := tx.Account(t.Context(), ownerID)
				if err != nil {
					return err
				}
				a.DisabledAt = time.Now()
				return tx.SaveAccount(t.Context(), a)
			},
			"the account of the workspace's owner is disabled",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				g := newGate(3)
				f := fake(t, g.script)
				defer close(g.open)
				w.worker.Runs, w.worker.Drain = 1, 10*time.Millisecond
				under := w.queue(asked(10, model("api", f.URL)), 5)
				waits := w.queue(asked(5, recorded), 1)
				w.start()
				<-g.waiting
				w.write(tt.stop)
				for _, id := range []string{under, waits} {
					r := w.ended(id)
					if r.Status != state.RunCancelled || !strings.Contains(r.Failure, tt.note) || r.Valid == r.Planned {
						t.Errorf("%s: %+v", id, r)
					}
					if types, all := w.events(id); types[len(types)-1] != "ended cancelled" || !strings.Contains(all, tt.note) {
						t.Errorf("%s: %s", id, all)
					}
				}
				if r := w.run(waits); r.Valid != 0 {
					t.Errorf("the queued run: %+v", r)
				}
			})
		})
	}
}

func TestTroubleOfTheWorkerIsNotTheRunsFault(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		f := fake(t, providertest.Always(answered()))
		if err := os.WriteFile(w.worker.Bundles, nil, 0o600); err != nil { // no folder can be made there
			t.Fatal(err)
		}
		id := w.queue(asked(5, model("api", f.URL)), 5)
		stop := w.start()
		w.until(id, "given back", func(r *state.EvalRun) bool {
			return r.Attempt > 0 && strings.Contains(w.log.String(), "run given back: ")
		})
		stop()
		r := w.run(id)
		if r.Status != state.RunRunning || r.Valid != 5 || !near(r.SpentMicros, 5*answerUSD) {
			t.Errorf("%+v", r)
		}
		if err := os.Remove(w.worker.Bundles); err != nil {
			t.Fatal(err)
		}
		w.worker.Now = func() time.Time { return time.Now().Add(time.Minute) } // the wait is over
		stop = w.start()
		if r = w.ended(id); r.Status != state.RunDone || r.Valid != 5 || !near(r.SpentMicros, 5*answerUSD) || len(f.Requests()) != 5 {
			t.Errorf("%+v, %d questions", r, len(f.Requests()))
		}
		stop()

		// What meets only trouble is given up in the end, without telling strangers of our disk.
		if err := errors.Join(os.RemoveAll(w.worker.Bundles), os.WriteFile(w.worker.Bundles, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		id = w.queue(asked(5, model("api", f.URL)), 5)
		for range 24 {
			w.write(func(tx *state.Tx) error {
				r, err := tx.ClaimRun(t.Context(), "other", w.worker.Now(), time.Second)
				if err != nil {
					return err
				}
				_, err = tx.RenewLease(t.Context(), r.Lease(), w.worker.Now(), 0, r.RunProgress)
				return err
			})
		}
		w.start()
		r = w.ended(id)
		if r.Status != state.RunFailed || !strings.Contains(r.Failure, "after 25 attempts") || strings.Contains(r.Failure, w.worker.Data) || !near(r.SpentMicros, 5*answerUSD) {
			t.Errorf("%+v", r)
		}
	})
}

func TestARunWhoseJournalIsHeldElsewhereWaits(t *testing.T) {
	w := newWorld(t, "sqlite")
	f := fake(t, providertest.Always(answered()))
	id := w.queue(asked(5, model("api", f.URL)), 5)
	root := evalwork.RunsRoot(w.worker.Data, workspaceID)
	release := holdJournal(t, root, id, asked(5, model("api", f.URL)))
	stop := w.start()
	w.until(id, "given back", func(*state.EvalRun) bool { return strings.Contains(w.log.String(), "being written by another process") })
	stop()
	release()
	w.worker.Now = func() time.Time { return time.Now().Add(time.Minute) }
	w.start()
	if r := w.ended(id); r.Status != state.RunDone || r.Valid != 5 || r.Attempt != 2 {
		t.Errorf("%+v", r)
	}
}

func TestPrivateAddressesAreNotReached(t *testing.T) {
	w := newWorld(t, "sqlite")
	f := fake(t, providertest.Always(answered()))
	w.worker.Policy = evalwork.Policy{}
	address := strings.Replace(strings.Replace(f.URL, "http://", "https://", 1), "127.0.0.1", "localhost", 1)
	id := w.queue(asked(5, model("api", address)), 5)
	w.start()
	r := w.ended(id)
	if r.Status != state.RunFailed || !strings.Contains(r.Failure, "the address is not public") || len(f.Requests()) != 0 {
		t.Errorf("%+v", r)
	}
}

func TestARunThatIsCancelledWhileNobodyHasItAsksNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		g := newGate(10)
		f := fake(t, g.script)
		w.worker.Concurrency = 2
		id := w.queue(asked(50, model("api", f.URL)), 5)
		stop := w.start()
		<-g.waiting
		close(g.open)
		stop()
		before := len(f.Requests())
		w.write(func(tx *state.Tx) error {
			_, err := tx.RequestCancel(t.Context(), workspaceID, id, time.Now())
			return err
		})
		w.start()
		r := w.ended(id)
		if r.Status != state.RunCancelled || r.Valid != before || !near(r.SpentMicros, float64(before)*answerUSD) || w.results(r).Manifest.Counts.Valid != before {
			t.Errorf("%+v, %d answers before", r, before)
		}
		if n := len(f.Requests()); n != before {
			t.Errorf("%d questions after it was cancelled", n-before)
		}
	})
}

func TestARunThatEndsItsWorkersIsGivenUp(t *testing.T) {
	w := newWorld(t, "sqlite")
	id := w.queue(asked(5, recorded), 5)
	for range 100 {
		w.write(func(tx *state.Tx) error {
			r, err := tx.ClaimRun(t.Context(), "other", time.Now(), time.Second)
			if err != nil {
				return err
			}
			_, err = tx.RenewLease(t.Context(), r.Lease(), time.Now(), 0, r.RunProgress)
			return err
		})
	}
	w.start()
	if r := w.ended(id); r.Status != state.RunFailed || !strings.Contains(r.Failure, "started 101 times") || r.Bundle != "" {
		t.Errorf("%+v", r)
	}
}

// TestGivingARunBackIsNoTrouble: a worker that lets others have its slot, or stops, does
// not bring the run nearer to its end. The time limit counts on.
func TestGivingARunBackIsNoTrouble(t *testing.T) {
	for what, c := range map[string]struct {
		worked time.Duration
		status string
		note   string
	}{
		"within the time limit": {time.Hour, state.RunDone, ""},
		"beyond it":             {6 * time.Hour, state.RunFailed, "The run reached its time limit of 6h0m0s."},
	} {
		t.Run(what, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				g := newGate(0)
				f := fake(t, g.script)
				id := w.queue(asked(5, model("api", f.URL)), 5)
				for range 120 {
					w.write(func(tx *state.Tx) error {
						r, err := tx.ClaimRun(t.Context(), "other", time.Now(), time.Second)
						if err != nil {
							return err
						}
						r.Worked = c.worked
						return tx.ReleaseRun(t.Context(), r.Lease(), time.Now(), r.RunProgress, "")
					})
				}
				w.worker.Drain = 10 * time.Millisecond
				if c.note == "" {
					close(g.open)
				} else {
					defer close(g.open)
				}
				w.start()
				if r := w.ended(id); r.Status != c.status || !strings.Contains(r.Failure, c.note) || r.Tries() != 1 || r.Attempt != 121 || r.Worked < c.worked {
					t.Errorf("%+v", r)
				}
			})
		})
	}
}

// TestResultsThatEndTheirWorkersAreLeft sees that making the results is not tried for
// ever: it may be what no worker lives through.
func TestResultsThatEndTheirWorkersAreLeft(t *testing.T) {
	for attempts, bundled := range map[int]bool{100: true, 101: false} {
		w := newWorld(t, "sqlite")
		g := newGate(3)
		f := fake(t, g.script)
		drain := w.worker.Drain
		w.worker.Concurrency, w.worker.Drain = 1, 10*time.Millisecond
		id := w.queue(asked(5, model("api", f.URL)), 5)
		stop := w.start()
		<-g.waiting
		stop() // while a request is open, so that the run cannot end
		close(g.open)
		w.worker.Drain = drain
		first := w.run(id)
		for range attempts { // beside the first, which was given back in order
			w.write(func(tx *state.Tx) error {
				r, err := tx.ClaimRun(t.Context(), "other", time.Now(), time.Second)
				if err != nil {
					return err
				}
				_, err = tx.RenewLease(t.Context(), r.Lease(), time.Now(), 0, r.RunProgress)
				return err
			})
		}
		w.start()
		r := w.ended(id)
		if r.Status != state.RunFailed || r.Attempt != attempts+2 || (r.Bundle != "") != bundled || r.SpentMicros != first.SpentMicros || first.Valid == 0 {
			t.Errorf("after %d attempts: %+v", attempts, r)
		}
	}
}

// TestABillThatCannotBe is what a provider tells that counts 2e12 tokens an answer, at
// a dollar each.
func TestABillThatCannotBe(t *testing.T) {
	w := newWorld(t, "sqlite")
	var asking sync.WaitGroup
	asking.Add(10) // under way at once, so that no budget is between them
	f := fake(t, func(r providertest.Request) providertest.Step {
		if r.N < 10 {
			asking.Done()
		}
		asking.Wait()
		s := answered()
		s.Usage = prices.Usage{Input: 1e12, Output: 1e12}
		return s
	})
	source := strings.ReplaceAll(asked(10, model("api", f.URL)), "_per_mtok: 10", "_per_mtok: 1000000")
	id := w.queue("concurrency: 10\n"+source, 1e6)
	w.start()
	r := w.ended(id)
	if _, all := w.events(id); r.SpentMicros != 1e18 || r.AtMostMicros < r.SpentMicros || strings.Contains(all, `"spentUsd":-`) {
		t.Errorf("%+v, %s", r, all)
	}
}

// TestProgressOfManyLanesIsToldSeldom keeps a run from filling the store, which all
// workspaces share, with how each of its lanes is.
func TestProgressOfManyLanesIsToldSeldom(t *testing.T) {
	w := newWorld(t, "sqlite")
	w.worker.Lease = 3 * time.Second // looked at every second
	f := fake(t, func(providertest.Request) providertest.Step {
		_ = sleep(t.Context(), 500*time.Millisecond)
		return answered()
	})
	var agents []string
	for i := range 150 {
		agents = append(agents, strings.Replace(model(fmt.Sprintf("agent-%d", i), f.URL), "fake-1", fmt.Sprintf("fake-%d", i), 1))
	}
	id := w.queue("concurrency: 50\n"+asked(2, agents...), 500)
	w.start()
	if r := w.ended(id); r.Valid != 300 {
		t.Errorf("%+v", r)
	}
	events, err := w.db.Read().RunEventsAfter(t.Context(), id, 0, 1000)
	if err != nil || len(events) < 4 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	told := events[:len(events)-2] // the last two come with the end
	for i := 1; i < len(told); i++ {
		if gap, size := told[i].At.Sub(told[i-1].At), len(told[i-1].Body); gap < time.Duration(size)*time.Second/2048 {
			t.Errorf("the next event came %s after one of %d bytes", gap, size)
		}
	}
}
