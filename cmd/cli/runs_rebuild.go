package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/analytics/trialstore"
)

func newRunsRebuildCmd(env *Env) *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:   "rebuild [--check]",
		Short: "Rebuild the trial store from the journals",
		Long: `Rebuild trials.duckdb from the journals of all runs. The journals are the source of truth;
the store may be deleted at any time.

The store keeps the counts of each run (margins), and rank reads these. --check rebuilds
nothing: it recounts every run from its trials in the store and prints one line per
difference. The exit code is 1 if there is any.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := newApp(env, cmd)
			if err != nil {
				return err
			}
			if check {
				return a.checkMargins(cmd.Context())
			}
			return a.rebuild(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "rebuild nothing; compare the counts that are kept with a recount")
	return cmd
}

func (a *app) rebuild(ctx context.Context) error {
	start := a.env.Now()
	loaded, err := trialstore.Rebuild(ctx, a.trialsPath(), a.runsRoot())
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(a.env.Stderr, "rebuilt %s: %d trials of %d runs in %s\n", a.trialsPath(), loaded.Trials, loaded.Runs,
		a.env.Now().Sub(start).Round(time.Millisecond))
	for _, run := range loaded.Unreadable {
		err = errors.Join(err, run)
	}
	return err
}

func (a *app) checkMargins(ctx context.Context) (err error) {
	store, err := a.trials(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	runs, differences, err := store.CheckMargins(ctx, a.runsRoot())
	if err != nil {
		return err
	}
	for _, line := range differences {
		_, _ = fmt.Fprintln(a.env.Stdout, line)
	}
	if len(differences) > 0 {
		return &codedError{fmt.Errorf("%d runs checked: margins differ from a recount %d times", runs, len(differences)), exitFailed,
			"firstpick runs rebuild rebuilds the store from the journals"}
	}
	_, err = fmt.Fprintf(a.env.Stdout, "%d runs checked: margins equal a recount\n", runs)
	return err
}
