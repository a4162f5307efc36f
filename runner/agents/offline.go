package agents

import (
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
)

// offline holds the common methods of agents without a model.
type offline struct{ profile agent.Profile }

func newOffline(a eval.Agent) offline {
	return offline{agent.Profile{
		Synthetic: a.Kind == eval.KindSimulated,
		Lane:      agent.Lane{Max: a.MaxConcurrency},
		Manifest:  journal.Manifest{Agent: a.Name, Kind: a.Kind, Model: a.Study},
	}}
}

func (o offline) Profile() agent.Profile { return o.profile }

// Worst returns 0: offline agents are free.
func (offline) Worst(agent.Task) *float64 { return new(float64) }
