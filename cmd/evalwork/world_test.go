package evalwork_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/cmd/evalwork"
	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/provider/providertest"
	"github.com/firstpick/firstpick/server/evals/bundle"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

const (
	workspaceID = "wsp_1"
	ownerID     = "acc_1"
	theKey      = "sk-plain-key-of-this-workspace-0123456789"
	otherKey    = "anthropic+key/with=signs-9876543210"
	// What the fake model charges: 20 tokens read and 10 written at 10 USD per million.
	answerUSD = 0.0003
)

// A world is a store with a paid workspace, and a worker to be.
type world struct {
	t       *testing.T
	db      *state.DB
	worker  evalwork.Worker
	log     *safeBuffer
	workers int
	hosts   []string // that the key may be sent to
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func onBoth(t *testing.T, test func(t *testing.T, w *world)) {
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) { test(t, newWorld(t, engine)) })
	}
}

func newWorld(t *testing.T, engine string) *world {
	t.Helper()
	cat, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	table, err := prices.Load(fixtures.Files())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, db: statetest.Open(t, statetest.Address(t, engine)), log: &safeBuffer{}}
	dir := t.TempDir()
	w.worker = evalwork.Worker{
		DB: w.db, Data: dir, Bundles: filepath.Join(dir, "bundles"), Shared: storage.Folder(filepath.Join(dir, "shared")), Files: fixtures.Files(), Catalog: cat, Prices: table,
		Policy: evalwork.Policy{Private: true}, Plans: true, Generator: "firstpick", Lease: 2 * time.Second, Poll: 10 * time.Millisecond, Drain: 10 * time.Second,
		Log: slog.New(slog.NewJSONHandler(w.log, nil)), Now: time.Now, Sleep: sleep,
	}
	w.write(func(tx *state.Tx) error {
		_, err := tx.AddWorkspace(t.Context(), &state.Workspace{ID: workspaceID, Slug: "acme", OwnerID: ownerID, Plan: "paid", CreatedAt: time.Now(), ClaimedAt: time.Now()})
		return errors.Join(err, tx.AddAccount(t.Context(), &state.Account{ID: ownerID, Email: "dana@example.com", VerifiedAt: time.Now(), CreatedAt: time.Now()}))
	})
	w.key("FAKE_API_KEY", theKey)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log:\n%s", w.log)
		}
	})
	return w
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// after is sleep, but for one length of time, which is over when a channel says so.
func after(length time.Duration, over <-chan time.Time) func(context.Context, time.Duration) error {
	return func(ctx context.Context, d time.Duration) error {
		if d != length {
			return sleep(ctx, d)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-over:
			return nil
		}
	}
}

func (w *world) write(fn func(tx *state.Tx) error) {
	w.t.Helper()
	if err := w.db.Write(w.t.Context(), fn); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) key(name, value string) {
	w.t.Helper()
	w.write(func(tx *state.Tx) error {
		return tx.PutProviderKey(w.t.Context(), workspaceID, state.ProviderKey{Name: name, Shown: "...", Hosts: evals.DefaultHosts(name)}, state.ProviderSecret(value), time.Now())
	})
}

// asked is an eval of one prompt with agents.
func asked(repeats int, agents ...string) string {
	return fmt.Sprintf("name: own\ncategory: webserver\nrepeats: %d\nprompts:\n  - {id: webserver, text: Write an API server.}\nagents:\n  - %s\n", repeats, strings.Join(agents, "\n  - "))
}

// model is an agent that asks a fake model.
func model(name, url string) string {
	return fmt.Sprintf("{name: %s, kind: openai-chat, base_url: '%s/v1', model: fake-1, api_key_env: FAKE_API_KEY, max_tokens: 20, price: {input_per_mtok: 10, output_per_mtok: 10}}", name, url)
}

const recorded = "{name: gpt-4o-mini-2024-07-18, kind: recorded, study: twist-2025}"

// answered is the step of a fake model that picks a tool.
func answered() providertest.Step {
	return providertest.Step{Text: "I would use Flask.", Usage: prices.Usage{Input: 20, Output: 10}}
}

// queue stores an eval and puts a run of it into the queue.
func (w *world) queue(source string, budget float64) string {
	w.t.Helper()
	return w.queueOf(workspaceID, source, budget)
}

func (w *world) queueOf(workspace, source string, budget float64) string {
	w.t.Helper()
	w.bind(source)
	id := fmt.Sprintf("run_%d", w.workers+1)
	w.workers++
	w.write(func(tx *state.Tx) error {
		e, _, err := tx.PutEval(w.t.Context(), &state.Eval{ID: "evl_" + id, WorkspaceID: workspace, Name: "own", Latest: state.EvalVersion{
			Source: []byte(source), Digest: source, Summary: []byte("{}"), CreatedAt: time.Now(), CreatedBy: "acc",
		}}, state.EvalCap{Evals: 100, Versions: 100})
		if err != nil {
			return err
		}
		_, _, err = tx.AddRun(w.t.Context(), &state.EvalRun{
			ID: id, WorkspaceID: workspace, EvalID: e.ID, Version: e.Latest.Number, EvalName: "own", Category: "webserver",
			BudgetMicros: int64(budget * 1e6), CreatedAt: time.Now(), CreatedBy: "acc",
		}, 100)
		return err
	})
	return id
}

// start runs a worker and returns what stops it and waits.
func (w *world) start() (stop func()) {
	w.t.Helper()
	one := w.worker
	w.workers++
	one.Name = fmt.Sprintf("worker-%d", w.workers)
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- one.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
	})
	w.t.Cleanup(stop)
	return stop
}

// bind lets the key of the fake models be sent to the addresses of an eval.
func (w *world) bind(source string) {
	w.t.Helper()
	for _, at := range regexp.MustCompile(`https?://[^/']+`).FindAllString(source, -1) {
		host, err := evals.KeyHost(at)
		if err != nil {
			w.t.Fatal(err)
		}
		w.hosts = append(w.hosts, host)
	}
	w.write(func(tx *state.Tx) error {
		return tx.BindProviderKey(w.t.Context(), workspaceID, "FAKE_API_KEY", w.hosts, time.Now())
	})
}

func (w *world) run(id string) *state.EvalRun {
	w.t.Helper()
	return w.runOf(workspaceID, id)
}

func (w *world) runOf(workspace, id string) *state.EvalRun {
	w.t.Helper()
	r, err := w.db.Read().Run(w.t.Context(), workspace, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// until waits for a run to be as it should.
func (w *world) until(id, what string, is func(*state.EvalRun) bool) *state.EvalRun {
	w.t.Helper()
	return w.untilWithin(2*time.Minute, id, what, is)
}

func (w *world) untilWithin(d time.Duration, id, what string, is func(*state.EvalRun) bool) *state.EvalRun {
	w.t.Helper()
	for deadline := time.Now().Add(d); ; {
		r := w.run(id)
		if is(r) {
			return r
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("not %s within %s: %+v", what, d, r)
		}
		_ = sleep(w.t.Context(), 5*time.Millisecond)
	}
}

func (w *world) ended(id string) *state.EvalRun {
	w.t.Helper()
	return w.until(id, "ended", func(r *state.EvalRun) bool { return !r.EndedAt.IsZero() })
}

// events returns the types of a run's events, and their bodies.
func (w *world) events(id string) (types []string, all string) {
	w.t.Helper()
	list, err := w.db.Read().RunEventsAfter(w.t.Context(), id, 0, 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range list {
		var b struct{ Type, Status string }
		if err := json.Unmarshal(e.Body, &b); err != nil {
			w.t.Fatalf("%s: %v", e.Body, err)
		}
		types, all = append(types, strings.TrimSpace(b.Type+" "+b.Status)), all+string(e.Body)+"\n"
	}
	return types, all
}

// answers counts the results of each trial in a run's journal.
func (w *world) answers(id string) map[string]int { return w.records(id, journal.KindResult) }

// held counts the trials whose answer was stored before it was read.
func (w *world) held(id string) int { return len(w.records(id, journal.KindAnswer)) }

// records counts the records of a kind of each trial in a run's journal.
func (w *world) records(id string, kind journal.Kind) map[string]int {
	w.t.Helper()
	out := map[string]int{}
	if _, err := journal.Scan(evalwork.RunsRoot(w.worker.Data, workspaceID), id, journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
		if r.Kind == kind {
			out[r.Trial.ID]++
		}
		return nil
	}); err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
	return out
}

func (w *world) once(id string, trials int) {
	w.t.Helper()
	got := w.answers(id)
	if len(got) != trials {
		w.t.Errorf("%d trials have an answer, want %d", len(got), trials)
	}
	for trial, n := range got {
		if n != 1 {
			w.t.Errorf("trial %s has %d answers", trial, n)
		}
	}
}

func (w *world) results(r *state.EvalRun) *bundle.Bundle {
	w.t.Helper()
	b, err := bundle.Open(filepath.Join(w.worker.Shared.String(), workspaceID), r.Bundle)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = b.Close() })
	return b
}

// near says whether an amount of the store is a number of answers, to a thousandth of
// a cent.
func near(micros int64, usd float64) bool {
	d := float64(micros)/1e6 - usd
	return d < 1e-5 && d > -1e-5
}
