package tools_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/explain"
	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/server/evals/resource"
	"github.com/firstpick/firstpick/server/public/tools"
)

// The tools of evals are described as the public ones are, are no public ones, and only the
// one that starts a run changes anything.
func TestOwnDefinitions(t *testing.T) {
	public := map[string]bool{}
	for _, tool := range tools.Tools() {
		public[tool.Name] = true
	}
	for _, tool := range tools.Own() {
		described(t, tool)
		if public[tool.Name] || tool.Public() || !tools.IsOwn(tool.Name) || tool.Use == "" || !strings.Contains(tool.Description, "eval key") {
			t.Errorf("%s is public, or does not say that it needs a key", tool.Name)
		}
		starts := tool.Name == tools.StartEvalRun
		if a := tool.Annotations; a.ReadOnly == starts || a.Idempotent == starts || a.OpenWorld != starts || a.Destructive || a.Title != tool.Title {
			t.Errorf("%s: %+v", tool.Name, a)
		}
	}
}

// What the schema of a tool takes is read, and what it refuses is refused with the argument.
func TestOwnArguments(t *testing.T) {
	in, _ := schemas(t)
	readers := map[string]func([]byte) *tools.Answer{
		tools.ListEvals:    func(raw []byte) *tools.Answer { _, wrong := tools.ReadEvals(raw); return wrong },
		tools.ListEvalRuns: func(raw []byte) *tools.Answer { _, wrong := tools.ReadRuns(raw); return wrong },
		tools.StartEvalRun: func(raw []byte) *tools.Answer { _, wrong := tools.ReadStart(raw); return wrong },
	}
	for _, name := range []string{tools.GetEvalRun, tools.GetEvalScores, tools.CompareEvalRuns, tools.ExplainLoss} {
		readers[name] = func(raw []byte) *tools.Answer { _, wrong := tools.ReadRun(name, raw); return wrong }
	}
	for _, c := range []struct{ tool, arguments, path string }{
		{tools.ListEvals, `{}`, ""},
		{tools.ListEvals, `{"limit":50,"cursor":"x"}`, ""},
		{tools.ListEvals, `{"limit":51}`, "/limit"},
		{tools.ListEvals, `{"cursor":""}`, "/cursor"},
		{tools.ListEvals, `{"evalId":"evl_1"}`, "/evalId"},
		{tools.ListEvalRuns, `{"evalId":"evl_1","status":"done","limit":1}`, ""},
		{tools.ListEvalRuns, `{"status":"done"}`, "/evalId"},
		{tools.ListEvalRuns, `{"evalId":"evl_1","status":"finished"}`, "/status"},
		{tools.ListEvalRuns, `{"evalId":"` + strings.Repeat("x", 101) + `"}`, "/evalId"},
		{tools.StartEvalRun, `{"evalId":"evl_1","budgetUsd":0.5}`, ""},
		{tools.StartEvalRun, `{"evalId":"evl_1","budgetUsd":5,"version":2,"idempotencyKey":"week-47"}`, ""},
		{tools.StartEvalRun, `{"evalId":"evl_1"}`, "/budgetUsd"},
		{tools.StartEvalRun, `{"evalId":"evl_1","budgetUsd":0}`, "/budgetUsd"},
		{tools.StartEvalRun, `{"evalId":"evl_1","budgetUsd":-5}`, "/budgetUsd"},
		{tools.StartEvalRun, `{"evalId":"evl_1","budgetUsd":"5"}`, "/budgetUsd"},
		{tools.StartEvalRun, `{"evalId":"evl_1","budgetUsd":null}`, "/budgetUsd"},
		{tools.StartEvalRun, `{"evalId":"evl_1","budgetUsd":5,"version":0}`, "/version"},
		{tools.StartEvalRun, `{"evalId":"evl_1","budgetUsd":5,"idempotencyKey":""}`, "/idempotencyKey"},
		{tools.GetEvalRun, `{"runId":"run_1"}`, ""},
		{tools.GetEvalRun, `{"runId":"run_1","limit":5}`, "/limit"},
		{tools.GetEvalRun, `{"runId":""}`, "/runId"},
		{tools.GetEvalRun, `{}`, "/runId"},
		{tools.GetEvalScores, `{"runId":"run_1","agent":"opus","limit":50}`, ""},
		{tools.GetEvalScores, `{"runId":"run_1","agent":""}`, "/agent"},
		{tools.CompareEvalRuns, `{"runId":"run_2","baseRunId":"run_1"}`, ""},
		{tools.CompareEvalRuns, `{"runId":"run_2","baseRunId":7}`, "/baseRunId"},
		{tools.ExplainLoss, `{"runId":"run_2","tool":"paddle"}`, ""},
		{tools.ExplainLoss, `{"runId":"run_2"}`, "/tool"},
		{tools.ExplainLoss, `{"runId":"run_2","tool":""}`, "/tool"},
	} {
		wrong := readers[c.tool]([]byte(c.arguments))
		if err := valid(t, in[c.tool], []byte(c.arguments)); (err != nil) != (c.path != "") {
			t.Errorf("%s %s: the schema says %v", c.tool, c.arguments, err)
		}
		if (wrong != nil) != (c.path != "") || wrong != nil && !strings.Contains(string(wrong.JSON), `"path":"`+c.path+`"`) {
			t.Errorf("%s %s: %+v, want an issue at %q", c.tool, c.arguments, wrong, c.path)
		}
	}
	if _, wrong := tools.ReadRun(tools.GetEvalRun, []byte(`{"runId":"run_\u0000"}`)); wrong == nil || !strings.Contains(string(wrong.JSON), "NUL") {
		t.Errorf("a store is asked for NUL: %+v", wrong)
	}
}

// A poll says how far a run is, when it ends and when to look again.
func TestPolls(t *testing.T) {
	_, out := schemas(t)
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	began := now.Add(-100 * time.Second)
	w := tools.Workspace{Slug: "dana", URL: "https://firstpick.example/workspaces/dana", Via: "mcp-x", Now: now}
	for name, c := range map[string]struct {
		run  resource.Run
		want string
	}{
		"queued":            {resource.Run{Status: resource.Queued, Planned: 10}, `"progress":0,"coverage":0,"budgetUsd":0,"spentUsd":0,"atMostUsd":0,"hasResults":false,"etaSeconds":null,"nextPollSeconds":10`},
		"begun":             {resource.Run{Status: resource.Running, StartedAt: &began, Planned: 10}, `"etaSeconds":null,"nextPollSeconds":5`},
		"half":              {resource.Run{Status: resource.Running, StartedAt: &began, Planned: 10, Valid: 4, Excluded: 1}, `"etaSeconds":100,"nextPollSeconds":50`},
		"long":              {resource.Run{Status: resource.Running, StartedAt: &began, Planned: 1000, Valid: 1}, `"etaSeconds":99900,"nextPollSeconds":60`},
		"nearly":            {resource.Run{Status: resource.Running, StartedAt: &began, Planned: 101, Valid: 100}, `"etaSeconds":1,"nextPollSeconds":5`},
		"back in the queue": {resource.Run{Status: resource.Queued, StartedAt: &began, Planned: 10, Valid: 5}, `"etaSeconds":null,"nextPollSeconds":10`},
		"done":              {resource.Run{Status: resource.Done, StartedAt: &began, EndedAt: &now, Planned: 10, Valid: 10, HasResults: true}, `"progress":1,"coverage":0,"budgetUsd":0,"spentUsd":0,"atMostUsd":0,"hasResults":true,"etaSeconds":null,"nextPollSeconds":null`},
	} {
		c.run.ID, c.run.EvalVersion = "run_1", 1
		got := w.Run(&c.run)
		if err := valid(t, out[tools.GetEvalRun], got.JSON); err != nil || !strings.Contains(string(got.JSON), c.want) {
			t.Errorf("%s: %v\n%s\nwant %s", name, err, got.JSON, c.want)
		}
		if !strings.Contains(string(got.JSON), `"url":"https://firstpick.example/workspaces/dana/runs/run_1?via=mcp-x"`) {
			t.Errorf("%s: %s", name, got.JSON)
		}
	}
}

// However much a workspace has, an answer is short, keeps its schema, and says how much
// there is.
func TestOwnAnswersAreShort(t *testing.T) {
	_, out := schemas(t)
	w := tools.Workspace{Slug: "dana", URL: "https://firstpick.example/workspaces/dana", Via: "mcp-x"}
	raw := 0.5
	var board analytics.Board
	var changes []resource.ToolChange
	for i := range 2000 {
		slug := fmt.Sprintf("tool-%d", i)
		board.Tools = append(board.Tools, analytics.Standing{Slug: slug, Tool: slug, Rank: i + 1, RankLow: 1, RankHigh: 2000, Detail: &analytics.Detail{RawRate: &raw}, Warnings: []string{}})
		changes = append(changes, resource.ToolChange{Slug: slug, Tool: slug})
	}
	board.Field = len(board.Tools)
	var scores format.Scores
	scores.Board = board
	c := resource.Comparison{Tools: changes, Base: resource.Side{ID: "run_1", EvalVersion: 1}, Run: resource.Side{ID: "run_2", EvalVersion: 1}}
	eval := resource.Eval{ID: "evl_1", Name: "own", Version: 1}
	for i := range 500 {
		name := fmt.Sprintf("agent-%d", i)
		scores.Agents = append(scores.Agents, format.AgentScores{Agent: name, Board: board})
		c.Agents = append(c.Agents, resource.AgentChange{Agent: name, Tools: changes})
		c.OnlyInRun.Prompts = append(c.OnlyInRun.Prompts, name)
		eval.Agents = append(eval.Agents, resource.AgentSummary{Name: name, Kind: "anthropic"})
	}
	why := explain.Report{Category: "web", Tool: "Flask", Slug: "flask", NSites: 32}
	for i := range 200 {
		name := fmt.Sprintf("value-%d", i)
		cut := explain.Cut{Value: name, Switches: make([]explain.Switch, 8), Reasons: make([]explain.Count, 9)}
		why.Agents = append(why.Agents, cut)
		cut.Tag = "intent"
		why.Tags = append(why.Tags, cut)
		why.Switches = append(why.Switches, explain.Switch{To: name})
	}
	for range 9 {
		why.Reasons = append(why.Reasons, explain.Group{Quotes: slices.Repeat([]explain.Quote{{Run: "run_2", Text: strings.Repeat("<", 200)}}, 16), NQuotes: 99})
	}
	for range 32 {
		why.Sources = append(why.Sources, explain.Site{Domain: "flask.example", Pages: make([]explain.Page, 8)})
	}
	run := &resource.Run{ID: "run_2", EvalID: "evl_1", EvalVersion: 1, Status: resource.Done}
	for name, got := range map[string]tools.Answer{
		tools.GetEvalScores:   w.Scores(tools.RunQuery{Limit: 50}, run, &scores),
		tools.CompareEvalRuns: w.Comparison(tools.RunQuery{Limit: 50}, &c),
		tools.ListEvals:       w.Evals([]*resource.Eval{&eval}, []*resource.Run{run}, "next"),
		tools.ExplainLoss:     w.Explanation(tools.RunQuery{RunID: "run_2"}, &why),
		tools.ListEvalRuns:    w.Runs("evl_1", []*resource.Run{run}, ""),
	} {
		if err := valid(t, out[name], got.JSON); err != nil || len(got.JSON) > 64<<10 || got.Failed {
			t.Errorf("%s: %d bytes, %v", name, len(got.JSON), err)
		}
		var shown struct {
			Field, NAgents int
			Tools, Agents  []any
		}
		if err := json.Unmarshal(got.JSON, &shown); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(name, "EvalScores") || strings.Contains(name, "compare") {
			if shown.Field != 2000 || len(shown.Tools) != 50 || shown.NAgents != 500 || len(shown.Agents) != 20 {
				t.Errorf("%s: %d of %d tools, %d of %d agents", name, len(shown.Tools), shown.Field, len(shown.Agents), shown.NAgents)
			}
		}
		if strings.Contains(string(got.JSON), "/tools/") || !strings.Contains(string(got.JSON), "via=mcp-x") {
			t.Errorf("%s: %.500s", name, got.JSON)
		}
	}
	one := w.Scores(tools.RunQuery{Limit: 3, Agent: "agent-7"}, run, &scores)
	if err := valid(t, out[tools.GetEvalScores], one.JSON); err != nil || !strings.Contains(string(one.JSON), `"agent":"agent-7"`) || !strings.Contains(string(one.JSON), `"agents":[]`) {
		t.Errorf("%v %s", err, one.JSON)
	}
	if none := w.Scores(tools.RunQuery{Limit: 3, Agent: "agnet-7"}, run, &scores); !none.Failed || !strings.Contains(string(none.JSON), `"suggestions":["agent-0"`) {
		t.Errorf("%s", none.JSON)
	}
}
