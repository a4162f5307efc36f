package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/firstpick/firstpick/cmd/progress"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/cliagent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/limiter"
	"github.com/firstpick/firstpick/runner/plan"
)

// readiness is the question of --ask. It names no tool and wants no work.
const readiness = "Answer with the single word ready. Do not change any file."

// agentsOf checks every agent of an eval, one after the other.
func (o *doctorOptions) agentsOf(ctx context.Context, ev *eval.Eval, cat *catalog.Catalog, table *prices.Table) (out []finding) {
	var category *catalog.Category
	if cat != nil {
		category, _ = cat.Category(ev.Category)
	}
	folder := "doctor-" + strings.ToLower(o.env.NewID())
	if !o.cfg.KeepWork {
		defer func() { _ = cliagent.RemoveAll(filepath.Join(o.cfg.Data, "work", folder)) }()
	}
	build := o.builder(ctx, o.env.Getenv, table, folder)
	for _, spec := range ev.Agents {
		f, built := checkAgent(ctx, spec, build)
		out = append(out, f)
		if built != nil && o.ask && ctx.Err() == nil {
			out = append(out, o.question(ctx, ev, spec, category, built))
		}
	}
	return out
}

// checkAgent builds and checks an agent. The agent is nil if a request would be useless.
func checkAgent(ctx context.Context, spec eval.Agent, build builder) (finding, agent.Agent) {
	what := "agent " + spec.Name
	built, err := build(spec)
	if err != nil {
		return finding{levelFail, what, strings.TrimPrefix(err.Error(), what+": "), ""}, nil
	}
	if c, ok := built.(agent.Checker); ok {
		if err := c.Check(ctx); err != nil {
			return finding{levelFail, what, err.Error(), ""}, nil
		}
	}
	m := built.Profile().Manifest
	parts := []string{spec.Kind}
	for _, s := range []string{m.Model, m.Version, m.Endpoint} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	f := finding{Level: levelOK, What: what, Detail: strings.Join(parts, ", ")}
	task := agent.Task{Prompt: readiness, Trial: plan.Trial{Agent: spec.Name, Template: eval.NoTemplate}, Attempt: 1, Signal: func(limiter.Signal) {}}
	if built.Profile().Paid && built.Worst(task) == nil {
		f.Level, f.Detail = levelWarn, f.Detail+"; its worst-case cost is unknown, so a run with a budget rejects it"
		f.Hint = "give it price: {input_per_mtok: USD, output_per_mtok: USD}"
		if spec.IsProgram() {
			f.Hint = "give it trial_cost_usd: USD"
		}
	}
	return f, built
}

// question asks an agent once. An agent that replays a record has nothing to say to
// a question of ours.
func (o *doctorOptions) question(ctx context.Context, ev *eval.Eval, spec eval.Agent, category *catalog.Category, built agent.Agent) finding {
	what := "request to " + spec.Name
	if spec.Kind == eval.KindRecorded {
		return finding{Level: levelOK, What: what, Detail: "skipped: its answers are recorded"}
	}
	if spec.Kind == eval.KindCommand && strings.ContainsAny(spec.CLI.Command[0], `/\`) && built.Profile().Manifest.Sandbox == "none" {
		return finding{levelWarn, what, "skipped: the eval supplies its program, " + spec.CLI.Command[0] + ", and no sandbox is available", "firstpick run runs it"}
	}
	if !spec.IsProgram() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, askLimit)
		defer cancel()
	}
	trial := plan.Trial{
		ID: plan.TrialID(ev.Name, "doctor", readiness, spec.Name, eval.NoTemplate, 1), Eval: ev.Name, Category: ev.Category,
		PromptID: "doctor", Agent: spec.Name, Template: eval.NoTemplate, Repeat: 1,
	}
	start := o.env.Now()
	reply, err := built.Ask(ctx, agent.Task{Trial: trial, Prompt: readiness, Category: category, Attempt: 1, Signal: func(limiter.Signal) {}})
	took := o.env.Now().Sub(start).Round(10 * time.Millisecond)
	if err != nil {
		f := finding{Level: levelFail, What: what, Detail: fmt.Sprintf("%v, after %s", err, took)}
		var infra *agent.InfraError
		if errors.As(err, &infra) {
			f.Hint = infraHint(infra.Reason)
		}
		return f
	}
	detail := fmt.Sprintf("answered in %s, %s", took, costs(built, reply))
	if reply.Model != "" {
		detail += ", as " + reply.Model
	}
	return finding{Level: levelOK, What: what, Detail: detail}
}

func costs(a agent.Agent, r agent.Reply) string {
	switch {
	case r.CostUSD != nil && *r.CostUSD > 0:
		return "for " + progress.USD(*r.CostUSD)
	case !a.Profile().Paid:
		return "free"
	case r.CostUSD != nil:
		return "for nothing"
	default:
		return "cost unknown"
	}
}

// infraHint returns the advice for a reason.
func infraHint(reason string) string {
	switch reason {
	case agent.ReasonAuth:
		return "the key was rejected: check the variable that contains it"
	case agent.ReasonQuota:
		return "the account has no credit or quota left"
	case agent.ReasonRateLimited:
		return "try again in a minute, or lower the concurrency"
	case agent.ReasonNotFound:
		return "check the model name and base_url"
	case agent.ReasonUnsupported, agent.ReasonBadRequest:
		return "the provider rejects a setting of the eval: see the text"
	case agent.ReasonNetwork, agent.ReasonTimeout, agent.ReasonServer:
		return "check the network and the status page of the provider"
	case agent.ReasonOverLimit:
		return "raise memory_mb, disk_mb or max_processes of the agent"
	case agent.ReasonNotStarted, agent.ReasonCrashed, agent.ReasonStalled:
		return "run the program once in a terminal"
	default:
		return ""
	}
}
