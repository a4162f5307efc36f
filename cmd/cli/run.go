package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/nearest"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/fixtures/study"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

// runOptions are the flags of `firstpick run`.
type runOptions struct {
	*app
	file          string
	agents        []string
	resume        string
	shard         string
	queue         string
	until         string
	register      bool
	to, sign      string // of the log, with register
	retryExcluded bool
	concurrency   int
	maxCost       float64
	unlimited     bool // --max-cost 0
	json          bool
}

// newRunCmd builds `firstpick run`. A test passes runF to see the options.
func newRunCmd(env *Env, runF func(context.Context, *runOptions) error) *cobra.Command {
	if runF == nil {
		runF = func(ctx context.Context, o *runOptions) error { return o.run(ctx) }
	}
	o := &runOptions{}
	cmd := &cobra.Command{
		Use:   "run EVAL.yaml",
		Short: "Run an eval: send every prompt to every agent and store the answers",
		Long: `Run the trials of an eval. Every answer is on disk before it counts: --resume RUN
continues an interrupted or killed run and sends only the missing trials.

With --until RULE the run takes one prompt family after the other and ends when the rule is
decided. The chance of a wrong verdict is at most 5 %, for all checks after each family together.
RULE is decided (one tool is ahead of all others), rank(TOOL) OP NUMBER or
pickRate(TOOL) OP NUMBER, with OP one of <=, <, >= and >.

With --register, the digest of the eval and its plan are entered in the public log before
the first request, and the published results name the entry.

The exit code is 0 when every planned trial is accounted for, 4 when trials are
missing or the budget was reached, 130 after an interrupt.`,
		Args: usage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			if len(args) == 1 {
				o.file = args[0]
			}
			o.unlimited = cmd.Flags().Changed("max-cost") && o.maxCost == 0
			return runF(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.agents, "agent", nil, "run only this agent of the eval (repeatable)")
	f.StringVar(&o.resume, "resume", "", "continue this run: an id, the start of one, or last")
	f.StringVar(&o.shard, "shard", "", "run only shard I of N, as I/N; firstpick merge joins the shards")
	f.StringVar(&o.queue, "queue", "", "let workers (firstpick worker) send the requests, over this PostgreSQL `URL`: postgres://...")
	f.BoolVar(&o.register, "register", false, "enter eval and plan in the log before the first request; see firstpick log")
	f.StringVar(&o.to, "snapshots", "", "with --register: place where the results will be published, file:///DIR or s3://BUCKET/PREFIX (default: the data folder)")
	renameFlag(f, "to", "snapshots")
	f.StringVar(&o.sign, "sign", "", "with --register: private key (PEM) of the log (default: the data folder's)")
	f.BoolVar(&o.retryExcluded, "retry-excluded", false, "with --resume: retry excluded trials")
	f.IntVar(&o.concurrency, "concurrency", 0, "parallel trials (default: the eval's, or 32)")
	f.StringVar(&o.until, "until", "", "end the run when this `RULE` is answered, such as 'rank(stripe) <= 2'")
	f.Float64Var(&o.maxCost, "max-cost", 0, "stop before spending more than this many US dollars")
	f.BoolVar(&o.json, "json", false, "print events as NDJSON on stdout")
	addAgentFlags(f)
	return cmd
}

func (o *runOptions) run(ctx context.Context) error {
	if o.concurrency < 0 {
		return usageErr("leave it out for the eval's, or 32", "--concurrency must not be negative (got %d)", o.concurrency)
	}
	if o.maxCost < 0 {
		return usageErr("--max-cost 5 stops before 5 US dollars", "--max-cost must not be negative (got %v)", o.maxCost)
	}
	if o.register && (o.resume != "" || o.shard != "") {
		return usageErr("register a new run of the whole eval", "--register cannot be combined with --resume or --shard")
	}
	if !o.register && (o.to != "" || o.sign != "") {
		return usageErr("to publish elsewhere, run first: firstpick publish --snapshots PLACE", "--snapshots and --sign need --register")
	}
	if o.resume != "" {
		id, err := o.findRun(o.resume)
		if err != nil {
			return err
		}
		o.resume = id
	}
	cat, err := o.catalog()
	if err != nil {
		return err
	}
	table, err := o.loadPrices()
	if err != nil {
		return err
	}
	j, err := o.open(ctx, cat, table)
	if err != nil {
		return err
	}
	run := j.Run()
	if finished, err := o.finished(run); finished || err != nil {
		return errors.Join(err, j.Close())
	}
	_, _ = fmt.Fprintf(o.env.Stderr, "run %s: %s, %s\n", run.ID, run.Eval.Name, counted(run.Planned, "trial"))
	if run.Synthetic {
		_, _ = fmt.Fprintln(o.env.Stderr, "note: "+simulatedNote(&run.Eval))
	}
	control := runner.NewControl()
	view := o.newView(ctx, cat, run, control, o.json)
	sinks := []runner.Sink{view}
	if o.json {
		sinks = append(sinks, &ndjson{enc: json.NewEncoder(o.env.Stdout)})
	}
	if err := o.earlier(view, run.ID); err != nil {
		return errors.Join(err, j.Close())
	}
	sum, err := execute(ctx, o.app, execution{
		journal: j, catalog: cat, sinks: sinks, control: control,
		concurrency: o.concurrency, maxCost: o.maxCost, unlimited: o.unlimited, retryExcluded: o.retryExcluded, prices: table, queue: o.queue,
	})
	err = errors.Join(err, j.Close())
	if sum.RunID != "" {
		err = errors.Join(err, view.Summarize(nil))
		o.report(sum, run)
		err = errors.Join(err, o.next(view, sum, run))
	}
	o.load(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	return outcome(ctx, sum)
}

// open creates the run, or opens the one to resume.
func (o *runOptions) open(ctx context.Context, cat *catalog.Catalog, table *prices.Table) (*journal.Journal, error) {
	if o.resume != "" {
		return o.reopen()
	}
	if o.file == "" {
		return nil, usageErr(otherEvals(""), "run needs an eval file")
	}
	ev, err := readEval(o.file)
	if err != nil {
		return nil, err
	}
	category, ok := cat.Category(ev.Category)
	if !ok {
		return nil, inEval(o.file, unknownCategory(cat, ev.Category))
	}
	if err := keepAgents(ev, o.agents); err != nil {
		return nil, err
	}
	until, err := o.stopping(category, ev)
	if err != nil {
		return nil, err
	}
	id := newRunID(o.env)
	projects, err := o.projects(ctx, ev, cat)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(append(ev.Lint(category), projects.lint(ev, category))...); err != nil {
		return nil, badInput(err) // before the keys of agents: a run of this file can never start
	}
	if err := preflight(ctx, ev, o.agentDeps(ctx, table, id, projects), o.maxCost); err != nil {
		return nil, err
	}
	part, err := parseShard(o.shard, ev)
	if err != nil {
		return nil, err
	}
	run := journal.Run{ID: id, Eval: *ev, Shard: part, Until: until, Budgeted: o.maxCost > 0}
	if err := prepareRun(o.app, cat.Version, &run); err != nil {
		return nil, err
	}
	if o.register {
		if err := o.enter(ctx, &run); err != nil {
			return nil, err
		}
	}
	return journal.Create(o.runsRoot(), run)
}

func readEval(file string) (*eval.Eval, error) {
	info, err := os.Stat(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, usageErr(otherEvals(file), "eval %s: no such file", file)
	}
	if err != nil {
		return nil, badInput(fmt.Errorf("eval: %w", err))
	}
	if info.IsDir() {
		return nil, usageErr(otherEvals(filepath.Join(file, "x")), "eval %s is a folder, not a file", file)
	}
	if info.Size() > eval.MaxSize {
		return nil, usageErr("an eval is a few kilobytes of YAML", "eval: %s has %d bytes; at most %d are read", file, info.Size(), eval.MaxSize)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, badInput(fmt.Errorf("eval: %w", err))
	}
	ev, err := eval.Parse(file, data)
	if err != nil && len(bytes.TrimSpace(data)) == 0 {
		return nil, usageErr("firstpick new eval CATEGORY writes one with built-in prompts", "%w", err)
	}
	return ev, badInput(err)
}

func keepAgents(ev *eval.Eval, names []string) error {
	if len(names) == 0 {
		return nil
	}
	var kept []eval.Agent
	for _, name := range names {
		i := slices.IndexFunc(ev.Agents, func(a eval.Agent) bool { return a.Name == name })
		if i < 0 {
			var known []string
			for _, a := range ev.Agents {
				known = append(known, a.Name)
			}
			return usageErr(nearest.Hint(name, known), "eval %s has no agent %q", ev.Name, name)
		}
		kept = append(kept, ev.Agents[i])
	}
	ev.Agents = kept
	maps.DeleteFunc(ev.Weights, func(name string, _ float64) bool { return !slices.Contains(names, name) })
	return nil
}

func newRunID(env *Env) string {
	return env.Now().UTC().Format("20060102-150405-") + strings.ToLower(env.NewID()[:6])
}

// simulatedNote says whose answers are invented, and how to ask real agents.
func simulatedNote(ev *eval.Eval) string {
	var names []string
	for _, a := range ev.Agents {
		if a.Kind == eval.KindSimulated {
			names = append(names, a.Name)
		}
	}
	return fmt.Sprintf("the answers of %s are simulated and the results synthetic; for real answers, add agents to the eval and check it with `firstpick doctor`",
		strings.Join(names, ", "))
}

// createRun checks the eval of a new run against the catalogue and makes its journal.
func createRun(a *app, cat *catalog.Catalog, run journal.Run) (*journal.Journal, error) {
	category, ok := cat.Category(run.Eval.Category)
	if !ok {
		return nil, unknownCategory(cat, run.Eval.Category)
	}
	if err := errors.Join(run.Eval.Lint(category)...); err != nil {
		return nil, badInput(err)
	}
	if err := prepareRun(a, cat.Version, &run); err != nil {
		return nil, err
	}
	return journal.Create(a.runsRoot(), run)
}

// prepareRun fills in the plan of a new run.
func prepareRun(a *app, catalogVersion string, run *journal.Run) error {
	ev := &run.Eval
	notes, err := study.Notes(fixtures.Files(), ev.Studies()...)
	if err != nil {
		return badInput(err)
	}
	run.CreatedAt, run.Synthetic, run.Catalog, run.Extractor, run.Notes = a.env.Now().UTC(), ev.Synthetic(), catalogVersion, pick.Version, notes
	run.Planned = len(run.Trials())
	return nil
}

func unknownCategory(cat *catalog.Catalog, slug string) error {
	names := map[string]string{}
	for _, c := range cat.Categories {
		names[c.Slug] = c.Slug
	}
	hint := "firstpick lint --categories lists them; one of your own is read with --catalog DIR"
	if near := nearest.Names(slug, names, 3); len(near) > 0 {
		hint = nearest.DidYouMean(near)
	}
	return usageErr(hint, "no category %q in the catalogue", slug)
}

// report prints the counts of planned trials, and whether the run counts.
func (o *runOptions) report(sum runner.Summary, run journal.Run) {
	w := o.env.Stderr
	_, _ = fmt.Fprintf(w, "planned %d = valid %d + excluded %d", sum.Planned, sum.Valid, sum.Excluded)
	if sum.Missing > 0 {
		_, _ = fmt.Fprintf(w, " + missing %d", sum.Missing)
	}
	_, _ = fmt.Fprintln(w)
	for _, reason := range sortedKeys(sum.Reasons) {
		_, _ = fmt.Fprintf(w, "  %s: %d\n", reason, sum.Reasons[reason])
	}
	for _, agent := range sortedKeys(sum.Closed) {
		_, _ = fmt.Fprintf(w, "agent %s stopped: %s\n", agent, printableText(sum.Closed[agent]))
	}
	if run.Until != nil {
		reportRule(w, run.Until, sum)
	}
	complete := analytics.Complete(sum.Valid, sum.Planned)
	switch {
	case sum.Missing > 0:
		_, _ = fmt.Fprintf(w, "continue with: %s%s\n", o.resumeCommand(sum.RunID, false), o.sameBudget(sum.Stopped))
	case !complete:
		_, _ = fmt.Fprintf(w, "retry excluded trials with: %s\n", o.resumeCommand(sum.RunID, true)+o.sameBudget(sum.Stopped))
	}
	if !complete && run.Shard == nil {
		_, _ = fmt.Fprintln(w, "incomplete: less than 95 % of the planned trials have an answer; rank and publish use the latest complete run of this eval, if any")
	}
}

// load brings the trial store up to date. It never fails a run: the journal
// has every answer, and the next reader of trials loads them.
func (a *app) load(ctx context.Context) {
	a.loadThen(ctx, func(*trialstore.Store) error { return nil })
}

// loadThen is load, and then reads the store.
func (a *app) loadThen(ctx context.Context, read func(*trialstore.Store) error) {
	store, err := a.trials(ctx)
	if err == nil {
		err = errors.Join(read(store), store.Close())
	}
	if err != nil {
		a.log.Warn("the answers are in the journal, but not yet in the trial store; the next `firstpick rank` loads them",
			"err", err)
	}
}

func outcome(ctx context.Context, sum runner.Summary) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case sum.Stopped == "budget":
		return &codedError{errors.New("the budget was reached: what is left of it does not cover the worst case of another request"), exitIncomplete, "raise --max-cost and resume"}
	case sum.Missing > 0:
		return &codedError{fmt.Errorf("%d trials are missing", sum.Missing), exitIncomplete, "fix the cause above and resume"}
	default:
		return nil
	}
}
