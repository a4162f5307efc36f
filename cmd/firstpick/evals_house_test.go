package main

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/state"
)

// A house is a data folder with a store, on which real servers and workers work. Runs
// are put into the queue through the store, as the API does.
type house struct {
	t     *testing.T
	dir   string
	state []string // flags
	db    *state.DB
	runs  int
	log   string // of all processes
}

func newHouse(t *testing.T, engine string) *house {
	t.Helper()
	h := &house{t: t, dir: t.TempDir()}
	h.log = filepath.Join(h.dir, "processes.log")
	data := filepath.Join(h.dir, ".firstpick")
	address := "sqlite://" + filepath.Join(data, "state.db")
	if engine == "postgres" {
		address = cluster(t)
		h.state = []string{"--state", address}
	}
	master := make([]byte, secret.MasterSize)
	_, _ = rand.Read(master)
	vault, err := secret.NewVault(master, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "state.key"), []byte(base64.StdEncoding.EncodeToString(master)), 0o600); err != nil {
		t.Fatal(err)
	}
	if h.db, err = state.Open(t.Context(), address, vault); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.db.Close(); err != nil {
			t.Error(err)
		}
		if log, _ := os.ReadFile(h.log); t.Failed() {
			t.Logf("the processes' last words:\n%s", log[max(0, len(log)-3000):])
		}
	})
	return h
}

// start starts a server or a worker. Runs whose worker was killed wait a second.
func (h *house) start(args ...string) *exec.Cmd {
	h.t.Helper()
	log, err := os.OpenFile(h.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	cmd := firstpick(h.t, h.dir, append(args, h.state...)...)
	cmd.Env = append(os.Environ(), "FIRSTPICK_EVAL_PRIVATE=true", "FIRSTPICK_EVAL_LEASE=1s")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { h.kill(cmd) })
	return cmd
}

func (h *house) kill(cmd *exec.Cmd) {
	if cmd.ProcessState == nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

func (h *house) write(fn func(tx *state.Tx) error) {
	h.t.Helper()
	if err := h.db.Write(h.t.Context(), fn); err != nil {
		h.t.Fatal(err)
	}
}

// workspace makes a paid workspace with an eval and a key of its provider.
func (h *house) workspace(id, source, key string) {
	h.t.Helper()
	h.write(func(tx *state.Tx) error {
		now := time.Now()
		if _, err := tx.AddWorkspace(h.t.Context(), &state.Workspace{ID: id, Slug: id, OwnerID: "acc", Plan: "paid", CreatedAt: now, ClaimedAt: now}); err != nil {
			return err
		}
		if err := tx.PutProviderKey(h.t.Context(), id, state.ProviderKey{Name: "FAKE_API_KEY", Shown: "..." + key[len(key)-4:], Hosts: hostsIn(h.t, source)}, state.ProviderSecret(key), now); err != nil {
			return err
		}
		_, _, err := tx.PutEval(h.t.Context(), &state.Eval{ID: "evl_" + id, WorkspaceID: id, Name: "own", Latest: state.EvalVersion{
			Source: []byte(source), Digest: "digest", Summary: []byte("{}"), CreatedAt: now, CreatedBy: "acc",
		}}, state.EvalCap{Evals: 1, Versions: 1})
		return err
	})
}

// hostsIn returns the hosts of the addresses in an eval.
func hostsIn(t testing.TB, source string) (hosts []string) {
	t.Helper()
	for _, at := range regexp.MustCompile(`https?://[^/'"\s]+`).FindAllString(source, -1) {
		host, err := evals.KeyHost(at)
		if err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, host)
	}
	return hosts
}

// queue puts runs of a workspace's eval into the queue.
func (h *house) queue(workspace string, n int, budgetUSD float64) []string {
	h.t.Helper()
	var ids []string
	h.write(func(tx *state.Tx) error {
		ids = nil
		for i := range n {
			id := fmt.Sprintf("run_%s_%d", workspace, h.runs+i)
			if _, _, err := tx.AddRun(h.t.Context(), &state.EvalRun{
				ID: id, WorkspaceID: workspace, EvalID: "evl_" + workspace, Version: 1, EvalName: "own", Category: "webserver",
				BudgetMicros: int64(budgetUSD * 1e6), CreatedAt: time.Now(), CreatedBy: "acc",
			}, 10_000); err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	})
	h.runs += n
	return ids
}

func (h *house) run(workspace, id string) *state.EvalRun {
	h.t.Helper()
	r, err := h.db.Read().Run(h.t.Context(), workspace, id)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func (h *house) until(workspace, id string, is func(*state.EvalRun) bool) *state.EvalRun {
	h.t.Helper()
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(5 * time.Millisecond) {
		if r := h.run(workspace, id); is(r) {
			return r
		}
	}
	h.t.Fatalf("not in a minute: %+v", h.run(workspace, id))
	return nil
}

// endings counts the events that end a run.
func (h *house) endings(id string) int {
	h.t.Helper()
	n := 0
	for after := int64(0); ; {
		list, err := h.db.Read().RunEventsAfter(h.t.Context(), id, after, 500)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, e := range list {
			if bytes.Contains(e.Body, []byte(`"type":"ended"`)) {
				n++
			}
			after = e.Seq
		}
		if len(list) == 0 {
			return n
		}
	}
}

// A paidModel answers like an OpenAI model, and counts what it charges for.
type paidModel struct {
	*httptest.Server
	charged atomic.Int64
}

// newPaidModel starts a model that takes a time for each answer. It charges for what
// it was asked, also where nobody waits for the answer any more.
func newPaidModel(t *testing.T, latency func() time.Duration, text func(r *http.Request) string) *paidModel {
	m := &paidModel{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.charged.Add(1)
		select {
		case <-time.After(latency()):
		case <-r.Context().Done():
		}
		said, _ := json.Marshal(text(r))
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"model":"fake-1","choices":[{"message":{"content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":10}}`, said)
	}))
	t.Cleanup(m.Close)
	return m
}

// ownEval is an eval that asks a model; an answer costs 0.0003 USD.
func ownEval(url string, repeats, concurrency int) string {
	return fmt.Sprintf(`name: own
category: webserver
repeats: %d
concurrency: %d
prompts:
  - {id: p1, text: Write an API server.}
  - {id: p2, text: Write a web backend.}
agents:
  - {name: api, kind: openai-chat, base_url: '%s/v1', model: fake-1, api_key_env: FAKE_API_KEY, max_tokens: 20, price: {input_per_mtok: 10, output_per_mtok: 10}}
`, repeats, concurrency, url)
}

const ownAnswerMicros = 300
