package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/cmd/evalclient"
	bundleformat "github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
	"github.com/firstpick/firstpick/runner/transcript"
)

const (
	trialDigits = 20
	trialPage   = 1000
)

// trialCmds are the commands about trials.
func (o *evalsOptions) trialCmds(env *Env) []*cobra.Command {
	trial := o.command(env, "trial RUN [TRIAL]", "Show one trial of a run, or list its trials", cobra.RangeArgs(1, 2), func(ctx context.Context, args []string) error {
		if len(args) == 1 {
			return o.listTrials(ctx, args[0])
		}
		return o.showTrial(ctx, args[0], args[1])
	})
	trial.Aliases = []string{"trials"}
	o.flags(trial)
	trial.Flags().IntVar(&o.limit, "limit", 50, "at most this many")
	why := o.command(env, "why RUN TRIAL", "Show the evidence that decided a trial's outcome", cobra.ExactArgs(2), o.why)
	why.Flags().BoolVar(&o.json, "json", false, "print JSON")
	download := o.command(env, "download RUN", "Write the trials of a run to a file", cobra.ExactArgs(1), o.download)
	download.Flags().StringVar(&o.fileFormat, "format", evalclient.NDJSON, "ndjson: all of each trial; parquet: a row for each valid trial")
	download.Flags().StringVarP(&o.out, "output", "o", "", "output file (required; -: stdout)")
	for _, cmd := range []*cobra.Command{trial, download} {
		f := cmd.Flags()
		f.StringVar(&o.filter.Agent, "agent", "", "only this agent")
		f.StringVar(&o.filter.Outcome, "outcome", "", "only this outcome (tool, diy, other, none, ambiguous, refused, truncated, excluded), or unresolved")
		f.StringVar(&o.filter.Picked, "picked", "", "only trials that picked this tool")
		f.StringVar(&o.filter.Prompt, "prompt", "", "only this prompt")
	}
	return []*cobra.Command{trial, why, download}
}

func (o *evalsOptions) listTrials(ctx context.Context, run string) error {
	if o.limit < 1 {
		return usageErr("", "--limit must be positive")
	}
	trials := []*evalclient.Entry{}
	t := table{header: []string{"trial", "prompt", "agent", "project", "repeat", "outcome", "picked", "said other", "cost $", "took"}}
	for e, err := range o.client.Trials(ctx, run, o.filter, min(o.limit, trialPage)) {
		if err != nil {
			return err
		}
		trials = append(trials, e)
		t.add(e.ID, e.Prompt, e.Agent, e.Template, fmt.Sprint(e.Repeat), e.Outcome, e.Picked, yes(e.Mismatch), amount(e.CostUSD),
			(time.Duration(e.WallMS) * time.Millisecond).String())
		if len(trials) == o.limit {
			break
		}
	}
	if o.json {
		return printJSON(o.env, map[string]any{"trials": trials})
	}
	return t.print(o.env, o.format)
}

func (o *evalsOptions) showTrial(ctx context.Context, run, id string) error {
	raw, err := o.trial(ctx, run, id)
	switch {
	case err != nil:
		return err
	case o.json:
		return printJSON(o.env, raw)
	}
	h, err := o.history(ctx, run, raw)
	if err != nil {
		return err
	}
	return o.page(ctx, func(w io.Writer) {
		h.writeHead(w)
		h.writeConditions(w)
		if h.Answer != nil {
			writeCost(w, h.Answer)
		}
		h.writeAttempts(w)
		h.writeNotes(w)
		_, _ = fmt.Fprintf(w, "\n--- asked\n%s\n", h.Prompt)
		if h.Answer != nil {
			writeAnswer(w, h.Answer, false)
		}
	})
}

func (o *evalsOptions) why(ctx context.Context, args []string) error {
	raw, err := o.trial(ctx, args[0], args[1])
	switch {
	case err != nil:
		return err
	case o.json:
		return printJSON(o.env, raw)
	}
	h, err := o.history(ctx, args[0], raw)
	if err != nil {
		return err
	}
	_, err = io.WriteString(o.env.Stdout, harmless(func(w io.Writer) {
		h.writeHead(w)
		h.writeEvidence(w)
	}))
	return err
}

// trial reads a trial by its id, or by a unique start of one.
func (o *evalsOptions) trial(ctx context.Context, run, id string) (json.RawMessage, error) {
	if len(id) < trialDigits {
		found := ""
		for e, err := range o.client.Trials(ctx, run, evalclient.Filter{}, trialPage) {
			switch {
			case err != nil:
				return nil, err
			case !strings.HasPrefix(e.ID, id):
			case found != "":
				return nil, usageErr("give a longer prefix", "%s is the prefix of more than one trial", id)
			default:
				found = e.ID
			}
		}
		if found == "" {
			return nil, usageErr("firstpick evals trial "+clean(run)+" lists some", "no trial %s", id)
		}
		id = found
	}
	return o.client.Trial(ctx, run, id)
}

// history is a trial of a server in the words of one's own, so that both are shown alike.
func (o *evalsOptions) history(ctx context.Context, run string, raw json.RawMessage) (*history, error) {
	r, err := o.client.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	var t trialset.Trace
	var m bundleformat.Manifest
	if json.Unmarshal(raw, &t) != nil || json.Unmarshal(r.Manifest, &m) != nil {
		return nil, errors.New("the trial has an unknown format; update firstpick")
	}
	h := &history{
		remote: true,
		Run:    r.ID, Prompt: t.PromptText, Excluded: t.Reason,
		Trial: plan.Trial{ID: t.ID, Eval: r.EvalName, Category: r.Category, PromptID: t.Prompt, Agent: t.Agent, Template: t.Template, Repeat: t.Repeat},
	}
	for _, a := range t.Attempts {
		h.Attempts = append(h.Attempts, journal.Record{
			Kind: journal.KindAttempt, Trial: h.Trial, At: a.At, Attempt: a.Attempt, Reason: a.Reason, CostUSD: a.CostUSD, AtMostUSD: a.AtMostUSD,
		})
	}
	if t.Answer != nil {
		h.Answer = answerOf(&t)
		h.asked(t.Answer.Manifest, &m)
	}
	if t.Result != nil {
		h.Result = resultOf(&t)
	}
	return h, nil
}

func answerOf(t *trialset.Trace) *journal.Answer {
	from := t.Answer
	a := &journal.Answer{Model: from.Model, CostUSD: t.CostUSD, WallMS: t.WallMS, Notes: from.Notes}
	a.Transcript = transcript.Transcript{FinalText: from.FinalText, Stop: transcript.Stop(from.Stop)}
	if string(from.Structured) != "null" {
		a.Transcript.Structured = from.Structured
	}
	for _, c := range from.Commands {
		a.Transcript.Commands = append(a.Transcript.Commands, transcript.Command(c))
	}
	for _, s := range from.Sources {
		a.Transcript.Sources = append(a.Transcript.Sources, transcript.Source(s))
	}
	for _, f := range from.Files {
		a.Transcript.Diff = append(a.Transcript.Diff, transcript.FileChange(f))
	}
	if l := from.Listing; l != nil {
		a.Transcript.Listing = &transcript.Listing{Source: l.Source, Ecosystem: l.Ecosystem, Imports: l.Imports, Record: (*transcript.Record)(l.Record)}
	}
	if from.Tokens != nil {
		a.InTokens, a.OutTokens = from.Tokens.Input, from.Tokens.Output
	}
	return a
}

func resultOf(t *trialset.Trace) *pick.Result {
	from := t.Result
	r := &pick.Result{
		Kind: pick.Kind(t.Outcome), Picked: t.Picked, Shortlist: from.Shortlist, Rejected: from.Rejected, Say: from.Say, Method: pick.Method(from.Method),
		Level: from.Level, Extractor: from.Extractor, Catalog: from.Catalog,
		Unresolved: t.Unresolved, Rule: from.Rule, FirstNamed: from.FirstNamed, Language: from.Language,
	}
	for _, e := range from.Evidence {
		r.Evidence = append(r.Evidence, pick.Evidence{Tool: e.Tool, Level: e.Level, Kind: e.Kind, Path: e.Path, Line: e.Line, Quote: e.Quote})
	}
	return r
}

// asked reads the conditions of the agent from the manifest of the run.
func (h *history) asked(id string, m *bundleformat.Manifest) {
	for _, a := range m.Agents {
		for _, was := range a.Manifests {
			if a.Name != h.Trial.Agent || was.ID != id {
				continue
			}
			one := journal.Manifest{
				Agent: a.Name, Kind: was.Kind, Model: was.Model, Version: was.Version, Web: was.Web, Network: was.Network, Sandbox: was.Sandbox,
				Purity: was.Purity, Auth: was.Auth,
			}
			h.Manifest, h.Answer.Manifest = []journal.Manifest{one}, one.ID()
		}
	}
}
