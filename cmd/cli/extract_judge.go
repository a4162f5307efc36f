package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/cmd/progress"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/nearest"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/judge"
	"github.com/firstpick/firstpick/runner/pick"
)

const (
	// defaultJudgeUSD is the budget of a run's judgements: at three cents for both models,
	// as the dearest of the price table charge, it covers some 30 answers, and hundreds
	// with small models.
	defaultJudgeUSD = 1
	// judgeConcurrency is how many requests run at a time by default.
	judgeConcurrency = 8
)

type judgeOptions struct {
	*app
	with        []string
	agents      string
	maxCost     float64
	concurrency int
	dryRun      bool
	json        bool
}

func newJudgeCmd(env *Env) *cobra.Command {
	o := &judgeOptions{}
	cmd := &cobra.Command{
		Use:   "judge RUN [--with A,B]",
		Short: "Let two models read the answers that the rules left unresolved",
		Long: `Let two models of different vendors read the answers of a run that the extractor left
unresolved. Each chooses from the tools of the category and quotes the answer. Where both
agree with valid quotes, their choice becomes the outcome; otherwise the answer stays
unresolved. The journal keeps prompts, replies and costs: extract --run applies them again
without a request, and the same command continues after an interrupt or a spent budget.

A judge is an agent of the run's eval, an agent of the eval file given with --agents, or
KIND:MODEL, as in openai:gpt-5-mini or anthropic:claude-haiku-4-5. API keys come from the
environment. Without --with, the counts of earlier judgements are printed.

The exit code is 0 when no answer lacks a judgement, and 4 when the budget was reached or
a model could not be reached.`,
		Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), args[0])
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.with, "with", nil, "two models of different vendors, as A,B")
	f.StringVar(&o.agents, "agents", "", "eval `file` whose agents are judges")
	f.Float64Var(&o.maxCost, "max-cost", defaultJudgeUSD, "stop before all judgements of the run cost more than this many US dollars")
	f.IntVar(&o.concurrency, "concurrency", judgeConcurrency, "parallel requests")
	f.BoolVar(&o.dryRun, "dry-run", false, "print what is missing and its cost, and send nothing")
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.String("prices", "", "YAML file of prices instead of the built-in table")
	return cmd
}

func (o *judgeOptions) run(ctx context.Context, runID string) error {
	if !(o.maxCost > 0) || o.concurrency < 1 || o.concurrency > runner.MaxConcurrency {
		return usageErr("", "--max-cost must be above 0, and --concurrency from 1 to %d", runner.MaxConcurrency)
	}
	cat, err := o.catalog()
	if err != nil {
		return err
	}
	if runID, err = o.findRun(runID); err != nil {
		return err
	}
	s, err := o.survey(runID, cat)
	if err != nil {
		return err
	}
	if len(o.with) == 0 {
		return o.finish(s, nil)
	}
	if s.Outdated > 0 {
		return usageErr("firstpick extract --run "+runID, "run %s: %d answers were read by another version of the extractor or the catalogue; extract them first", runID, s.Outdated)
	}
	specs, err := o.judges(&s.Plan.Eval)
	if err != nil {
		return err
	}
	table, err := o.loadPrices()
	if err != nil {
		return err
	}
	session, err := o.session(ctx, s, specs, table)
	if err != nil {
		return err
	}
	estimate := session.Estimate()
	o.announce(s, specs, estimate)
	if o.dryRun {
		return o.finish(s, &estimate)
	}
	for _, j := range session.Judges {
		if estimate.Requests > 0 && j.Agent.Worst(agent.Task{}) == nil {
			return usageErr("give it price: {input_per_mtok: USD, output_per_mtok: USD} in the eval, or its model a line in the file of --prices",
				"judge %s: a budget needs a known maximum cost per request", j.Name)
		}
	}
	sum, err := o.ask(ctx, session)
	if err != nil {
		return err
	}
	for _, name := range sortedKeys(sum.Closed) {
		_, _ = fmt.Fprintf(o.env.Stderr, "%s stopped: %s\n", name, printableText(sum.Closed[name]))
	}
	o.load(context.WithoutCancel(ctx))
	if err := o.finish(s, &estimate); err != nil {
		return err
	}
	waiting := s.Report().Waiting
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case sum.Stopped == runner.StoppedBudget:
		return &codedError{fmt.Errorf("the budget was reached; %d answers lack a judgement", waiting), exitIncomplete, "raise --max-cost and repeat the command"}
	case waiting > 0:
		return &codedError{fmt.Errorf("%d answers lack a judgement", waiting), exitIncomplete, "fix the cause above and repeat the command"}
	}
	return nil
}

// ask runs the session. The run's lock excludes another one.
func (o *judgeOptions) ask(ctx context.Context, session *judge.Session) (sum runner.Summary, err error) {
	j, err := journal.Open(o.runsRoot(), session.Plan.ID)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	session.Journal, session.Sinks = j, []runner.Sink{progress.New(ctx, o.env.showing(session.Requests(), false))}
	return session.Run(ctx)
}

// survey reads what the run has to judge.
func (o *judgeOptions) survey(runID string, cat *catalog.Catalog) (*judge.Survey, error) {
	run, err := journal.ReadRun(o.runsRoot(), runID)
	if errors.Is(err, os.ErrNotExist) {
		return nil, usageErr("firstpick runs lists them", "no run %s in %s", runID, o.cfg.Data)
	} else if err != nil {
		return nil, err
	}
	category, ok := cat.Category(run.Eval.Category)
	if !ok {
		return nil, unknownCategory(cat, run.Eval.Category)
	}
	return judge.Read(o.runsRoot(), runID, judge.New(category), judge.Versions{Extractor: pick.Version, Catalog: cat.Version})
}

// judges returns the two agents of --with.
func (o *judgeOptions) judges(ev *eval.Eval) ([]eval.Agent, error) {
	known := ev.Agents
	if o.agents != "" {
		file, err := readEval(o.agents)
		if err != nil {
			return nil, err
		}
		known = append(slices.Clone(file.Agents), known...)
	}
	var specs []eval.Agent
	for _, name := range o.with {
		spec, err := judgeNamed(strings.TrimSpace(name), known)
		if err != nil {
			return nil, err
		}
		specs = append(specs, judge.Spec(spec))
	}
	if len(specs) != 2 {
		return nil, usageErr("--with openai:gpt-5-mini,anthropic:claude-haiku-4-5", "--with needs two models, got %d", len(specs))
	}
	if err := judge.CheckVendors(specs); err != nil {
		return nil, usageErr("name a model of another vendor", "%w", err)
	}
	return specs, nil
}

// judgeNamed returns an agent by its name, or by kind and model.
func judgeNamed(name string, known []eval.Agent) (eval.Agent, error) {
	var names []string
	for _, a := range known {
		if a.Name == name {
			if !a.IsModel() {
				return a, usageErr("name a model behind an API", "agent %s is of kind %s; a judge is a model behind an API", name, a.Kind)
			}
			return a, nil
		}
		if a.IsModel() {
			names = append(names, a.Name)
		}
	}
	kind, model, _ := strings.Cut(name, ":")
	switch kind {
	case "openai":
		kind = eval.KindOpenAIResponses
	case "google":
		kind = eval.KindGemini
	}
	a := eval.Agent{Name: name, Kind: kind, Model: model}
	if !a.IsModel() || model == "" {
		hint := nearest.Hint(name, names)
		if len(names) == 0 {
			hint = "name it as KIND:MODEL, as in openai:gpt-5-mini, or give an eval file with --agents"
		}
		return a, usageErr(hint, "no model %q in the run's eval", name)
	}
	return a, nil
}

// session builds the judges. A dry run needs no keys.
func (o *judgeOptions) session(ctx context.Context, s *judge.Survey, specs []eval.Agent, table *prices.Table) (*judge.Session, error) {
	build := o.builder(ctx, o.env.Getenv, table, "judge")
	if o.dryRun {
		build = o.inertBuilder(withKeys(o.env.Getenv, specs), table)
	}
	session := &judge.Session{
		Survey: s, Concurrency: o.concurrency, MaxCostUSD: o.maxCost, Nonce: o.env.NewID, Now: o.env.Now, Sleep: o.env.Sleep,
	}
	for _, spec := range specs {
		a, err := build(spec)
		if err != nil {
			return nil, badInput(err)
		}
		session.Judges = append(session.Judges, judge.Judge{Name: spec.Name, Spec: spec, Agent: a, Vendor: judge.VendorOf(spec)})
	}
	return session, nil
}

// announce prints what is missing before anything is sent.
func (o *judgeOptions) announce(s *judge.Survey, specs []eval.Agent, e judge.Estimate) {
	r := s.Report()
	amount := func(usd *float64) string {
		if usd == nil {
			return "unknown"
		}
		return fmt.Sprintf("%.4f USD", *usd)
	}
	_, _ = fmt.Fprintf(o.env.Stderr, "run %s: %d of %d answers unresolved by the rules; %d requests to %s and %s: expected %s, at most %s, limit %.4f USD\n",
		r.Run, r.Unresolved, r.Answers, e.Requests, specs[0].Name, specs[1].Name, amount(e.ExpectedUSD), amount(e.WorstUSD), o.maxCost)
}

// finish prints the counts.
func (o *judgeOptions) finish(s *judge.Survey, e *judge.Estimate) error {
	r := s.Report()
	if o.json {
		return printJSON(o.env, struct {
			judge.Report
			Estimate *judge.Estimate `json:"estimate"` // null where nothing was to be asked
		}{r, e})
	}
	w := o.env.Stdout
	_, _ = fmt.Fprintf(w, "judged %d = agreed %d + disagreed %d (%d with an invalid judgement)\n", r.Judged, r.Agreed, r.Disagreed, r.Invalid)
	for _, reason := range sortedKeys(r.Reasons) {
		_, _ = fmt.Fprintf(w, "  invalid: %s: %d\n", printableText(reason), r.Reasons[reason])
	}
	_, _ = fmt.Fprintf(w, "resolved %d of %d unresolved answers", r.Resolved, r.Unresolved)
	if r.Waiting > 0 {
		_, _ = fmt.Fprintf(w, "; %d lack a judgement", r.Waiting)
	}
	if r.Unreadable > 0 {
		_, _ = fmt.Fprintf(w, "; %d have no text to judge", r.Unreadable)
	}
	if r.Addressed > 0 {
		_, _ = fmt.Fprintf(w, "; %d have lines that address a judge, which were left out", r.Addressed)
	}
	_, err := fmt.Fprintf(w, "\nspent %.4f USD, at most %.4f\n", r.SpentUSD, r.AtMostUSD)
	return err
}

// readerOf returns the reader of judgements of a category that the catalogue has.
func readerOf(cache map[string]*judge.Reader, cat *catalog.Catalog, slug string) *judge.Reader {
	if cache[slug] == nil {
		category, _ := cat.Category(slug)
		cache[slug] = judge.New(category)
	}
	return cache[slug]
}
