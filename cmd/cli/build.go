package cli

import (
	"context"
	"net/http"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/agents"
	"github.com/firstpick/firstpick/runner/cliagent"
	"github.com/firstpick/firstpick/runner/eval"
)

// A builder makes agents that are looked at, or asked a question or two.
type builder func(eval.Agent) (agent.Agent, error)

// builder makes agents that see an environment. The name is that of the folder in
// which programs work.
func (a *app) builder(ctx context.Context, getenv func(string) string, table *prices.Table, name string) builder {
	env := *a.env
	env.Getenv = getenv
	b := *a
	b.env = &env
	deps := b.agentDeps(ctx, table, name, nil)
	return func(spec eval.Agent) (agent.Agent, error) { return agents.Build(spec, deps) }
}

// inertBuilder makes agents that are never asked. It looks at no program: an eval may
// come from somebody else.
func (a *app) inertBuilder(getenv func(string) string, table *prices.Table) builder {
	deps := agents.Deps{
		Files: fixtures.Files(), Getenv: getenv, Sleep: a.env.Sleep, Prices: table, Client: &http.Client{},
		Programs: func() (cliagent.Deps, error) {
			return cliagent.Deps{
				LookupEnv: func(name string) (string, bool) { value := getenv(name); return value, value != "" },
				Root:      "/", Prices: table, Inert: true,
			}, nil
		},
	}
	return func(spec eval.Agent) (agent.Agent, error) { return agents.Build(spec, deps) }
}
