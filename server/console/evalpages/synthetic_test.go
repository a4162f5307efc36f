package evalpages

import (
	"testing"

	"github.com/firstpick/firstpick/publish/bundle/format"
)

func TestHowManyAnswersAreSimulated(t *testing.T) {
	of := func(kinds ...string) *format.Manifest {
		m := &format.Manifest{}
		for _, kind := range kinds {
			m.Synthetic = m.Synthetic || kind == kindSimulated
			m.Agents = append(m.Agents, format.Agent{Name: kind, Manifests: []format.AgentManifest{{Kind: kind}}})
		}
		return m
	}
	for want, m := range map[string]*format.Manifest{"": of("anthropic"), "all": of("simulated"), "some": of("simulated", "anthropic")} {
		if got := synthetic(m); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if m := of("simulated", "anthropic"); !simulates(m, "simulated") || simulates(m, "anthropic") || simulates(m, "other") {
		t.Error("the wrong agent is simulated")
	}
}
