package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/analytics/trialstore"
)

func newRunsCmd(env *Env) *cobra.Command {
	var f format
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List runs, control active ones, push one to a server, rebuild the trial store",
		Args:  usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := newApp(env, cmd)
			if err != nil {
				return err
			}
			return a.listRuns(cmd.Context(), f)
		},
	}
	f.flags(cmd)
	cmd.AddCommand(newRunsCtlCmd(env), newRunsPushCmd(env), newRunsRebuildCmd(env))
	return cmd
}

func (a *app) listRuns(ctx context.Context, f format) (err error) {
	store, err := a.trials(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	rows, err := store.Runs(ctx)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(a.env, map[string]any{"runs": rows})
	}
	t := table{header: []string{"run", "eval", "category", "planned", "valid", "excluded", "last", "current", "synthetic", "unresolved"}}
	for _, r := range rows {
		t.add(r.ID, r.Eval, r.Category, fmt.Sprint(r.Planned), fmt.Sprint(r.Valid), fmt.Sprint(r.Excluded),
			stamp(r.LastAt), currency(r), yes(r.Synthetic), maybeCount(r.Unresolved))
	}
	return t.print(a.env, f)
}

// currency says whether a run counts, and of a shard why it does not.
func currency(r trialstore.RunRow) string {
	switch {
	case r.Shard != "":
		return "no: shard " + r.Shard
	case r.UnderWay && !r.Current:
		return "no: active"
	case r.Latest && !r.Current:
		return "no: incomplete"
	case r.Current && !r.Complete:
		return "yes: incomplete"
	}
	return yes(r.Current)
}

func maybeCount(n *int) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

func stamp(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.UTC().Format(time.RFC3339)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
