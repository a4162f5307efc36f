package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/stats"
	"github.com/firstpick/firstpick/cmd/evalclient"
	bundleformat "github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/server/evals/resource"
)

// resultCmds are the commands on results of runs.
func (o *evalsOptions) resultCmds(env *Env) []*cobra.Command {
	rank := o.command(env, "rank RUN", "Print pick rates and ranks of a run", cobra.ExactArgs(1), o.rank)
	o.flags(rank)
	rank.Flags().StringVar(&o.agent, "agent", "", "only this agent")
	rank.Flags().BoolVar(&o.all, "all", false, "also list tools that were never picked or named")

	compare := o.command(env, "compare BASE RUN", "Compare two runs", cobra.ExactArgs(2), o.compare)
	o.flags(compare)

	quotes := 0
	explain := o.command(env, "explain RUN TOOL", "Show why answers of a run do not pick a tool", cobra.ExactArgs(2), func(ctx context.Context, args []string) error {
		return o.explainTool(ctx, args[0], args[1], quotes)
	})
	explain.Flags().IntVar(&quotes, "quotes", 3, "print at most this many quotes of each reason (JSON has up to 16)")
	explain.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return append([]*cobra.Command{rank, compare, explain}, o.trialCmds(env)...)
}

// noResults is a run that has no scores, yet or at all.
func noResults(r *evalclient.Run) error {
	hint := "firstpick evals watch " + clean(r.ID)
	if r.Ended() {
		hint = "firstpick evals runs shows details; start a new run"
	}
	return usageErr(hint, "run %s is %s and has no results", clean(r.ID), clean(r.Status))
}

// scores reads those of a run.
func (o *evalsOptions) scores(ctx context.Context, run string) (*bundleformat.Scores, error) {
	r, err := o.client.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	if !r.HasResults {
		return nil, noResults(&r.Run)
	}
	s := &bundleformat.Scores{}
	if err := json.Unmarshal(r.Scores, s); err != nil {
		return nil, errors.New("the scores have an unknown format; update firstpick")
	}
	return s, nil
}

func (o *evalsOptions) rank(ctx context.Context, args []string) error {
	s, err := o.scores(ctx, args[0])
	if err != nil {
		return err
	}
	board := s.Board
	if o.agent != "" {
		i := slices.IndexFunc(s.Agents, func(a bundleformat.AgentScores) bool { return a.Agent == o.agent })
		if i < 0 {
			return usageErr("firstpick evals show EVAL lists them", "the run has no agent %q", o.agent)
		}
		board = s.Agents[i].Board
	}
	shown := &rankOptions{app: o.app, format: o.format, all: o.all}
	boards := []analytics.Board{board}
	if o.json {
		return shown.printBoards(boards)
	}
	return shown.printTables(boards)
}

func (o *evalsOptions) compare(ctx context.Context, args []string) error {
	c, err := o.client.Compare(ctx, args[0], args[1])
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(o.env, c)
	}
	w := o.env.Stderr
	for _, side := range []struct {
		name string
		resource.Side
	}{{"base", c.Base}, {"run", c.Run}} {
		_, _ = fmt.Fprintf(w, "%-4s %s: %s version %d, %d trials of %d prompts, coverage %s\n", side.name, clean(side.ID), clean(side.EvalName), side.EvalVersion,
			side.NTrials, side.NPrompts, percent(side.Coverage))
	}
	for _, code := range c.Warnings {
		_, _ = fmt.Fprintf(w, "note: %s: %s\n", clean(code), analytics.Explain(code))
	}
	for _, n := range c.Notes {
		_, _ = fmt.Fprintf(w, "note: %s: %s\n", clean(n.Code), clean(n.Message))
	}
	t := table{header: []string{"agent", "tool", "base", "run", "change", "interval", "p", "significant"}}
	add := func(agent string, changes []resource.ToolChange) {
		for _, d := range changes {
			if d.BasePickRate == 0 && d.PickRate == 0 {
				continue
			}
			t.add(agent, d.Slug, percent(d.BasePickRate), percent(d.PickRate), signed(d.Diff), signed(d.DiffCILow)+"–"+signed(d.DiffCIHigh),
				fmt.Sprintf("%.4f", d.PAdjusted), yes(d.Significant))
		}
	}
	add("all", c.Tools)
	for _, a := range c.Agents {
		if len(a.Changed) > 0 {
			_, _ = fmt.Fprintf(w, "note: agent %s differs between the runs: %s\n", clean(a.Agent), clean(strings.Join(a.Changed, ", ")))
		}
		add(a.Agent, a.Tools)
	}
	return t.print(o.env, o.format)
}

func (o *evalsOptions) explainTool(ctx context.Context, run, tool string, quotes int) error {
	if err := checkQuotes(quotes); err != nil {
		return err
	}
	e, err := o.client.Explain(ctx, run, tool)
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(o.env, e)
	}
	shown := &explainOptions{app: o.app, quotes: quotes}
	return shown.print(*e, false)
}

// signed prints a difference of rates.
func signed(d float64) string { return fmt.Sprintf("%+.1f%%", stats.Percent(d)) }
