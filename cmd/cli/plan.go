package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

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
}

func newPlanCmd(env *Env) *cobra.Command {
	o := &planOptions{}
	cmd := &cobra.Command{
		Use:   "plan EVAL.yaml",
		Short: "Estimate cost, time and statistical power of an eval",
		Long: `Estimate a run of an eval: trials, expected and worst cost by agent, time, and the
smallest difference between tools that it can detect. Costs and times come from earlier
runs of the same agent, if any. No requests are sent; no key and no program is needed.`,
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
	f.IntVar(&o.concurrency, "concurrency", 0, "parallel trials (default: the eval's, or 32)")
	return cmd
}

func (o *planOptions) run(ctx context.Context, file string) error {
	if o.concurrency < 0 {
		return usageErr("", "--concurrency must not be negative")
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
		return unknownCategory(cat, ev.Category)
	}
	if err := errors.Join(ev.Lint(category)...); err != nil {
		return badInput(err)
	}
	table, err := o.loadPrices()
	if err != nil {
		return err
	}
	in := forecast.Input{Eval: ev, Concurrency: o.concurrency, MemoryCapMB: memoryCapMB()}
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

// buildForPlan builds what agents can be built. A key that is not set is stood in
// for, and told: nobody is asked.
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

// withKeys gives every key that is not set a value that is none.
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

// remember adds what earlier runs of the same agents took, and how prompts differed
// in the same category.
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
	cells, totals, err := store.Cells(ctx, in.Eval.Category, nil)
	if err != nil {
		return err
	}
	if !totals.Synthetic { // invented answers tell nothing of prompts
		in.Spread = forecast.SpreadOf(cells)
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

func (o *planOptions) print(f forecast.Forecast, notes []string) error {
	t := table{header: []string{"agent", "kind", "model", "conditions", "trials", "expected", "worst", "seconds", "basis"}}
	for _, a := range f.Agents {
		var conditions []string
		if a.Web != "" {
			conditions = append(conditions, "web "+a.Web)
		}
		if a.Effort != "" {
			conditions = append(conditions, "effort "+a.Effort)
		}
		t.add(a.Name, a.Kind, a.Model, strings.Join(conditions, ", "), fmt.Sprint(a.Trials), expected(a.Expected), worst(a.WorstUSD),
			fmt.Sprintf("%.1f", a.SecondsPerTrial), a.Basis)
	}
	t.add("all", "", "", "", fmt.Sprint(f.Trials), expected(f.Expected), worst(f.WorstUSD), "", "")
	if err := t.print(o.env, o.format); err != nil {
		return err
	}
	w := o.env.Stdout
	if o.csv {
		w = o.env.Stderr
	}
	_, err := fmt.Fprintln(w, "\n"+strings.Join(sayPlan(f), "\n"))
	for _, n := range notes {
		_, _ = fmt.Fprintf(o.env.Stderr, "note: %s\n", n)
	}
	return err
}

// sayPlan says in sentences what the table does not hold.
func sayPlan(f forecast.Forecast) []string {
	p := f.Power
	lines := []string{
		fmt.Sprintf("trials: %s x %s x %s x %s = %d", count(float64(f.Prompts), "prompt"), count(float64(len(f.Agents)), "agent"),
			count(float64(f.Templates), "template"), count(float64(f.Repeats), "repeat"), f.Trials),
		fmt.Sprintf("time: about %s with %d in parallel, without rate limits", f.Duration().Round(time.Second), f.Concurrency),
	}
	from := fmt.Sprintf("assuming %.0f%% of the variance between prompts", 100*p.Rho)
	if p.Measured {
		from = fmt.Sprintf("from earlier runs: %.0f%% of the variance between prompts", 100*p.Rho)
	}
	shows := "power: these prompts cannot detect a difference between two tools; " + from
	if p.Detectable != nil {
		shows = fmt.Sprintf("power: a difference of %.1f points between two tools is detected in 80%% of such runs; %s", 100**p.Detectable, from)
	}
	return append(lines, shows,
		fmt.Sprintf("power: 5 points (30%% against 25%%) take %s with %d trials each, at least %s with any number of repeats; %s trials if no two shared a prompt",
			count(p.PromptsFor5, "prompt"), p.TrialsPerPrompt, count(p.PromptsAtBest, "prompt"), count(p.IndependentTrials, "")),
		fmt.Sprintf("power: an interval of 5 points either side takes %s; telling two snapshots of other prompts apart by 5 points takes %s each (design effect %.1f)",
			count(p.TrialsForHalf5, "trial"), count(p.TrialsPerSide, "trial"), p.Deff))
}

func expected(m *forecast.Money) string {
	switch {
	case m == nil:
		return "unknown"
	case m.High-m.Low < 0.00005:
		return usd(m.USD)
	default:
		return fmt.Sprintf("%s (%s–%s)", usd(m.USD), usd(m.Low), usd(m.High))
	}
}

func worst(v *float64) string {
	if v == nil {
		return "unknown"
	}
	return usd(*v)
}

// usd prints an amount, in hundredths of a cent below one dollar.
func usd(v float64) string {
	if v != 0 && v < 1 {
		return fmt.Sprintf("$%.4f", v)
	}
	return fmt.Sprintf("$%.2f", v)
}

func count(n float64, noun string) string {
	s := fmt.Sprintf("%.0f", n)
	if math.IsInf(n, 0) || math.IsNaN(n) {
		s = "no number of"
	}
	if noun == "" {
		return s
	}
	if n != 1 {
		noun += "s"
	}
	return s + " " + noun
}
