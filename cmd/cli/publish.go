package cli

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/trialset"
)

type publishOptions struct {
	*app
	to, sign       string
	evidence       string
	embargo        bool
	runs           []string
	allowSynthetic bool
	allowPartial   bool
	noPromote      bool
	serves         bool // demo serves it next
}

func newPublishCmd(env *Env) *cobra.Command {
	o := &publishOptions{}
	cmd := &cobra.Command{
		Use:   "publish",
		Short: "Publish the current ranks as a snapshot and make it the current one",
		Long: `Publish the latest complete run of every eval as one immutable snapshot: documents,
trials, field studies (marked as observed) and a manifest whose digest is the snapshot's id. The build is reproducible.
Running servers load the new snapshot within a second, from a bucket within seconds.

A snapshot holds every trial. --evidence says how much of it: quotes (the result with
its evidence and short quotes), full (also the answer: final message, commands, files,
sources, tokens, cost), or none (the result without quotes). Keys, tokens and e-mail
addresses are redacted by their shape; look through the answers before you publish them
in full. --embargo-prompts publishes the hashes of the prompts without their texts.

A run is complete when 95 % of its planned trials have an answer. Where an eval has no
complete run, nothing is published and the exit code is 4, unless --allow-incomplete is
given.

Each snapshot is entered in the append-only log stored with the snapshots; see firstpick
log and firstpick verify. --sign signs the snapshot and the head of the log. Without it,
the key of the data folder, signing.key, signs the head of the log only. A log keeps its
first key.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.to, "snapshots", "", "place to publish to: file:///DIR or s3://BUCKET/PREFIX (default: the data folder)")
	renameFlag(f, "to", "snapshots")
	f.StringVar(&o.sign, "sign", "", "sign snapshot and log with this ed25519 private key (PEM)")
	f.StringArrayVar(&o.runs, "run", nil, "publish this run instead of the latest ones (repeatable)")
	f.StringVar(&o.evidence, "evidence", string(trialset.Quotes), "how much of each trial to publish: full, quotes or none")
	f.BoolVar(&o.embargo, "embargo-prompts", false, "publish hashes of prompts without their texts")
	f.BoolVar(&o.allowSynthetic, "allow-synthetic", false, "publish results of simulated agents")
	f.BoolVar(&o.allowPartial, "allow-incomplete", false, "publish runs with answers to less than 95 % of their planned trials")
	f.BoolVar(&o.noPromote, "no-promote", false, "leave the current snapshot as it is")
	return cmd
}

func (o *publishOptions) run(ctx context.Context) (err error) {
	to, err := o.snapshots(o.to)
	if err != nil {
		return err
	}
	level, err := trialset.ParseLevel(cmp.Or(o.evidence, string(trialset.Quotes)))
	if err != nil {
		return usageErr("", "--evidence must be full, quotes or none (got %q)%s", o.evidence, meant(o.evidence, "full", "quotes", "none"))
	}
	var key ed25519.PrivateKey
	if o.sign != "" {
		if key, err = publish.ReadPrivateKey(o.sign); err != nil {
			return badInput(fmt.Errorf("--sign: %w", err))
		}
	}
	book, err := o.publicLog(ctx, to.Store, o.sign)
	if err != nil {
		return err
	}
	registered, err := book.registered()
	if err != nil {
		return err
	}
	cat, err := o.catalog()
	if err != nil {
		return err
	}
	store, err := o.trials(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	chosen, err := o.currentRuns(ctx, store, o.runs, "")
	if err != nil {
		return err
	}
	if err := o.allowed(chosen); err != nil {
		return err
	}
	o.explain(chosen)
	studies, err := o.studies()
	if err != nil {
		return err
	}
	m, id, err := publish.Build(ctx, publish.Input{
		Store: store, Catalog: cat, Runs: chosen.runs, Labels: chosen.labels, Registered: registered, Observed: studies, Place: to, SignKey: key,
		RunsRoot: o.runsRoot(), Evidence: level, EmbargoPrompts: o.embargo,
		AllowSynthetic: o.allowSynthetic, AllowIncomplete: o.allowPartial, Generator: "firstpick",
	})
	if err != nil {
		return err
	}
	if err := book.published(ctx, id); err != nil { // before readers can see it
		return err
	}
	if !o.noPromote {
		if err := to.Promote(ctx, id); err != nil {
			return err
		}
	}
	for _, s := range m.Observed {
		_, _ = fmt.Fprintf(o.env.Stderr, "OBSERVED: study %s in addition to the trials, %d %ss\n", s.Name, s.Units, s.Unit)
	}
	_, _ = fmt.Fprintf(o.env.Stderr, "snapshot %s: %s, %s, in %s\n", id, categories(m.Counts.Categories), count(m.Counts.Trials, "trial"), to.Store)
	if !o.serves {
		o.env.next(strings.TrimSuffix("firstpick server --snapshots "+o.to, " --snapshots "))
	}
	return nil
}

// allowed refuses runs that must not be published without leave.
func (o *publishOptions) allowed(chosen selection) error {
	for _, r := range chosen.rows {
		switch {
		case r.Synthetic && !o.allowSynthetic:
			return usageErr("--allow-synthetic publishes it, marked on every page",
				"run %s contains answers of simulated agents", r.ID)
		case !r.Complete && !o.allowPartial:
			hint := o.howToFinish(r) + "; or choose another run with --run RUN"
			if r.Shard == "" { // a shard is never published
				hint += "; --allow-incomplete publishes this one as it is"
			}
			return &codedError{fmt.Errorf("run %s of eval %s, category %s, is incomplete: %s; a published board needs 95 %%",
				r.ID, r.Eval, r.Category, howFar(r)), exitIncomplete, hint}
		}
	}
	return nil
}
