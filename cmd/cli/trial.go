package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

type trialOptions struct {
	*app
	format
	filter trialstore.Filter
}

func newTrialCmd(env *Env) *cobra.Command {
	o := &trialOptions{}
	cmd := &cobra.Command{
		Use:   "trial [ID]",
		Short: "Show one trial whole, or list trials",
		Long:  "Show the whole transcript of a trial; a unique start of its id is enough. Without an id, list trials.",
		Args:  usage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			if len(args) == 0 {
				return o.list(cmd.Context())
			}
			return showTrial(cmd.Context(), o.app, args[0], o.json, writeTranscript)
		},
	}
	o.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.filter.Run, "run", "", "only trials of this run")
	f.StringVar(&o.filter.Category, "category", "", "only this category")
	f.StringVar(&o.filter.Agent, "agent", "", "only this agent")
	f.StringVar(&o.filter.Outcome, "outcome", "", "only this outcome (tool, diy, other, none, ambiguous, refused, truncated)")
	f.StringVar(&o.filter.Picked, "picked", "", "only trials that picked this tool")
	f.IntVar(&o.filter.Limit, "limit", 50, "at most this many")
	return cmd
}

func newWhyCmd(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "why ID",
		Short: "Show the evidence that decided a trial's outcome",
		Args:  usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := newApp(env, cmd)
			if err != nil {
				return err
			}
			return showTrial(cmd.Context(), a, args[0], asJSON, writeEvidence)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

type trialWriter func(w io.Writer, row trialstore.TrialRow, a journal.Answer, r pick.Result)

func showTrial(ctx context.Context, a *app, id string, asJSON bool, write trialWriter) (err error) {
	store, err := a.trials(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	row, answer, result, err := store.Trial(ctx, id)
	switch {
	case errors.Is(err, trialstore.ErrNotFound):
		return usageErr("firstpick trial lists some", "no trial %s", id)
	case errors.Is(err, trialstore.ErrAmbiguous):
		return usageErr("give more letters, or --run", "%s is the start of more than one trial", id)
	case err != nil:
		return err
	}
	if asJSON {
		return printJSON(a.env, map[string]any{"trial": row, "answer": answer, "result": result})
	}
	write(a.env.Stdout, row, answer, result)
	return nil
}

func (o *trialOptions) list(ctx context.Context) (err error) {
	store, err := o.trials(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	rows, err := store.Trials(ctx, o.filter)
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(o.env, map[string]any{"trials": rows})
	}
	t := table{header: []string{"trial", "run", "category", "prompt", "agent", "repeat", "outcome", "picked", "method", "finished"}}
	for _, r := range rows {
		t.add(r.TrialID, r.RunID, r.Category, r.PromptID, r.Agent, fmt.Sprint(r.Repeat), r.Outcome, r.Picked, r.Method, stamp(r.FinishedAt))
	}
	return t.print(o.env, o.format)
}

func writeHead(w io.Writer, row trialstore.TrialRow, r pick.Result) {
	_, _ = fmt.Fprintf(w, "trial    %s\nrun      %s\neval     %s, category %s\nprompt   %s\nagent    %s, repeat %d\noutcome  %s\n",
		row.TrialID, row.RunID, row.Eval, row.Category, row.PromptID, row.Agent, row.Repeat, sayOutcome(r))
}

func sayOutcome(r pick.Result) string {
	s := string(r.Kind)
	if r.Picked != "" {
		s += ": " + r.Picked
	}
	if r.Say != "" {
		s += fmt.Sprintf(" (but said %s)", r.Say)
	}
	return s
}

func writeTranscript(w io.Writer, row trialstore.TrialRow, a journal.Answer, r pick.Result) {
	writeHead(w, row, r)
	t := a.Transcript
	if t.FinalText != "" {
		_, _ = fmt.Fprintf(w, "\n--- final message\n%s\n", strings.TrimRight(t.FinalText, "\n"))
	}
	for _, c := range t.Commands {
		_, _ = fmt.Fprintf(w, "\n--- command, exit %d\n%s\n", c.Exit, c.Cmd)
	}
	for _, f := range t.Diff {
		_, _ = fmt.Fprintf(w, "\n--- %s\n", f.Path)
		for _, dep := range f.AddedDeps {
			_, _ = fmt.Fprintf(w, "+ dependency %s\n", dep)
		}
		for _, line := range f.Added {
			_, _ = fmt.Fprintf(w, "+ %s\n", line)
		}
	}
	if len(t.Structured) > 0 {
		_, _ = fmt.Fprintf(w, "\n--- structured answer\n%s\n", t.Structured)
	}
}

func writeEvidence(w io.Writer, row trialstore.TrialRow, _ journal.Answer, r pick.Result) {
	writeHead(w, row, r)
	method := string(r.Method)
	if method == "" {
		method = "nothing was chosen"
	}
	_, _ = fmt.Fprintf(w, "decided  %s, level %d of 7\nshort    %s\n", method, r.Level, strings.Join(r.Shortlist, ", "))
	if len(r.Rejected) > 0 {
		_, _ = fmt.Fprintf(w, "rejected %s\n", strings.Join(r.Rejected, ", "))
	}
	_, _ = fmt.Fprintf(w, "by       extractor %s, catalogue %.19s\n", r.Extractor, r.Catalog)
	if len(r.Evidence) > 0 {
		_, _ = fmt.Fprintln(w, "\nevidence, strongest first")
	}
	for _, e := range r.Evidence {
		place := e.Path
		if e.Line > 0 {
			place = fmt.Sprintf("%s:%d", e.Path, e.Line)
		}
		_, _ = fmt.Fprintf(w, "  %d %-10s %-16s %s  %s\n", e.Level, e.Kind, e.Tool, place, e.Quote)
	}
}
