package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/cmd/evalclient"
)

// runCmds are the commands about runs under way.
func (o *evalsOptions) runCmds(env *Env) []*cobra.Command {
	run := o.command(env, "run EVAL|EVAL.yaml", "Run an eval on the server; a file is stored first", cobra.ExactArgs(1), o.run)
	run.Long = `Queue a run of an eval on the server, within a budget. An argument that ends in .yaml,
.yml or .json is a file, which is stored first. Without --wait the id of the run is
printed and the command ends; with it the run is watched, and the exit code is as that
of firstpick run: 0 when every planned trial is accounted for, 1 when the run failed,
4 when trials are missing or the budget was reached.

An interrupt stops the display, not the run: firstpick evals watch resumes it, and
firstpick evals cancel cancels the run.`
	run.Flags().Float64Var(&o.maxCost, "max-cost", 0, "stop before spending more than this many US dollars (required)")
	run.Flags().BoolVar(&o.wait, "wait", false, "watch the run until it ends")
	run.Flags().IntVar(&o.version, "version", 0, "run this version of the eval (default: the latest)")
	run.Flags().BoolVar(&o.json, "json", false, "print the run as JSON, or with --wait its events as NDJSON")
	renameFlag(run.Flags(), "budget", "max-cost")
	watch := o.command(env, "watch RUN", "Watch a run until it ends; the exit code is that of run --wait", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		r, err := o.client.Run(ctx, args[0])
		if err != nil {
			return err
		}
		return o.watch(ctx, &r.Run)
	})
	watch.Flags().BoolVar(&o.json, "json", false, "print events as NDJSON on stdout")
	cancel := o.command(env, "cancel RUN", "Cancel a run and keep its answers", cobra.ExactArgs(1), o.cancel)
	cancel.Flags().BoolVar(&o.json, "json", false, "print JSON")
	runs := o.command(env, "runs [EVAL]", "List runs, newest first", cobra.MaximumNArgs(1), o.runs)
	o.flags(runs)
	runs.Flags().StringVar(&o.status, "status", "", "only runs in this status (queued, running, done, failed, cancelled)")
	runs.Flags().IntVar(&o.limit, "limit", 50, "at most this many")
	return []*cobra.Command{run, runs, watch, cancel}
}

// isEvalFile says whether an argument names a file, not an eval on the server.
func isEvalFile(arg string) bool {
	for _, end := range []string{".yaml", ".yml", ".json"} {
		if strings.HasSuffix(arg, end) {
			return true
		}
	}
	return false
}

func (o *evalsOptions) run(ctx context.Context, args []string) (err error) {
	if !(o.maxCost > 0) || math.IsInf(o.maxCost, 0) { // which not a number is neither
		return usageErr("--max-cost 5 limits the cost to 5 US dollars", "a run on a server needs a budget")
	}
	var ev *evalclient.Eval
	if isEvalFile(args[0]) {
		if o.version > 0 {
			return usageErr("give the name of the eval", "--version cannot be combined with a file")
		}
		ev, err = o.store(ctx, args[0])
	} else {
		ev, err = o.client.FindEval(ctx, args[0])
	}
	if err != nil {
		return err
	}
	for _, w := range ev.Warnings {
		_, _ = fmt.Fprintf(o.env.Stderr, "note: %s\n", clean(w))
	}
	version := cmp.Or(o.version, ev.Version) // what was shown is run, whatever is stored meanwhile
	r, err := o.client.Start(ctx, ev.ID, evalclient.StartRequest{BudgetUSD: o.maxCost, Version: version, IdempotencyKey: o.env.NewID()})
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(o.env.Stderr, "run %s: %s version %d, %d trials, at most %.2f USD\n", clean(r.ID), clean(r.EvalName), r.EvalVersion, r.Planned, r.BudgetUSD)
	switch {
	case o.wait:
		return o.watch(ctx, r)
	case o.json:
		return printJSON(o.env, r)
	}
	if _, err := fmt.Fprintln(o.env.Stdout, clean(r.ID)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.env.Stderr, "next: firstpick evals watch %s\n", clean(r.ID))
	return err
}

func (o *evalsOptions) cancel(ctx context.Context, args []string) error {
	r, err := o.client.Cancel(ctx, args[0])
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(o.env, r)
	}
	text := "run %s is %s\n"
	if !r.Ended() {
		text = "run %s is %s, and stops as soon as its worker notices\n"
	}
	_, err = fmt.Fprintf(o.env.Stderr, text, clean(r.ID), clean(r.Status))
	return err
}

func (o *evalsOptions) runs(ctx context.Context, args []string) error {
	if o.limit < 1 {
		return usageErr("", "--limit must be positive")
	}
	id := ""
	if len(args) == 1 {
		ev, err := o.client.FindEval(ctx, args[0])
		if err != nil {
			return err
		}
		id = ev.ID
	}
	runs := []*evalclient.Run{}
	t := table{header: []string{"run", "eval", "version", "category", "status", "planned", "valid", "excluded", "spent $", "budget $", "queued", "ended", "origin"}}
	for r, err := range o.client.Runs(ctx, id, o.status) {
		if err != nil {
			return err
		}
		var ended time.Time
		if r.EndedAt != nil {
			ended = *r.EndedAt
		}
		runs = append(runs, r)
		t.add(r.ID, r.EvalName, fmt.Sprint(r.EvalVersion), r.Category, r.Status, fmt.Sprint(r.Planned), fmt.Sprint(r.Valid), fmt.Sprint(r.Excluded),
			amount(&r.SpentUSD), fmt.Sprintf("%.2f", r.BudgetUSD), stamp(r.CreatedAt), stamp(ended), cmp.Or(clean(r.Origin), "server"))
		if len(runs) == o.limit {
			break
		}
	}
	if o.json {
		return printJSON(o.env, map[string]any{"runs": runs})
	}
	return t.print(o.env, o.format)
}
