package evalpages

import (
	"slices"

	"github.com/firstpick/firstpick/publish/bundle/format"
)

// kindSimulated is the kind of simulated agents in a manifest.
const kindSimulated = "simulated"

// simulates reports whether an agent of a run is simulated.
func simulates(m *format.Manifest, agent string) bool {
	return slices.ContainsFunc(m.Agents, func(a format.Agent) bool {
		return a.Name == agent && slices.ContainsFunc(a.Manifests, func(is format.AgentManifest) bool { return is.Kind == kindSimulated })
	})
}

// synthetic says how many answers of a run come from simulated agents: all or some; empty for
// none.
func synthetic(m *format.Manifest) string {
	switch {
	case !m.Synthetic:
		return ""
	case slices.ContainsFunc(m.Agents, func(a format.Agent) bool { return !simulates(m, a.Name) }):
		return "some"
	}
	return "all"
}
