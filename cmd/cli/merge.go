package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/merge"
	"github.com/firstpick/firstpick/runner/plan"
)

func newMergeCmd(env *Env) *cobra.Command {
	var into string
	cmd := &cobra.Command{
		Use:   "merge RUN RUN...",
		Short: "Merge the shards of an eval into one run",
		Long: `Merge the runs of "firstpick run --shard I/N", from this or other machines. A
RUN is the id of a run in the data folder, the folder of a run, or a folder of runs.

The shards must cover the plan: every shard once, and every planned trial with an
answer or a reason for its exclusion. Otherwise the missing trials are listed, nothing is
written, and the exit code is 4.`,
		Args: usage(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := newApp(env, cmd)
			if err != nil {
				return err
			}
			return a.merge(cmd.Context(), args, into)
		},
	}
	cmd.Flags().StringVar(&into, "into", "", "id of the merged run (default: derived from the ids of the shards)")
	return cmd
}

func (a *app) merge(ctx context.Context, args []string, into string) error {
	var sources []merge.Source
	for _, arg := range args {
		found, err := a.shardsAt(arg)
		if err != nil {
			return err
		}
		sources = append(sources, found...)
	}
	m, err := merge.Merge(ctx, a.runsRoot(), into, sources)
	var incomplete *merge.IncompleteError
	switch {
	case errors.As(err, &incomplete):
		return &codedError{err, exitIncomplete, "nothing was written"}
	case err != nil && ctx.Err() == nil:
		return &codedError{err, exitUsage, "nothing was written"}
	case err != nil:
		return err
	}
	_, _ = fmt.Fprintf(a.env.Stderr, "run %s: %s, planned %d = valid %d + excluded %d, of %d shards\n",
		m.Run.ID, m.Run.Eval.Name, m.Run.Planned, m.Valid, m.Excluded, len(sources))
	for _, name := range m.Mixed {
		a.log.Warn("the agent differs between shards in version or conditions; compare with care", "agent", name)
	}
	a.load(ctx)
	return nil
}

// shardsAt finds the runs that an argument of merge names.
func (a *app) shardsAt(arg string) ([]merge.Source, error) {
	if !strings.ContainsRune(arg, filepath.Separator) {
		if _, err := journal.ReadRun(a.runsRoot(), arg); err == nil {
			return []merge.Source{{Root: a.runsRoot(), ID: arg}}, nil
		} else if !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	dir, err := filepath.Abs(arg)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, usageErr("firstpick runs lists the runs here; the folder of a run of another machine works too",
			"%s is neither a run in %s nor a folder", arg, a.cfg.Data)
	}
	if _, err := os.Stat(filepath.Join(dir, "run.json")); err == nil {
		return []merge.Source{{Root: filepath.Dir(dir), ID: filepath.Base(dir)}}, nil
	}
	runs, unreadable, err := journal.List(dir)
	for _, run := range unreadable { // each may be a shard of the plan
		err = errors.Join(err, run)
	}
	if err == nil && len(runs) == 0 {
		err = usageErr("", "%s contains no run", arg)
	}
	var out []merge.Source
	for _, r := range runs {
		out = append(out, merge.Source{Root: dir, ID: r.ID})
	}
	return out, err
}

// parseShard reads I/N; nil for the whole plan.
func parseShard(text string, ev *eval.Eval) (*journal.Shard, error) {
	if text == "" {
		return nil, nil
	}
	index, of, _ := strings.Cut(text, "/")
	i, ierr := strconv.Atoi(index)
	n, nerr := strconv.Atoi(of)
	if ierr != nil || nerr != nil || i < 1 || i > n {
		return nil, usageErr("such as 2/4: the second of four shards", "--shard must be I/N (got %q)", text)
	}
	if n > ev.Trials() {
		return nil, usageErr("make fewer shards", "--shard %s: the eval has only %d trials", text, ev.Trials())
	}
	return &journal.Shard{Index: i, Of: n, Plan: plan.Digest(plan.New(ev))}, nil
}
