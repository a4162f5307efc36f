package sessions_test

import (
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/importer"
	"github.com/firstpick/firstpick/runner/importer/sessions"
	"github.com/firstpick/firstpick/runner/pick"
)

func TestTrials(t *testing.T) {
	again := func(text string) string { return strings.Replace(prompted, "Add payments.", text, 1) }
	later := strings.NewReplacer("10:00", "11:00", "Stripe", "Paddle")
	root := write(t, t.TempDir(), map[string]string{
		"a.jsonl": session("a", later.Replace(prompted), later.Replace(answered)),
		"b.jsonl": session("b", again("add  payments."), answered),
		"c.jsonl": session("c", again("Say something else."), strings.Replace(answered, `"m1"`, `"m<2>"`, 1)),
	})
	tasks := []sessions.Task{{Category: "payments", Prompt: eval.Prompt{ID: "shop", Text: "Add payments.", Family: "pay"}}}
	for name, tt := range map[string]struct {
		scheme  sessions.Scheme
		want    string
		skipped int
	}{
		"by tasks":       {sessions.Scheme{Tasks: tasks}, "payments shop claude-code/m1 1 Stripe, payments shop claude-code/m1 2 Paddle", 1},
		"by category":    {sessions.Scheme{Category: "email", Tasks: tasks}, "email session claude-code/m1 1 Stripe, email session claude-code/m-2 1 Stripe, email session claude-code/m1 2 Paddle", 0},
		"with an agent":  {sessions.Scheme{Category: "payments", Tasks: tasks, Agent: "we"}, "payments shop we 1 Stripe, payments session we 1 Stripe, payments shop we 2 Paddle", 0},
		"without either": {sessions.Scheme{}, "", 3},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, sessions.Options{Kind: "claude-code"}, root)
			var got []string
			lines := r.Trials(tt.scheme)
			for _, l := range lines {
				id, _, _ := strings.Cut(l.PromptID, "-")
				got = append(got, strings.Join([]string{l.Category, id, l.Agent, string(rune('0' + l.Repeat)), strings.TrimSuffix(strings.TrimPrefix(l.Input.FinalText, "Use "), ".")}, " "))
			}
			if strings.Join(got, ", ") != tt.want || len(r.Skipped) != tt.skipped || len(r.Sessions) != len(lines) {
				t.Errorf("got %q, %d skipped", got, len(r.Skipped))
			}
		})
	}
}

// Every kind of session passes the checks of an import, and actions decide the pick.
func TestImport(t *testing.T) {
	c, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	payments, _ := c.Category("payments")
	for _, kind := range sessions.Kinds() {
		r := read(t, sessions.Options{Kind: kind}, "testdata/"+kind)
		b, err := importer.Collect(r.Trials(sessions.Scheme{Category: "payments"}), c, time.Unix(0, 0))
		if err != nil || b.Trials != 1 {
			t.Fatalf("%s: %d trials, %v", kind, b.Trials, err)
		}
		got := pick.New(payments, c.Version).Extract(*b.Categories[0].Trials[0].Input)
		if got.Picked != "stripe" || got.Method != "deed" {
			t.Errorf("%s: %+v", kind, got)
		}
	}
}
