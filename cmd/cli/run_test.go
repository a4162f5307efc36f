package cli

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/firstpick/firstpick/runner/eval"
)

func TestLeftOutAgentsHaveNoWeight(t *testing.T) {
	ev := &eval.Eval{Agents: []eval.Agent{{Name: "a"}, {Name: "b"}}, Weights: map[string]float64{"a": 2, "b": 1}}
	if err := keepAgents(ev, []string{"b"}); err != nil || len(ev.Agents) != 1 || !maps.Equal(ev.Weights, map[string]float64{"b": 1}) {
		t.Errorf("kept %+v, weights %v: %v", ev.Agents, ev.Weights, err)
	}
}

func TestARunWithoutItsKeyLeadsToARehearsal(t *testing.T) {
	in := newImports(t)
	file := filepath.Join(t.TempDir(), "e.yaml")
	const model, simulated = "  - {name: sonnet, kind: anthropic, model: claude-sonnet-4-5}\n", "  - {name: sham, kind: simulated, truth: {stripe: 1}}\n"
	for agents, hint := range map[string]string{
		model:             "hint: without a key, rehearse: add {name: rehearsal, kind: simulated, truth: {TOOL: 1}} to the agents of the eval, and run it with --agent rehearsal\n",
		model + simulated: "hint: without a key, rehearse with the simulated agent: --agent sham\n",
	} {
		text := "name: e\ncategory: payments\nprompts:\n  - {id: p, text: Let customers pay for a yearly plan.}\nagents:\n" + agents
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		in.run(exitUsage, []string{"run", file}, "error: agent sonnet: the key is not set: put it into the environment variable ANTHROPIC_API_KEY\n", hint)
	}
}
