package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/firstpick/firstpick/analytics/gate"
	"github.com/firstpick/firstpick/analytics/stopping"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/plan"
)

// stopping reads --until; nil without it. A wave has as many families as it takes to keep the
// run's concurrency busy.
func (o *runOptions) stopping(category *catalog.Category, ev *eval.Eval) (*journal.Until, error) {
	if o.until == "" {
		return nil, nil
	}
	if o.shard != "" {
		return nil, usageErr("run the whole eval with --until, or its shards without: a shard does not see the answers of the others",
			"--until cannot be combined with --shard")
	}
	families := len(plan.Families(ev))
	until := &journal.Until{Rule: o.until, Families: families}
	for _, e := range category.Entries {
		until.Tools = append(until.Tools, e.Tool.Slug)
	}
	rule, err := stopping.Parse(o.until, until.Tools)
	if err != nil {
		hint := ""
		var unknown *gate.MetricError
		if errors.As(err, &unknown) {
			hint = ruleHint(err)
		}
		return nil, usageErr(hint, "--until: %w", err)
	}
	until.Rule = rule.String()
	concurrency := cmp.Or(o.concurrency, ev.Concurrency, runner.DefaultConcurrency)
	until.Wave = min(families, 1+(concurrency*families-1)/ev.Trials())
	return until, nil
}

// openRule returns the stopping rule of a run that is still open; nil if absent.
func openRule(run journal.Run) (*runner.Until, error) {
	if run.Until == nil || run.Until.Stopped != nil {
		return nil, nil
	}
	rule, err := stopping.Parse(run.Until.Rule, run.Until.Tools)
	if err != nil {
		return nil, err
	}
	return &runner.Until{Families: run.Families(), Wave: run.Until.Wave, Look: stopping.Look(rule, run.Eval.Weights)}, nil
}

// reportRule prints the outcome of a stopping rule.
func reportRule(w io.Writer, u *journal.Until, sum runner.Summary) {
	stopped := cmp.Or(sum.Decided, u.Stopped)
	switch {
	case stopped != nil:
		more := ""
		if stopped.Asked > stopped.After {
			more = fmt.Sprintf("; %d were asked, in whole waves", stopped.Asked)
		}
		_, _ = fmt.Fprintf(w, "stopped after %d of %d prompt families: %s (any-time-valid, error at most %g %%)%s\n",
			stopped.After, u.Families, stopped.Text, 100*stopping.Error, more)
	case sum.Missing == 0:
		_, _ = fmt.Fprintf(w, "the rule %q is neither met nor refuted by all %d prompt families; an eval with more prompts may decide it\n", u.Rule, u.Families)
	default:
		_, _ = fmt.Fprintf(w, "the rule %q is neither met nor refuted yet\n", u.Rule)
	}
}
