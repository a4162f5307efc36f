package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
)

// reopen opens the journal of the run to resume.
func (o *runOptions) reopen() (*journal.Journal, error) {
	if len(o.agents) > 0 {
		return nil, usageErr("a resumed run keeps its agents", "--agent cannot be combined with --resume")
	}
	old, err := journal.ReadRun(o.runsRoot(), o.resume)
	if errors.Is(err, os.ErrNotExist) {
		return nil, usageErr("firstpick runs lists them", "no run %s in %s", o.resume, o.cfg.Data)
	} else if err != nil {
		return nil, err
	}
	if o.shard != "" && o.shard != old.Shard.String() {
		return nil, usageErr("omit --shard: a resumed run keeps its shard", "run %s is not shard %s", o.resume, o.shard)
	}
	if o.until != "" && (old.Until == nil || o.until != old.Until.Rule) {
		return nil, usageErr("omit --until: a resumed run keeps its rule", "run %s does not have the rule %q", o.resume, o.until)
	}
	if old.Imported {
		return nil, usageErr("import the file again", "run %s was imported and cannot be resumed", o.resume)
	}
	if o.file != "" {
		ev, err := readEval(o.file)
		if err != nil {
			return nil, err
		}
		if ev.Source != old.Eval.Source {
			return nil, usageErr("omit the file to continue with the original eval, or start a new run",
				"%s differs from the eval of run %s", o.file, o.resume)
		}
	}
	return journal.Open(o.runsRoot(), o.resume)
}

// finished reports whether nothing of the run to resume is left to ask, and prints that.
// Programs that read events get those of the empty run.
func (o *runOptions) finished(run journal.Run) (bool, error) {
	open := run.Until != nil && run.Until.Stopped == nil
	if o.resume == "" || o.retryExcluded || o.json || o.queue != "" || open {
		return false, nil
	}
	done, err := runner.Replay(o.runsRoot(), run.ID)
	if err != nil || len(done.Valid)+len(done.Excluded) < run.Planned {
		return false, err
	}
	text, next := "complete", ""
	if n := len(done.Excluded); n > 0 {
		text, next = fmt.Sprintf("finished, with %d excluded", n), "; retry them with: "+o.resumeCommand(run.ID, true)
	}
	_, err = fmt.Fprintf(o.env.Stderr, "run %s of eval %s is already %s: %d of %s have an answer%s\n",
		run.ID, run.Eval.Name, text, len(done.Valid), counted(run.Planned, "trial"), next)
	return true, err
}

// keepsBudget refuses to continue a run without the budget that it had: the amount is not
// stored, and no budget would be more than anybody decided to spend. A run whose agents have
// limits of their own, and which began without a budget, keeps these.
func (x *execution) keepsBudget(run *journal.Run, done runner.Progress) error {
	asks := done.Bounded || slices.ContainsFunc(run.Eval.Agents, func(s eval.Agent) bool { return s.Kind != eval.KindSimulated })
	limited := !slices.ContainsFunc(run.Eval.Agents, func(s eval.Agent) bool { return s.MaxCostUSD <= 0 && done.SpentBy[s.Name]+done.LostBy[s.Name] > 0 })
	budgeted := run.Budgeted && asks || done.Bounded && !limited
	if !budgeted || x.maxCost > 0 || x.unlimited {
		return nil
	}
	return usageErr("give the total for the whole run with --max-cost USD, or --max-cost 0 for no budget",
		"run %s had a budget, and $%.4f are spent: without --max-cost it would go on without one", run.ID, done.SpentUSD)
}

// sameBudget is the flag that continues a run with its budget; USD stands for more, where
// it was reached.
func (o *runOptions) sameBudget(stopped string) string {
	switch {
	case o.maxCost <= 0:
		return ""
	case stopped == "budget":
		return " --max-cost USD"
	}
	return fmt.Sprintf(" --max-cost %v", o.maxCost)
}
