package evals_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/firstpick/firstpick/server/auth/registrations"
	ourmcp "github.com/firstpick/firstpick/server/public/mcp"
	"github.com/firstpick/firstpick/server/public/tools"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// A holder sends a credential with every request.
type holder struct{ token string }

func (h holder) RoundTrip(r *http.Request) (*http.Response, error) {
	if h.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+h.token)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// An agent is a program that speaks the protocol with a credential.
type agent struct {
	t     testing.TB
	token string
	*mcp.ClientSession
}

func newAgent(t testing.TB, s *servertest.Service, token string) *agent {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "claude-code", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: s.URL + ourmcp.Path, HTTPClient: &http.Client{Transport: holder{token}}, MaxRetries: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return &agent{t, token, session}
}

// call calls a tool, and returns its text, which is its structured content too.
func (a *agent) call(tool string, arguments map[string]any) (text string, failed bool) {
	a.t.Helper()
	res, err := a.CallTool(a.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		a.t.Fatalf("%s: %v", tool, err)
	}
	text = res.Content[0].(*mcp.TextContent).Text
	structured, err := json.Marshal(res.StructuredContent)
	if err != nil {
		a.t.Fatal(err)
	}
	var x, y any
	_, _ = json.Unmarshal([]byte(text), &x), json.Unmarshal(structured, &y)
	if !res.IsError && fmt.Sprint(x) != fmt.Sprint(y) {
		a.t.Errorf("%s: the text is\n%s\nand the content\n%s", tool, text, structured)
	}
	return text, res.IsError
}

// object is the answer of a call that does not fail.
func (a *agent) object(tool string, arguments map[string]any) map[string]any {
	a.t.Helper()
	text, failed := a.call(tool, arguments)
	out := map[string]any{}
	if err := json.Unmarshal([]byte(text), &out); err != nil || failed {
		a.t.Fatalf("%s %v: %v %s", tool, arguments, err, text)
	}
	return out
}

// refused fails unless a call is an error of a code or reason, and returns the error.
func (a *agent) refused(tool string, arguments map[string]any, code string) map[string]any {
	a.t.Helper()
	text, failed := a.call(tool, arguments)
	out := map[string]any{}
	if err := json.Unmarshal([]byte(text), &out); err != nil || !failed || out["error"] != code && out["reason"] != code || out["error_description"] == "" {
		a.t.Errorf("%s %v: %s, want an error %s", tool, arguments, text, code)
	}
	return out
}

func (a *agent) tools() (names []string) {
	a.t.Helper()
	list, err := a.ListTools(a.t.Context(), nil)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	scope := "public"
	if a.token != "" {
		scope = "private"
	}
	if list.CacheScope != scope {
		a.t.Errorf("a list with the credential %q is cached as %s", a.token, list.CacheScope)
	}
	return names
}

// calls has a call of each tool, with ids.
func calls(eval, run, base string) map[string]map[string]any {
	return map[string]map[string]any{
		tools.ListEvals: {}, tools.ListEvalRuns: {"evalId": eval}, tools.StartEvalRun: {"evalId": eval, "budgetUsd": 1}, tools.GetEvalRun: {"runId": run},
		tools.GetEvalScores: {"runId": run}, tools.CompareEvalRuns: {"runId": run, "baseRunId": base}, tools.ExplainLoss: {"runId": run, "tool": "flask"},
	}
}

func names(list []tools.Tool) (out []string) {
	for _, t := range list {
		out = append(out, t.Name)
	}
	slices.Sort(out)
	return out
}

// TestACompareLooksBackSoFar: without a base, the search ends after the newest 1000 runs.
func TestACompareLooksBackSoFar(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		w := s.Workspace(t, "dana", paid)
		e, _ := s.Ready(t, w)
		s.Finish(t, s.Begin(t), bundles)
		newest := ""
		if err := s.Evals.DB.Write(t.Context(), func(tx *state.Tx) error {
			for i := range 1000 {
				s.Clock.Add(time.Millisecond)
				newest = fmt.Sprintf("run_%04d", i)
				r := &state.EvalRun{ID: newest, WorkspaceID: w.ID, EvalID: e.ID, Version: 1, EvalName: e.Name, Category: "web", CreatedBy: w.OwnerID, CreatedAt: s.Clock.Now()}
				if _, _, err := tx.AddRun(t.Context(), r, 2000); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		a := newAgent(t, s, s.EvalKey(t, w))
		if got := a.refused(tools.CompareEvalRuns, map[string]any{"runId": newest}, "no_results"); !strings.Contains(fmt.Sprint(got["error_description"]), "None of the newest 1000 runs") {
			t.Errorf("far from the newest: %v", got)
		}
	})
}

// TestAnAgentRunsAnEval goes from the list to the comparison, with a worker's part played by
// the test.
func TestAnAgentRunsAnEval(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		w := s.Workspace(t, "dana", paid)
		e, first := s.Ready(t, w)
		a := newAgent(t, s, s.EvalKey(t, w))
		if got := a.tools(); !slices.Equal(got, names(slices.Concat(tools.Tools(), tools.Own()))) {
			t.Errorf("with a key: %v", got)
		}
		if got := a.InitializeResult().Instructions; !strings.Contains(got, "startEvalRun to start a run") {
			t.Errorf("the instructions say %q", got)
		}
		list := a.object(tools.ListEvals, nil)
		row := list["evals"].([]any)[0].(map[string]any)
		if list["workspace"] != "dana" || row["id"] != e.ID || row["trials"] != 12.0 || row["lastRun"].(map[string]any)["id"] != first.ID || row["url"] != s.URL+"/workspaces/dana/evals/"+e.ID+"?via=mcp-claude-code" {
			t.Errorf("listed: %v", list)
		}
		s.Finish(t, s.Begin(t), bundles)
		a.refused(tools.CompareEvalRuns, map[string]any{"runId": first.ID}, "no_results")

		s.Clock.Add(time.Second)
		start := map[string]any{"evalId": e.ID, "budgetUsd": 2.5, "idempotencyKey": "week-47"}
		started := a.object(tools.StartEvalRun, start)
		id := started["id"].(string)
		if started["status"] != "queued" || started["budgetUsd"] != 2.5 || started["replayed"] != false || started["nextPollSeconds"] != 10.0 {
			t.Errorf("started: %v", started)
		}
		if again := a.object(tools.StartEvalRun, start); again["id"] != id || again["replayed"] != true {
			t.Errorf("started again: %v", again)
		}
		a.refused(tools.StartEvalRun, map[string]any{"evalId": e.ID, "budgetUsd": 3, "idempotencyKey": "week-47"}, "idempotency_conflict")
		a.refused(tools.StartEvalRun, map[string]any{"evalId": e.ID, "budgetUsd": 10_001}, "budget_too_large")
		a.refused(tools.StartEvalRun, map[string]any{"evalId": e.ID, "budgetUsd": 1, "version": 9}, "eval_not_found")
		a.refused(tools.StartEvalRun, map[string]any{"evalId": e.ID}, "invalid_request")
		a.refused(tools.StartEvalRun, map[string]any{"evalId": e.ID, "budgetUsd": 1, "idempotencyKey": "two words"}, "invalid_idempotency_key")
		if why := a.refused(tools.GetEvalScores, map[string]any{"runId": id}, "no_results"); !strings.Contains(fmt.Sprint(why["error_description"]), "getEvalRun") {
			t.Errorf("it does not say what to do: %v", why)
		}

		claimed := s.Begin(t)
		s.Clock.Add(time.Minute)
		s.AppendEvent(t, claimed, `{"type":"progress","planned":12,"valid":3,"excluded":0}`)
		running := a.object(tools.GetEvalRun, map[string]any{"runId": id})
		if running["status"] != "running" || running["nextPollSeconds"] == nil || running["hasResults"] != false {
			t.Errorf("running: %v", running)
		}
		s.Finish(t, claimed, bundles)
		done := a.object(tools.GetEvalRun, map[string]any{"runId": id})
		if done["status"] != "done" || done["nextPollSeconds"] != nil || done["spentUsd"] != 0.156 || done["hasResults"] != true || done["progress"] != 11.0/12 {
			t.Errorf("done: %v", done)
		}

		scores := a.object(tools.GetEvalScores, map[string]any{"runId": id, "limit": 1})
		best := scores["tools"].([]any)
		if scores["category"] != "web" || scores["nTrials"] != 10.0 || scores["field"] == 1.0 || len(best) != 1 || best[0].(map[string]any)["rank"] != 1.0 || len(scores["agents"].([]any)) != 2 {
			t.Errorf("scores: %v", scores)
		}
		if alone := a.object(tools.GetEvalScores, map[string]any{"runId": id, "agent": "opus"}); alone["agent"] != "opus" || alone["nTrials"].(float64) >= 10 || len(alone["agents"].([]any)) != 0 {
			t.Errorf("of one agent: %v", alone)
		}
		if wrong := a.refused(tools.GetEvalScores, map[string]any{"runId": id, "agent": "opsu"}, "invalid_request"); fmt.Sprint(wrong["suggestions"]) != "[opus gpt]" && fmt.Sprint(wrong["suggestions"]) != "[gpt opus]" {
			t.Errorf("of no agent: %v", wrong)
		}
		for _, arguments := range []map[string]any{{"runId": id}, {"runId": id, "baseRunId": first.ID}} {
			got := a.object(tools.CompareEvalRuns, arguments)
			if got["base"].(map[string]any)["id"] != first.ID || got["run"].(map[string]any)["id"] != id || got["tools"].([]any)[0].(map[string]any)["diff"] != 0.0 ||
				got["url"] != s.URL+"/workspaces/dana/runs/"+id+"/compare?with="+first.ID+"&via=mcp-claude-code" {
				t.Errorf("compared %v: %v", arguments, got)
			}
		}
		why := a.object(tools.ExplainLoss, map[string]any{"runId": id, "tool": "Flask"})
		if why["runId"] != id || why["slug"] != "flask" || why["nTrials"] != 10.0 || why["lost"] != 2.0 || why["rejectedRate"] != 0.4 || len(why["reasons"].([]any)) == 0 ||
			why["url"] != s.URL+"/workspaces/dana/runs/"+id+"/explain?tool=flask&via=mcp-claude-code" {
			t.Errorf("explained: %v", why)
		}
		if unknown := a.refused(tools.ExplainLoss, map[string]any{"runId": id, "tool": "flsk"}, "tool_not_found"); fmt.Sprint(unknown["suggestions"]) != "[flask]" {
			t.Errorf("an unknown tool: %v", unknown)
		}
		runs := a.object(tools.ListEvalRuns, map[string]any{"evalId": e.ID, "limit": 1})
		if older := a.object(tools.ListEvalRuns, map[string]any{"evalId": e.ID, "limit": 1, "cursor": runs["nextCursor"]}); runs["runs"].([]any)[0].(map[string]any)["id"] != id || older["runs"].([]any)[0].(map[string]any)["id"] != first.ID || older["nextCursor"] != nil {
			t.Errorf("runs: %v, then %v", runs, older)
		}
		a.refused(tools.ListEvalRuns, map[string]any{"evalId": e.ID, "cursor": "x"}, "invalid_cursor")
		if got := a.object(tools.ListEvals, nil)["evals"].([]any)[0].(map[string]any)["lastRun"].(map[string]any); got["id"] != id || got["status"] != "done" {
			t.Errorf("the last run: %v", got)
		}
		for _, page := range []string{"/workspaces/dana/runs/" + id + "?via=mcp-claude-code", "/workspaces/dana/evals?via=mcp-claude-code"} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+page, nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusSeeOther { // to sign in
				t.Errorf("%s: %d", page, resp.StatusCode)
			}
		}
	})
}

// TestAgentsWithoutAnEvalKey see the public tools only, and learn from a call what is
// missing.
func TestAgentsWithoutAnEvalKey(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		w := s.Workspace(t, "dana", paid)
		e, r := s.Ready(t, w)
		s.Finish(t, s.Begin(t), bundles)
		kim := &state.Account{ID: "acc_kim", Email: "kim@example.com", CreatedAt: s.Clock.Now(), VerifiedAt: s.Clock.Now()}
		if err := s.Agents.DB.Write(t.Context(), func(tx *state.Tx) error { return tx.AddAccount(t.Context(), kim) }); err != nil {
			t.Fatal(err)
		}
		s.Join(t, w, kim.ID, identity.Editor)
		reader, runner, revoked, removed := s.EvalKey(t, w, "read"), s.EvalKey(t, w, "run"), s.EvalKey(t, w), s.MemberKey(t, w, kim.ID, identity.Editor)
		if got := newAgent(t, s, removed).tools(); len(got) != len(tools.Tools())+len(tools.Own()) {
			t.Errorf("a member's key lists %v", got)
		}
		open := newAgent(t, s, revoked) // a session does not outlive its key
		open.object(tools.ListEvals, nil)
		if err := s.Evals.RevokeKey(t.Context(), servertest.Owner(w), keyOf(t, must(s.Evals.Keys(t.Context(), servertest.Owner(w)))(t), revoked)); err != nil {
			t.Fatal(err)
		}
		if err := s.Agents.RemoveMember(t.Context(), &registrations.Caller{}, &state.Account{ID: w.OwnerID}, w.Slug, kim.ID, true); err != nil {
			t.Fatal(err)
		}
		lapsed, shut := s.Workspace(t, "lapsed", paid), s.Workspace(t, "shut", paid)
		lapsedKey, shutKey := s.EvalKey(t, lapsed), s.EvalKey(t, shut)
		if err := s.Agents.SetPlan(t.Context(), nil, "lapsed", free); err != nil {
			t.Fatal(err)
		}
		if err := s.Agents.SetDisabled(t.Context(), "shut@example.com", true); err != nil {
			t.Fatal(err)
		}
		open.refused(tools.ListEvals, nil, "invalid_token")
		for name, c := range map[string]struct{ token, code, says string }{
			"no key":                 {"", "unauthorized", "eval key (fpe_...)"},
			"a revoked key":          {revoked, "invalid_token", "live eval key"},
			"a removed member's key": {removed, "invalid_token", "live eval key"},
			"a disabled owner's key": {shutKey, "invalid_token", "live eval key"},
			"a key of no plan":       {lapsedKey, "plan_required", "paid plan"},
			"a guess":                {"fpe_of_nobody", "invalid_token", "live eval key"},
			"a collector key":        {"sk_live_" + strings.Repeat("x", 30), "invalid_token", "This is a collector key"},
			"an access token":        {"at_" + strings.Repeat("x", 30), "invalid_token", "This is an access token"},
			"anything":               {"secret", "invalid_token", "This is not an eval key"},
		} {
			t.Run(name, func(t *testing.T) {
				a := newAgent(t, s, c.token)
				if got := a.tools(); !slices.Equal(got, names(tools.Tools())) {
					t.Errorf("lists %v", got)
				}
				if strings.Contains(a.InitializeResult().Instructions, tools.ListEvals) {
					t.Error("the instructions have tools that are not listed")
				}
				for tool, arguments := range calls(e.ID, r.ID, r.ID) {
					why := a.refused(tool, arguments, c.code)
					if why["auth_guide"] != s.URL+"/docs/evals.md" || !strings.Contains(fmt.Sprint(why["error_description"]), c.says) {
						t.Errorf("%s: %v", tool, why)
					}
				}
				if text, failed := a.call(tools.GetPickRate, map[string]any{"tool": "flask"}); strings.Contains(text, "key") || !failed { // no snapshot is published
					t.Errorf("a public tool: %s", text)
				}
			})
		}
		for tool, arguments := range calls(e.ID, r.ID, r.ID) {
			if tool == tools.StartEvalRun {
				newAgent(t, s, reader).refused(tool, arguments, "insufficient_scope")
				newAgent(t, s, runner).object(tool, arguments)
				continue
			}
			newAgent(t, s, reader).object(tool, arguments)
			newAgent(t, s, runner).refused(tool, arguments, "insufficient_scope")
		}
		if why := newAgent(t, s, reader).refused(tools.GetMyAgents, nil, "invalid_token"); !strings.Contains(fmt.Sprint(why["error_description"]), "This is an eval key") {
			t.Errorf("getMyAgents with an eval key: %v", why)
		}
		if runs := must(s.Agents.DB.Read().Runs(t.Context(), w.ID, state.RunFilter{}, 10))(t); len(runs) != 2 {
			t.Errorf("%d runs, want the first and the runner's", len(runs))
		}
	})
}

// TestAgentsSeeOneWorkspace: what is another's is not found, as what never was.
func TestAgentsSeeOneWorkspace(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		dana, eve := s.Workspace(t, "dana", paid), s.Workspace(t, "eve", paid)
		e, r := s.Ready(t, dana)
		s.Finish(t, s.Begin(t), bundles)
		own, ownRun := s.Ready(t, eve)
		s.Finish(t, s.Begin(t), bundles)
		a := newAgent(t, s, s.EvalKey(t, eve))
		never := calls("evl_never", "run_never", "run_never")
		for tool, arguments := range calls(e.ID, r.ID, r.ID) {
			if tool == tools.ListEvals {
				if text, _ := a.call(tool, arguments); strings.Contains(text, e.ID) || strings.Contains(text, r.ID) || strings.Contains(text, "dana") || !strings.Contains(text, own.ID) {
					t.Errorf("%s: %s", tool, text)
				}
				continue
			}
			got, failed := a.call(tool, arguments)
			want, _ := a.call(tool, never[tool])
			if !failed || got != want || !strings.Contains(got, "_not_found") {
				t.Errorf("%s: another's is %s\nand what never was is %s", tool, got, want)
			}
		}
		a.refused(tools.CompareEvalRuns, map[string]any{"runId": ownRun.ID, "baseRunId": r.ID}, "run_not_found")
		a.refused(tools.CompareEvalRuns, map[string]any{"runId": r.ID, "baseRunId": ownRun.ID}, "run_not_found")
		a.refused(tools.CompareEvalRuns, map[string]any{"runId": r.ID}, "run_not_found")
		if runs := must(s.Agents.DB.Read().Runs(t.Context(), dana.ID, state.RunFilter{}, 10))(t); len(runs) != 1 {
			t.Errorf("another started a run: %d", len(runs))
		}
	})
}

// TestAKeyHasOneSetOfLimits: what it starts over MCP counts with what it starts over the
// API.
func TestAKeyHasOneSetOfLimits(t *testing.T) {
	s := servertest.New(t, servertest.Options{Limits: true})
	w := s.Workspace(t, "dana", paid)
	e, _ := s.Ready(t, w)
	key := s.EvalKey(t, w)
	a, over := newAgent(t, s, key), newAPI(t, s, key)
	rule := s.Agents.Limits.Rules["eval-run.key"]
	for i := range rule.Quota {
		start := map[string]any{"evalId": e.ID, "budgetUsd": 1, "idempotencyKey": "one"}
		if i%2 == 0 {
			a.object(tools.StartEvalRun, start)
			continue
		}
		over.do("POST", "/api/v1/evals/"+e.ID+"/runs", `{"budgetUsd":1}`, "Idempotency-Key", "one").is(202)
	}
	over.do("POST", "/api/v1/evals/"+e.ID+"/runs", `{"budgetUsd":1}`, "Idempotency-Key", "one").refused(429, "rate_limited")
	if why := a.refused(tools.StartEvalRun, map[string]any{"evalId": e.ID, "budgetUsd": 1}, "rate_limited"); why["retry_after"] == nil {
		t.Errorf("it does not say how long to wait: %v", why)
	}
	a.object(tools.ListEvals, nil) // reading has a limit of its own
}
