// Package agents builds the agents of an eval: recorded answers, answers simulated from
// a known truth, models behind an API, and programs on this machine.
package agents

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"time"

	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/cliagent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/provider"
)

// Deps are the dependencies of agents.
type Deps struct {
	Files  fs.FS // the embedded fixtures
	Getenv func(string) string
	Client *http.Client
	Sleep  func(context.Context, time.Duration) error
	Prices *prices.Table
	// Programs returns the dependencies of agents that are programs; it is called only
	// for them.
	Programs func() (cliagent.Deps, error)
}

// Build returns the agent of a configuration. It loads recorded answers and keys
// immediately, so that missing ones are reported before a run.
func Build(a eval.Agent, d Deps) (agent.Agent, error) {
	built, err := build(a, d)
	if err != nil {
		return nil, fmt.Errorf("agent %s: %w", a.Name, err)
	}
	return built, nil
}

func build(a eval.Agent, d Deps) (agent.Agent, error) {
	switch {
	case a.Kind == eval.KindRecorded:
		return newRecorded(a, d)
	case a.Kind == eval.KindSimulated:
		return newSimulated(a, d)
	case a.IsModel():
		return provider.New(a, provider.Deps{Getenv: d.Getenv, Client: d.Client, Prices: d.Prices})
	case a.IsProgram():
		deps, err := d.Programs()
		if err != nil {
			return nil, err
		}
		return cliagent.New(a, deps)
	}
	return nil, fmt.Errorf("kind %q is unknown", a.Kind)
}

var errNoRecord = errors.New("the record has no answer for this trial")
