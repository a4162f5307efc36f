package evalwork

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/firstpick/firstpick/fixtures/templates"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/agents"
	"github.com/firstpick/firstpick/runner/cliagent"
	"github.com/firstpick/firstpick/runner/cliagent/workspace"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/incumbent"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

// statusEvery is the interval of a run's status events.
const statusEvery = time.Second

// ask runs the runner. If the run is to end already, it only extracts the stored
// answers and makes no attempts.
func (j *job) ask(ctx context.Context, stop *stopper, jour *journal.Journal, done runner.Progress, keys []string) (sum runner.Summary, err error) {
	run := jour.Run()
	if missing := slices.DeleteFunc(keys, func(name string) bool { return j.secrets[name].Secret != "" }); len(missing) > 0 {
		if stop.cancelled() {
			return settled(run, done), nil
		}
		return sum, &verdict{"The provider keys " + strings.Join(missing, ", ") + " are not set. Set them in the settings of the workspace and run the eval again."}
	}
	agents, leave, err := j.agents(ctx, &run.Eval)
	if err != nil && stop.cancelled() {
		j.log.Warn("a cancelled run ended with unread answers", "answers", len(done.Answered), "err", j.cleanError(err))
		return settled(run, done), nil
	}
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	category, _ := j.catalog.Category(run.Eval.Category)
	concurrency := min(cmp.Or(run.Eval.Concurrency, runner.DefaultConcurrency), j.w.Concurrency)
	asking, interrupt := context.WithCancel(ctx)
	control := runner.NewControl()
	var steering sync.WaitGroup
	steering.Go(func() { stop.steer(asking, control, j.w, interrupt) })
	defer steering.Wait()
	defer interrupt()
	projects := workspace.Source{Load: incumbent.Loader(templates.Load, j.catalog)}
	r := &runner.Runner{
		Eval: &run.Eval, Category: category, Agents: agents, Extractor: pick.New(category, j.catalog.Version), Journal: jour,
		Sinks: []runner.Sink{j.meter}, Concurrency: concurrency, MaxCostUSD: max(dollars(j.row.BudgetMicros), 1e-9), // 0 means unlimited
		MemoryCapMB: j.w.MemoryCapMB / j.w.Runs, StatusEvery: min(statusEvery, j.w.Lease/3), Control: control, Paused: stop.ends(),
		Extraction: j.w.Extraction,
		Describe:   projects.Describe, Installed: projects.Installed, Now: j.w.Now, Sleep: j.w.Sleep,
	}
	return r.Run(asking, run.Trials(), done)
}

// agents builds the agents with the workspace's keys, and returns a cleanup function.
func (j *job) agents(ctx context.Context, ev *eval.Eval) (map[string]agent.Agent, func() error, error) {
	leave := func() error { return nil }
	var at string // the host of the current agent's keys
	var unbound error
	lookUp := func(name string) (string, bool) {
		key, err := j.key(name, at)
		unbound = errors.Join(unbound, err)
		return key, key != ""
	}
	deps := agents.Deps{
		Files: j.w.Files, Getenv: func(name string) string { key, _ := lookUp(name); return key }, Sleep: j.w.Sleep, Prices: j.w.Prices,
		Client: &http.Client{Transport: &boundTransport{j.w.Transport, j.secrets}},
		Programs: func() (cliagent.Deps, error) {
			if j.w.Programs == nil {
				return cliagent.Deps{}, errors.New("programs are disabled on this worker")
			}
			d, clean, err := j.w.Programs(ctx, j.row.ID, lookUp)
			if clean != nil {
				leave = clean
			}
			d.Workspaces.Load = incumbent.Loader(templates.Load, j.catalog)
			for _, name := range ev.Templates {
				if _, tool := incumbent.Split(name); tool.Slug != "" {
					d.Templates = append(d.Templates, name)
				}
			}
			return d, err
		},
	}
	built := map[string]agent.Agent{}
	for _, spec := range ev.Agents {
		at, unbound = destination(spec), nil
		one, err := agents.Build(spec, deps)
		if unbound != nil {
			return nil, nil, errors.Join(unbound, leave())
		}
		if err == nil && spec.IsProgram() {
			if program, ok := one.(agent.Checker); ok {
				err = program.Check(ctx) // is it on this machine?
			}
		}
		if err != nil {
			return nil, nil, errors.Join(err, leave())
		}
		built[spec.Name] = hosted{one, j.keys}
	}
	return built, func() error { return leave() }, nil
}
