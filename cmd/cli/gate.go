package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/gate"
	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/nearest"
	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/runner/journal"
)

type gateOptions struct {
	*app
	format
	category, rulesFile, from string
	runs                      []string
	junit, summary            string
	allowMissing              bool
}

func newGateCmd(env *Env) *cobra.Command {
	o := &gateOptions{}
	cmd := &cobra.Command{
		Use:   "gate [RULE...]",
		Short: "Fail CI when results miss your thresholds",
		Long: `Check the latest run of every eval, complete or not, or the runs given by --run,
against rules:

  pickRate(stripe) low >= 0.25    the lower end of the interval; also shortlistRate, defaultRate,
                                  mismatchRate and diyRate; firstNamedRate has no interval
  rank(stripe) high <= 3          the upper end of the rank range (95 %)
  coverage >= 95%                 also trials, prompts (families of them), unresolvedRate
  drop(stripe) vs current         no significant drop against a snapshot
  drop(stripe) <= 5pp vs current  a drop of more than 5 points is excluded
  night(stripe)                   no drop shown by all snapshots and this run together;
                                  night(stripe) since 2026-03-20 leaves out earlier ones
  payments: trials >= 300         in one category only

A drop is tested with prompts as clusters, paired by prompt and agent where both runs
have them. All drops of a gate are corrected for multiple testing. For a gate that runs
every night use night(TOOL): it adds up the evidence of all nights (firstpick history).

The exit code is 0 when every rule is met, 3 when one is not, 4 when trials are missing
or a rule could not be evaluated.`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), args)
		},
	}
	o.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.category, "category", "", "only this category")
	f.StringArrayVar(&o.runs, "run", nil, "check this run instead of the latest ones (repeatable)")
	f.StringVar(&o.rulesFile, "rules", "", "YAML file with further rules, a list under the key rules")
	f.StringVar(&o.from, "snapshots", "", "place of the snapshots: file:///DIR or s3://BUCKET/PREFIX (default: the data folder)")
	renameFlag(f, "from", "snapshots")
	f.StringVar(&o.junit, "junit", "", "write the results to this file as JUnit XML")
	f.StringVar(&o.summary, "summary", "", "append the results to this file as Markdown; auto: the file in $GITHUB_STEP_SUMMARY, if set")
	f.BoolVar(&o.allowMissing, "allow-missing", false, "check an incomplete run; exit 4 only if a rule could not be evaluated")
	return cmd
}

func (o *gateOptions) run(ctx context.Context, args []string) error {
	rules, err := o.rules(args)
	if err != nil {
		return err
	}
	cat, err := o.catalog()
	if err != nil {
		return err
	}
	if err := o.known(cat, rules); err != nil {
		return err
	}
	subjects, err := o.subjects(ctx, cat, rules)
	if err != nil {
		return err
	}
	rep := gate.Report{Verdicts: gate.Check(rules, subjects)}
	for _, s := range subjects {
		rep.Missing += s.Missing
		if s.Board.Synthetic {
			_, _ = fmt.Fprintf(o.env.Stderr, "note: %s: %s: %s\n", s.Board.Category, analytics.Synthetic, analytics.Explain(analytics.Synthetic))
		}
	}
	if len(subjects) == 0 {
		o.noteNoRun()
	}
	if err := o.write(rep); err != nil {
		return err
	}
	return o.outcome(rep)
}

func (o *gateOptions) rules(args []string) (rules []gate.Rule, err error) {
	for _, text := range args {
		r, err := gate.Parse(text)
		if err != nil {
			hint := ruleHint(err)
			if info, statErr := os.Stat(text); statErr == nil && !info.IsDir() {
				hint = "firstpick gate --rules " + text
			}
			return nil, usageErr(hint, "%w", err)
		}
		rules = append(rules, r)
	}
	if o.rulesFile != "" {
		data, err := os.ReadFile(o.rulesFile)
		if err != nil {
			return nil, badInput(fmt.Errorf("rules: %w", err))
		}
		more, err := gate.ParseFile(o.rulesFile, data)
		if err != nil {
			return nil, badInput(err)
		}
		rules = append(rules, more...)
	}
	if len(rules) == 0 {
		return nil, usageErr("firstpick gate --help shows rules", "gate needs a rule, or --rules FILE")
	}
	return rules, nil
}

// ruleHint suggests the metric that was probably meant.
func ruleHint(err error) string {
	var unknown *gate.MetricError
	if errors.As(err, &unknown) {
		return nearest.Hint(unknown.Metric, unknown.Known)
	}
	return "firstpick gate --help shows rules"
}

// known rejects rules about unknown tools: a typo must
// not look like something that was not measured.
func (o *gateOptions) known(cat *catalog.Catalog, rules []gate.Rule) error {
	if _, ok := cat.Category(o.category); o.category != "" && !ok {
		return unknownCategory(cat, o.category)
	}
	slugs := map[string]string{}
	for _, t := range cat.Tools {
		slugs[t.Slug] = t.Slug
	}
	for _, r := range rules {
		if _, ok := cat.Category(r.Category); r.Category != "" && !ok {
			return unknownCategory(cat, r.Category)
		}
		if _, ok := slugs[r.Tool]; r.Tool != "" && !ok {
			hint := "slugs are in firstpick rank"
			if near := nearest.Names(r.Tool, slugs, 3); len(near) > 0 {
				hint = nearest.DidYouMean(near)
			}
			return usageErr(hint, "rule %q: no tool %q in the catalogue", r.Text, r.Tool)
		}
	}
	return nil
}

// subjects ranks every category that is to be judged.
func (o *gateOptions) subjects(ctx context.Context, cat *catalog.Catalog, rules []gate.Rule) (out []gate.Subject, err error) {
	past := nightly{rules: rules}
	chosen, err := o.rankEach(ctx, cat, func(store *trialstore.Store) (selection, error) {
		chosen, err := o.latestRuns(ctx, store, o.runs, o.category)
		return chosen, errors.Join(err, past.read(ctx, store, cat, chosen))
	}, func(board analytics.Board, measured analytics.Measurement) {
		out = append(out, gate.Subject{Board: board, Measurement: measured})
	})
	if err != nil || len(chosen.rows) == 0 {
		return nil, err
	}
	for i := range out {
		for _, row := range chosen.rows {
			if row.Category == out[i].Board.Category {
				out[i].Missing += max(0, row.Planned-row.Valid-row.Excluded)
			}
		}
	}
	from, err := o.snapshots(o.from)
	if err != nil {
		return nil, err
	}
	return out, errors.Join(o.baselines(ctx, cat, from, rules, out, chosen.runs), past.add(ctx, from, out))
}

// baselines adds the snapshots that rules name.
func (o *gateOptions) baselines(ctx context.Context, cat *catalog.Catalog, from publish.Place, rules []gate.Rule, subjects []gate.Subject, runs []journal.Run) error {
	for i := range subjects {
		subjects[i].Baselines = map[string]gate.Baseline{}
	}
	seen := map[string]bool{}
	for _, r := range rules {
		if r.Baseline == "" || seen[r.Baseline] {
			continue
		}
		seen[r.Baseline] = true
		b, err := openBaseline(ctx, from, r.Baseline)
		if err != nil {
			return err
		}
		for i := range subjects {
			b.add(cat.Version, &subjects[i], r.Baseline, runs)
		}
	}
	return nil
}

func (o *gateOptions) write(rep gate.Report) error {
	if o.junit != "" {
		if err := writeTo(o.junit, os.O_TRUNC, rep.JUnit); err != nil {
			return fmt.Errorf("junit: %w", err)
		}
	}
	summary := o.summary
	if summary == "auto" {
		summary = o.env.Getenv("GITHUB_STEP_SUMMARY")
	}
	if summary != "" {
		if err := writeTo(summary, os.O_APPEND, rep.Markdown); err != nil {
			return fmt.Errorf("summary: %w", err)
		}
	}
	if o.json {
		return printJSON(o.env, rep)
	}
	t := table{header: []string{"verdict", "category", "rule", "measured", "why"}}
	for _, v := range rep.Verdicts {
		t.add(string(v.Status), v.Category, v.Rule, v.Measured, v.Why)
	}
	return t.print(o.env, o.format)
}

func (o *gateOptions) outcome(rep gate.Report) error {
	missing := rep.Missing > 0 && !o.allowMissing
	switch {
	case missing:
		return &codedError{errors.New(rep.Headline()), exitIncomplete, "finish the run with firstpick run --resume RUN, or check the existing trials with --allow-missing"}
	case rep.Count(gate.Failed) > 0:
		return &codedError{errors.New(rep.Headline()), exitGate, ""}
	case rep.Count(gate.Undecided) > 0:
		return &codedError{errors.New(rep.Headline()), exitIncomplete, "measure the tools of the undecided rules, or remove the rules"}
	}
	_, _ = fmt.Fprintln(o.env.Stderr, rep.Headline())
	return nil
}
