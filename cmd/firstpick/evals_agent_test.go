package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// A keyHolder sends an eval key with every request.
type keyHolder string

func (k keyHolder) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(k))
	return http.DefaultTransport.RoundTrip(r)
}

// TestAnAgentRunsAnEvalOverMCP has a client of the protocol list, start, poll, read, compare
// and explain, with a real server, its worker and a fake provider.
func TestAnAgentRunsAnEvalOverMCP(t *testing.T) {
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			var text atomic.Value
			text.Store("I would use Flask for this server.")
			model := newPaidModel(t, func() time.Duration { return time.Millisecond }, func(*http.Request) string { return text.Load().(string) })
			h := newHouse(t, engine)
			source := ownEval(model.URL, 5, 2)
			h.workspace("dana", source, "sk-fake-0123456789")
			base := "http://" + freeAddress(t)
			h.start("server", "--listen", strings.TrimPrefix(base, "http://"), "--with-worker", "--worker-runs", "1", "--access-log=false")
			answers(t, base)
			key, err := firstpick(t, h.dir, append([]string{"admin", "eval-key", "create", "dana"}, h.state...)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			holder := &http.Client{Transport: keyHolder(strings.TrimSpace(string(key)))}
			stored, err := holder.Post(base+"/api/v1/evals", "application/yaml", strings.NewReader(source))
			if err != nil || stored.StatusCode != http.StatusOK {
				t.Fatal(stored, err)
			}
			_ = stored.Body.Close()

			client := mcp.NewClient(&mcp.Implementation{Name: "claude-code", Version: "1"}, nil)
			session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: base + "/api/mcp", HTTPClient: holder, MaxRetries: -1}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = session.Close() }()
			call := func(tool string, arguments, into any) {
				t.Helper()
				res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
				if err != nil {
					t.Fatalf("%s: %v", tool, err)
				}
				answer := res.Content[0].(*mcp.TextContent).Text
				if err := json.Unmarshal([]byte(answer), into); err != nil || res.IsError {
					t.Fatalf("%s: %v %s", tool, err, answer)
				}
			}
			var list struct {
				Evals []struct {
					ID     string
					Trials int
				}
			}
			call("listEvals", map[string]any{}, &list)
			if len(list.Evals) != 1 || list.Evals[0].Trials != 10 {
				t.Fatalf("listed %+v", list)
			}
			type run struct {
				ID, Status string
				Valid      int
				SpentUSD   float64
				NextPoll   *int `json:"nextPollSeconds"`
			}
			toEnd := func(key string) (r run) {
				t.Helper()
				call("startEvalRun", map[string]any{"evalId": list.Evals[0].ID, "budgetUsd": 1, "idempotencyKey": key}, &r)
				for r.NextPoll != nil {
					time.Sleep(50 * time.Millisecond) // the protocol has no other way than to poll
					id := r.ID
					r = run{}
					call("getEvalRun", map[string]any{"runId": id}, &r)
				}
				if r.Status != "done" || r.Valid != 10 || r.SpentUSD != 10*ownAnswerMicros/1e6 {
					t.Fatalf("ended: %+v", r)
				}
				return r
			}
			first := toEnd("first")
			text.Store("I would use Django for this server.")
			second := toEnd("second")
			if again := toEnd("first"); again.ID != first.ID {
				t.Errorf("a repeated start began %s", again.ID)
			}
			if n := model.charged.Load(); n != 20 {
				t.Errorf("the model was asked %d times", n)
			}

			var scores struct {
				NTrials int
				Tools   []struct {
					Slug     string
					PickRate float64
				}
			}
			call("getEvalScores", map[string]any{"runId": second.ID, "limit": 1}, &scores)
			if scores.NTrials != 10 || len(scores.Tools) != 1 || scores.Tools[0].Slug != "django" || scores.Tools[0].PickRate != 1 {
				t.Errorf("scores: %+v", scores)
			}
			var changes struct {
				Base  struct{ ID string }
				Tools []struct {
					Slug string
					Diff float64
				}
			}
			call("compareEvalRuns", map[string]any{"runId": second.ID}, &changes)
			diffs := map[string]float64{}
			for _, c := range changes.Tools {
				diffs[c.Slug] = c.Diff
			}
			if changes.Base.ID != first.ID || diffs["django"] != 1 || diffs["flask"] != -1 {
				t.Errorf("compared: %+v", changes)
			}
			var why struct{ NTrials, Picked, NotConsidered int }
			call("explainLoss", map[string]any{"runId": second.ID, "tool": "Flask"}, &why)
			if why.NTrials != 10 || why.Picked != 0 || why.NotConsidered != 10 {
				t.Errorf("explained: %+v", why)
			}
		})
	}
}
