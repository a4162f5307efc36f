package cli

import (
	"context"
	"errors"
	"fmt"
	"github.com/firstpick/firstpick/runner/pick"
	"io"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/runner/journal"
)

type trialOptions struct {
	*app
	format
	filter  trialstore.Filter
	attempt int
	raw     bool
	full    bool
}

func newTrialCmd(env *Env) *cobra.Command {
	o := &trialOptions{}
	cmd := &cobra.Command{
		Use:   "trial [ID]",
		Short: "Show one trial, or list trials",
		Long: `Show a complete trial: conditions, failed attempts, the transcript of the agent and the
outcome. A unique prefix of its id is enough. Without an id, list trials. On a terminal
the trial opens in $PAGER, or in less.`,
		Args: usage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			if o.filter.Limit < 1 {
				return usageErr("50 is the default", "--limit must be at least 1 (got %d)", o.filter.Limit)
			}
			if o.filter.Run != "" {
				if o.filter.Run, err = o.findRun(o.filter.Run); err != nil {
					return err
				}
			}
			if len(args) == 0 {
				return o.list(cmd.Context())
			}
			return o.show(cmd.Context(), args[0])
		},
	}
	o.flags(cmd)
	f := cmd.Flags()
	f.IntVar(&o.attempt, "attempt", 0, "show this attempt instead of the one with the answer")
	f.BoolVar(&o.raw, "raw", false, "print the raw response: the body or the stream, secrets redacted")
	f.BoolVar(&o.full, "full", false, "show the full output of commands")
	f.StringVar(&o.filter.Run, "run", "", "only trials of this run")
	f.StringVar(&o.filter.Category, "category", "", "only this category")
	f.StringVar(&o.filter.Agent, "agent", "", "only this agent")
	f.StringVar(&o.filter.Outcome, "outcome", "", "only this outcome (tool, diy, other, none, ambiguous, refused, truncated), or unresolved")
	f.StringVar(&o.filter.Picked, "picked", "", "only trials that picked this tool")
	f.IntVar(&o.filter.Limit, "limit", 50, "at most this many")
	return cmd
}

func newWhyCmd(env *Env) *cobra.Command {
	var asJSON bool
	var run string
	cmd := &cobra.Command{
		Use:   "why ID",
		Short: "Show the evidence that decided a trial's outcome",
		Long: `Show which layer of reading and which rule decided a trial's outcome, or for an unresolved
trial which rule gave up and what to do next; the tools considered, rejected and named
first; the language of the answer; and the evidence, strongest first.`,
		Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := newApp(env, cmd)
			if err != nil {
				return err
			}
			if run != "" {
				if run, err = a.findRun(run); err != nil {
					return err
				}
			}
			h, err := a.find(cmd.Context(), args[0], run)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(env, h)
			}
			_, err = io.WriteString(env.Stdout, harmless(func(w io.Writer) {
				h.writeHead(w)
				h.writeEvidence(w)
			}))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&run, "run", "", "the trial of this run")
	return cmd
}

// show prints one trial whole.
func (o *trialOptions) show(ctx context.Context, id string) error {
	h, err := o.find(ctx, id, o.filter.Run)
	if err != nil {
		return err
	}
	of, err := h.attempt(o.attempt)
	if err != nil && (o.attempt > 0 || o.raw) {
		return err
	}
	raw, err := o.app.raw(h, of)
	switch {
	case err != nil:
		return err
	case o.raw && o.env.StdoutIsTTY:
		_, err = io.WriteString(o.env.Stdout, printableText(string(raw)))
		return err
	case o.raw:
		_, err = o.env.Stdout.Write(raw)
		return err
	case o.json:
		return printJSON(o.env, h)
	}
	return o.page(ctx, func(w io.Writer) {
		h.writeHead(w)
		h.writeConditions(w)
		if h.Answer != nil {
			writeCost(w, h.Answer)
			writeBuild(w, h.Answer.Build)
		}
		h.writeAttempts(w)
		h.writeNotes(w)
		_, _ = fmt.Fprintf(w, "\n--- asked\n%s\n", h.Prompt)
		conversation := h.writeConversation(w, raw, o.full)
		if h.Answer != nil && of.Kind == journal.KindResult {
			writeAnswer(w, h.Answer, conversation)
		} else if !conversation && len(raw) > 0 {
			_, _ = fmt.Fprintf(w, "\n--- raw response\n%s\n", printableText(string(raw)))
		}
	})
}

func (o *trialOptions) list(ctx context.Context) (err error) {
	store, err := o.trials(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	rows, err := store.Trials(ctx, o.filter)
	if err == nil && len(rows) == 0 {
		err = o.checkFilter(ctx, store, o.filter)
	}
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(o.env, map[string]any{"trials": rows})
	}
	t := table{header: []string{"trial", "run", "category", "prompt", "agent", "repeat", "outcome", "picked", "method", "finished"}}
	for _, r := range rows {
		t.add(r.TrialID, r.RunID, r.Category, r.PromptID, r.Agent, fmt.Sprint(r.Repeat), r.Outcome, r.Picked, methodText(r), stamp(r.FinishedAt))
	}
	return t.print(o.env, o.format)
}

// methodText is what decided a trial: nothing did where it is unresolved.
func methodText(r trialstore.TrialRow) string {
	if r.Unresolved {
		return trialstore.Unresolved
	}
	if r.Method == string(pick.MethodAction) { // its name in JSON is older than our word
		return "action"
	}
	return r.Method
}
