package cli

import (
	"maps"
	"testing"

	"github.com/firstpick/firstpick/runner/eval"
)

func TestLeftOutAgentsHaveNoWeight(t *testing.T) {
	ev := &eval.Eval{Agents: []eval.Agent{{Name: "a"}, {Name: "b"}}, Weights: map[string]float64{"a": 2, "b": 1}}
	if err := keepAgents(ev, []string{"b"}); err != nil || len(ev.Agents) != 1 || !maps.Equal(ev.Weights, map[string]float64{"b": 1}) {
		t.Errorf("kept %+v, weights %v: %v", ev.Agents, ev.Weights, err)
	}
}
