package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/analytics/forecast"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
)

type planOptions struct {
	*app
	format
	agents      []string
	concurrency int
	detect      string
}

func newPlanCmd(env *Env) *cobra.Command {
	o := &planOptions{}
	cmd := &cobra.Command{
		Use:   "plan EVAL.yaml",
		Short: "Estimate cost, time and statistical power of an eval",
		Long: `Estimate a run of an eval: trials, expected and worst cost by agent, time, and the
smallest difference between the two most picked tools that its board shows as significant
in 80% of such runs. Costs and times come from earlier runs of the same agent, if any. No
requests are sent; no key and no program is needed.

The board compares all tools of the category (Holm, 5%), with prompt families as clusters,
so the answer depends on the ICC: the share of the variance that lies between prompts. It
is printed for an ICC of 0.1, 0.3 and 0.6. Picks are assumed to fall with 1/rank behind the
leader. Where earlier runs of the category have repeats of 10 prompts, the answer is also
printed for their ICC and shares, with its 80% range.

--detect lists the numbers of prompts and repeats that show a difference, and their cost.
More prompts beat more repeats: only a new prompt adds to what is known of other tasks.`,
		Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), args[0])
		},
	}
	o.flags(cmd)
	f := cmd.Flags()
	addAgentFlags(f)
	f.StringArrayVar(&o.agents, "agent", nil, "plan for this agent of the eval only (repeatable)")
	f.StringVar(&o.detect, "detect", "", "list prompts, repeats and cost that show this `difference` between two tools: 10pp, 10% or 0.1")
	f.IntVar(&o.concurrency, "concurrency", 0, "parallel trials (default: the eval's, or 32)")
	return cmd
}

func (o *planOptions) run(ctx context.Context, file string) error {
	if o.concurrency < 0 {
		return usageErr("", "--concurrency must not be negative (got %d)", o.concurrency)
	}
	difference, err := parseDifference(o.detect)
	if err != nil {
		return err
	}
	ev, err := readEval(file)
	if err != nil {
		return err
	}
	if err := keepAgents(ev, o.agents); err != nil {
		return err
	}
	cat, err := o.catalog()
	if err != nil {
		return err
	}
	category, ok := cat.Category(ev.Category)
	if !ok {
		return inEval(file, unknownCategory(cat, ev.Category))
	}
	if err := errors.Join(ev.Lint(category)...); err != nil {
		return badInput(err)
	}
	table, err := o.loadPrices()
	if err != nil {
		return err
	}
	in := forecast.Input{
		Eval: ev, Concurrency: o.concurrency, MemoryCapMB: memoryCapMB(), Tools: len(category.Entries), Detect: difference,
	}
	var notes []string
	in.Agents, notes = o.buildForPlan(ev, table)
	if err := o.remember(ctx, cat, &in); err != nil {
		return err
	}
	f := forecast.Of(in)
	if o.json {
		return printJSON(o.env, struct {
			forecast.Forecast
			Notes []string `json:"notes"`
		}{f, append([]string{}, notes...)})
	}
	return o.print(f, notes)
}

// buildForPlan builds agents where possible, with placeholder keys and a note for
// unset ones: no requests are sent.
func (o *planOptions) buildForPlan(ev *eval.Eval, table *prices.Table) (map[string]agent.Agent, []string) {
	build := o.inertBuilder(o.env.Getenv, table)
	keyless := o.inertBuilder(withKeys(o.env.Getenv, ev.Agents), table)
	built := map[string]agent.Agent{}
	var notes []string
	for _, spec := range ev.Agents {
		a, err := build(spec)
		if err != nil {
			notes = append(notes, err.Error())
			a, err = keyless(spec)
		}
		if err == nil {
			built[spec.Name] = a
		}
	}
	return built, notes
}

// withKeys sets placeholder keys for unset ones.
func withKeys(getenv func(string) string, agents []eval.Agent) func(string) string {
	return func(name string) string {
		v := getenv(name)
		named := slices.ContainsFunc(agents, func(a eval.Agent) bool { return a.APIKeyEnv == name })
		if v == "" && (named || strings.HasSuffix(name, "_KEY") || strings.HasSuffix(name, "_TOKEN")) {
			return "not-set"
		}
		return v
	}
}

// parseDifference reads --detect: 10pp, 10% or 0.1; 0 for an empty text.
func parseDifference(text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	number, points := strings.CutSuffix(text, "pp")
	number, percent := strings.CutSuffix(number, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if points || percent {
		v /= 100
	}
	if err != nil || points && percent || !(v >= 0.001 && v < 1) {
		return 0, usageErr("write 10pp, 10% or 0.1", "--detect %q: want a difference from 0.1pp to below 100pp", text)
	}
	return v, nil
}

// remember adds the usage of earlier runs of the same agents, and the pilot that earlier
// runs of the same category are.
func (o *planOptions) remember(ctx context.Context, cat *catalog.Catalog, in *forecast.Input) (err error) {
	if _, err := os.Stat(o.runsRoot()); errors.Is(err, os.ErrNotExist) {
		return nil // nothing was run yet
	}
	store, err := o.trials(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	usages, err := store.Usages(ctx)
	if err != nil {
		return err
	}
	in.Past = map[string]forecast.Past{}
	runs := map[string]journal.Run{}
	for _, u := range usages {
		run, ok := runs[u.RunID]
		if !ok {
			if run, err = journal.ReadRun(o.runsRoot(), u.RunID); err != nil {
				return err
			}
			runs[u.RunID] = run
		}
		for i := range in.Eval.Agents {
			if a := &in.Eval.Agents[i]; sameAgent(run.Eval.Agents, u.Agent, a) {
				past := in.Past[a.Name]
				past.Add(forecast.Past{
					Trials: u.Trials, Seconds: u.Seconds, InTokens: u.InTokens, OutTokens: u.OutTokens,
					Priced: u.Priced, CostUSD: u.CostUSD, CostVar: u.CostVar,
				})
				in.Past[a.Name] = past
			}
		}
	}
	rows, err := store.Runs(ctx)
	if err != nil {
		return err
	}
	var current selection
	for _, row := range rows {
		if row.Current && row.Category == in.Eval.Category {
			run, err := journal.ReadRun(o.runsRoot(), row.ID)
			if err != nil {
				return err
			}
			current.runs = append(current.runs, run)
		}
	}
	cells, totals, err := store.Cells(ctx, in.Eval.Category, nil)
	if err != nil {
		return err
	}
	if !totals.Synthetic { // simulated answers do not depend on prompts
		in.Pilot = forecast.PilotOf(cells, current.families(in.Eval.Category))
	}
	return nil
}

// sameAgent reports whether the agent of that name among old ones asked the same
// thing in the same way.
func sameAgent(old []eval.Agent, name string, a *eval.Agent) bool {
	for i := range old {
		o := &old[i]
		if o.Name == name {
			web := func(a *eval.Agent) string {
				if a.WebSearch == nil {
					return ""
				}
				return fmt.Sprint(*a.WebSearch)
			}
			return o.Kind == a.Kind && o.Model == a.Model && o.Effort == a.Effort && o.BaseURL == a.BaseURL && web(o) == web(a)
		}
	}
	return false
}
