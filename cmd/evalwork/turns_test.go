package evalwork_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/cmd/evalwork"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/server/store/state"
)

// A fastClock runs so many times faster than the machine's.
type fastClock struct {
	start time.Time
	times time.Duration
}

func (c fastClock) now() time.Time { return c.start.Add(time.Since(c.start) * c.times) }

func (c fastClock) sleep(ctx context.Context, d time.Duration) error { return sleep(ctx, d/c.times) }

// steadyModel answers each request after a time, and notes whose it was.
type steadyModel struct {
	mu    sync.Mutex
	asked []string // workspaces, in order
}

func (m *steadyModel) serve(t *testing.T, workspace string, takes time.Duration) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		m.asked = append(m.asked, workspace)
		m.mu.Unlock()
		_ = sleep(r.Context(), takes)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"id":"1","object":"chat.completion","model":"fake-1","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"I would use Flask."}}],"usage":{"prompt_tokens":20,"completion_tokens":10,"total_tokens":30}}`)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestWorkspacesTakeTurns: three workspaces with one, two and three runs share a worker.
// Each gets trials before another has its second turn, no trial is lost or asked twice,
// and runs say why they wait.
func TestWorkspacesTakeTurns(t *testing.T) {
	const trials = 12
	for _, n := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d slots", n), func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				const minute = 40 * time.Millisecond // a trial takes one
				clock := fastClock{time.Now(), time.Minute / minute}
				w.worker.Now, w.worker.Sleep = clock.now, clock.sleep
				w.worker.Runs, w.worker.Lease, w.worker.Poll, w.worker.Turn, w.worker.MaxAge, w.worker.MaxTime = n, 12*time.Hour, 10*time.Second, 4*time.Minute, 1000*time.Hour, 1000*time.Hour
				w.worker.Drain, w.worker.Concurrency = time.Hour, 1
				m, runs := &steadyModel{}, map[string]string{}
				for i, workspace := range []string{workspaceID, "wsp_2", "wsp_3"} {
					url := m.serve(t, workspace, minute)
					w.joins(workspace, url)
					for range i + 1 {
						runs[w.queueOf(workspace, asked(trials, model("api", url)), 5)] = workspace
					}
				}
				w.start()
				notes := map[string]bool{}
				for deadline := time.Now().Add(2 * time.Minute); ; _ = sleep(t.Context(), 5*time.Millisecond) {
					open := 0
					for id, workspace := range runs {
						r := w.runOf(workspace, id)
						if r.EndedAt.IsZero() {
							open++
							notes[r.Failure] = true
						} else if r.Status != state.RunDone || r.Valid != trials || r.Tries() != 1 {
							t.Fatalf("%+v", r)
						}
					}
					if open == 0 {
						break
					}
					if time.Now().After(deadline) {
						t.Fatalf("%d runs never end", open)
					}
				}
				for id, workspace := range runs {
					w.onceOf(workspace, id, trials)
				}
				m.mu.Lock()
				defer m.mu.Unlock()
				if len(m.asked) != trials*len(runs) {
					t.Errorf("%d requests for %d trials", len(m.asked), trials*len(runs))
				}
				first := map[string]int{}
				for i, workspace := range m.asked {
					if _, seen := first[workspace]; !seen {
						first[workspace] = i
					}
				}
				// Turns of four minutes are about four trials; give a busy machine twice that.
				if len(first) != 3 || max(first[workspaceID], first["wsp_2"], first["wsp_3"]) > 2*4*2 {
					t.Errorf("first requests at %v of %v", first, m.asked)
				}
				if !notes["Waiting: its turn of 4m0s is over, and runs of other workspaces wait. The run continues from its journal."] {
					t.Errorf("notes of waiting runs: %v", notes)
				}
			})
		})
	}
}

// joins adds a workspace whose key may be sent to a model, or lets the first one's.
func (w *world) joins(workspace, url string) {
	w.t.Helper()
	if workspace == workspaceID {
		return
	}
	w.write(func(tx *state.Tx) error {
		if _, err := tx.AddWorkspace(w.t.Context(), &state.Workspace{ID: workspace, Slug: strings.ReplaceAll(workspace, "_", "-"), Plan: "paid", CreatedAt: time.Now(), ClaimedAt: time.Now()}); err != nil {
			return err
		}
		return tx.PutProviderKey(w.t.Context(), workspace, state.ProviderKey{Name: "FAKE_API_KEY", Shown: "...", Hosts: []string{strings.TrimPrefix(url, "http://")}}, state.ProviderSecret(theKey), time.Now())
	})
}

// onceOf fails unless each trial of a run has one answer.
func (w *world) onceOf(workspace, id string, trials int) {
	w.t.Helper()
	got := map[string]int{}
	if _, err := journal.Scan(evalwork.RunsRoot(w.worker.Data, workspace), id, journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
		if r.Kind == journal.KindResult {
			got[r.Trial.ID]++
		}
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
	for trial, n := range got {
		if n != 1 {
			w.t.Errorf("trial %s of %s has %d answers", trial, id, n)
		}
	}
	if len(got) != trials {
		w.t.Errorf("%s: %d trials have an answer, want %d", id, len(got), trials)
	}
}

// TestLimitsOfARun: a run that is too old, or stores too much, ends with what it has and
// says why. It makes no request beyond.
func TestLimitsOfARun(t *testing.T) {
	for name, test := range map[string]struct {
		limit func(w *evalwork.Worker)
		begun time.Duration // ago
		want  string
	}{
		"its age":        {func(w *evalwork.Worker) { w.MaxAge = 48 * time.Hour }, 49 * time.Hour, "The run reached its limit of 48h0m0s from start to end."},
		"what it stores": {func(w *evalwork.Worker) { w.MaxBytes = 64 << 10 }, time.Minute, "The run reached its storage limit: its answers take 97.7 KiB, and a run may store 64.0 KiB."},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				g := newGate(3)
				f := fake(t, g.script)
				defer close(g.open)
				w.worker.Drain, w.worker.Lease = 10*time.Millisecond, time.Minute
				stop := w.start()
				id := w.queue(asked(10, model("api", f.URL)), 5)
				<-g.waiting
				w.until(id, "answered", func(*state.EvalRun) bool { return len(w.answers(id)) == 3 })
				stop()
				before := time.Now()
				w.worker.Now = func() time.Time { return before.Add(test.begun).Add(time.Since(before)) }
				pad := filepath.Join(evalwork.RunsRoot(w.worker.Data, workspaceID), id, "pad")
				if err := os.WriteFile(pad, make([]byte, 97<<10), 0o600); err != nil {
					t.Fatal(err)
				}
				test.limit(&w.worker)
				w.start()
				r := w.ended(id)
				if r.Status != state.RunDone || r.Valid != 3 || r.Bundle == "" || !strings.Contains(strings.ReplaceAll(r.Failure, "\n", " "), test.want[:40]) {
					t.Errorf("%+v", r)
				}
				if !strings.HasPrefix(r.Failure, "7 of 10 trials have no answer. ") {
					t.Errorf("note %q", r.Failure)
				}
			})
		})
	}
}
