package cli

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/firstpick/firstpick/cmd/runctl"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/agents"
	"github.com/firstpick/firstpick/runner/cliagent"
	"github.com/firstpick/firstpick/runner/cliagent/workspace"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

// statusEvery is the interval of status lines.
const statusEvery = time.Second

// An execution is one go at the trials of a run.
type execution struct {
	journal       *journal.Journal
	catalog       *catalog.Catalog
	sinks         []runner.Sink
	concurrency   int
	maxCost       float64
	unlimited     bool // no budget is wanted
	retryExcluded bool
	prices        *prices.Table
	queue         string // postgres://... of workers; empty: this process asks
	control       *runner.Control
}

// execute runs the trials that the journal of the run lacks.
func execute(ctx context.Context, a *app, x execution) (sum runner.Summary, err error) {
	run := x.journal.Run()
	ev := &run.Eval
	category, ok := x.catalog.Category(ev.Category)
	if !ok {
		return sum, unknownCategory(x.catalog, ev.Category)
	}
	done, err := runner.Replay(a.runsRoot(), run.ID)
	if err != nil {
		return sum, err
	}
	if x.retryExcluded {
		clear(done.Excluded)
	}
	if x.retryExcluded || len(done.Valid)+len(done.Excluded) < run.Planned {
		if err := x.keepsBudget(&run, done); err != nil {
			return sum, err
		}
	}
	work := filepath.Join(a.cfg.Data, "work", run.ID)
	if !a.cfg.KeepWork {
		defer func() { err = errors.Join(err, cliagent.RemoveAll(work)) }()
	}
	if err := cliagent.RemoveAll(work); err != nil { // of a run that was killed
		return sum, err
	}
	projects, err := a.projects(ctx, ev, x.catalog)
	if err != nil {
		return sum, err
	}
	if x.queue != "" && len(ev.Sources) > 0 {
		return sum, usageErr("run it without --queue", "own templates are not on the machines of workers")
	}
	deps := a.agentDeps(ctx, x.prices, run.ID, projects)
	asked, err := buildAgents(ev, deps)
	if err != nil {
		return sum, err
	}
	asked, leave, err := a.spread(ctx, x, asked)
	if err != nil {
		return sum, err
	}
	defer func() { leave(err == nil && sum.Missing == 0) }()
	ctl, err := runctl.Listen(filepath.Join(a.runsRoot(), run.ID), x.control)
	if err != nil {
		a.log.Warn("the run cannot be controlled from another terminal", "err", err)
	} else {
		defer func() { err = errors.Join(err, ctl.Close()) }()
	}
	source := workspace.Source{Load: projects.load}
	r := &runner.Runner{
		Eval: ev, Category: category, Agents: asked, Extractor: pick.New(category, x.catalog.Version), Journal: x.journal, Sinks: x.sinks,
		Concurrency: x.concurrency, MaxCostUSD: x.maxCost, MemoryCapMB: memoryCapMB(), StatusEvery: statusEvery, Control: x.control,
		Describe: source.Describe, Installed: source.Installed, Now: a.env.Now, Sleep: a.env.Sleep,
	}
	if r.Until, err = openRule(run); err != nil {
		return sum, err
	}
	return r.Run(ctx, run.Trials(), done)
}

// preflight finds problems that would fail every trial of an agent before a run is made
// for it: a missing key, a file or a program that is not there, no price under a
// budget.
func preflight(ctx context.Context, ev *eval.Eval, deps agents.Deps, maxCost float64) error {
	asked, err := buildAgents(ev, deps)
	if errors.Is(err, agent.ErrNoKey) {
		return usageErr(rehearsal(ev), "%w", err)
	}
	if err != nil {
		return err
	}
	for _, spec := range ev.Agents {
		program, ok := asked[spec.Name].(agent.Checker)
		if !ok || !spec.IsProgram() {
			continue
		}
		if err := program.Check(ctx); err != nil {
			return usageErr("fix that, or select other agents with --agent", "agent %s: %w", spec.Name, err)
		}
	}
	return badInput(runner.CheckBudget(ev, asked, maxCost))
}

// rehearsal returns how to run an eval without a key.
func rehearsal(ev *eval.Eval) string {
	for _, a := range ev.Agents {
		if a.Kind == eval.KindSimulated {
			return "without a key, rehearse with the simulated agent: --agent " + a.Name
		}
	}
	return "without a key, rehearse: add {name: rehearsal, kind: simulated, truth: {TOOL: 1}} to the agents of the eval, and run it with --agent rehearsal"
}

func buildAgents(ev *eval.Eval, deps agents.Deps) (map[string]agent.Agent, error) {
	built := map[string]agent.Agent{}
	var failed []error
	for _, spec := range ev.Agents {
		one, err := agents.Build(spec, deps)
		if err != nil {
			failed = append(failed, err)
		}
		built[spec.Name] = one
	}
	if len(failed) > 0 {
		return nil, badInput(errors.Join(failed...))
	}
	return built, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
