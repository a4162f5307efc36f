package evalwork_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// longText is an answer of so many bytes.
func longText(bytes int) string {
	const one = "flask django "
	return strings.Repeat(one, bytes/len(one))
}

// longModel answers every question with a text, and counts them.
func longModel(t *testing.T, text string) (url string, questions *atomic.Int32) {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"id": "1", "object": "chat.completion", "model": "fake-1",
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]string{"role": "assistant", "content": text}}},
		"usage":   map[string]int{"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30},
	})
	if err != nil {
		t.Fatal(err)
	}
	questions = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		questions.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	return server.URL, questions
}

// TestLongAnswersEnd: reading one takes seconds, more than a lease may leave. That
// answers which wait are bounded is shown in package runner.
func TestLongAnswersEnd(t *testing.T) {
	w := newWorld(t, statetest.Engines()[0])
	const answers = 12
	url, questions := longModel(t, longText(1_500_000))
	w.worker.Extraction = runner.NewExtraction(1, 4<<20)
	w.worker.Lease = time.Minute
	w.start()
	id := w.queue(asked(answers, model("long", url)), 1)
	w.untilWithin(5*time.Minute, id, "ended", func(r *state.EvalRun) bool { return !r.EndedAt.IsZero() })
	if r := w.run(id); r.Status != state.RunDone || r.Valid != answers || questions.Load() != answers {
		t.Fatalf("%+v, asked %d times", r, questions.Load())
	}
	w.once(id, answers)
}

// TestACancelReadsWhatWasAnswered: answers that wait to be read are paid for. A cancel
// waits for them, but not for ever, and so does a worker that meets a cancelled run.
func TestACancelReadsWhatWasAnswered(t *testing.T) {
	const held = 8 // answers that a run of one question at a time lets wait
	for what, c := range map[string]struct {
		drain   time.Duration
		readers bool // come when the worker waits for them
		restart bool // the worker stops first
		valid   int
	}{
		"they are read in time":         {drain: 3 * time.Minute, readers: true, valid: held},
		"nobody comes to read them":     {drain: 100 * time.Millisecond},
		"the next worker reads them":    {drain: 3 * time.Minute, readers: true, restart: true, valid: held},
		"the next worker cannot either": {drain: 100 * time.Millisecond, restart: true},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t, statetest.Engines()[0])
			url, questions := longModel(t, strings.Repeat("flask django ", 2000))
			w.worker.Extraction, w.worker.Concurrency, w.worker.Drain = runner.NewExtraction(1, 0), 1, c.drain
			w.worker.Lease = 6 * time.Second                   // not lost on a busy machine
			give, err := w.worker.Extraction.Take(t.Context()) // nothing is read
			if err != nil {
				t.Fatal(err)
			}
			give = sync.OnceFunc(give)
			t.Cleanup(give)
			const look = 50 * time.Millisecond // of a worker that waits for what is under way
			w.worker.Sleep = func(ctx context.Context, d time.Duration) error {
				if d == look && c.readers {
					give()
				}
				return sleep(ctx, d)
			}
			stop := w.start()
			id := w.queue(asked(12, model("long", url)), 1)
			w.until(id, "answered", func(*state.EvalRun) bool { return w.held(id) == held })
			if c.restart {
				stop()
			}
			w.write(func(tx *state.Tx) error {
				_, err := tx.RequestCancel(t.Context(), workspaceID, id, time.Now())
				return err
			})
			if c.restart {
				w.start()
			}
			r := w.ended(id)
			if r.Status != state.RunCancelled || r.Valid != c.valid || (r.Bundle != "") != (c.valid > 0) || questions.Load() != held || !near(r.SpentMicros, held*answerUSD) {
				t.Fatalf("%+v, asked %d times", r, questions.Load())
			}
		})
	}
}

// TestAStoppedWorkerLeavesLongAnswersToBeRead: nothing that was answered is asked again.
func TestAStoppedWorkerLeavesLongAnswersToBeRead(t *testing.T) {
	w := newWorld(t, statetest.Engines()[0])
	url, questions := longModel(t, longText(500_000))
	w.worker.Extraction = runner.NewExtraction(1, 0)
	give, err := w.worker.Extraction.Take(t.Context()) // nothing is read
	if err != nil {
		t.Fatal(err)
	}
	stop := w.start()
	id := w.queue(asked(4, model("long", url)), 1)
	w.until(id, "answered", func(*state.EvalRun) bool { return w.held(id) == 4 })
	stop()
	if r := w.run(id); !r.EndedAt.IsZero() || r.Valid != 0 || !near(r.SpentMicros, 4*answerUSD) {
		t.Fatalf("%+v", r)
	}
	give()
	w.start()
	if r := w.ended(id); r.Status != state.RunDone || r.Valid != 4 || questions.Load() != 4 || !near(r.SpentMicros, 4*answerUSD) {
		t.Fatalf("%+v, asked %d times", r, questions.Load())
	}
	w.once(id, 4)
}
