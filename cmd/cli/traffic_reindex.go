package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	assembly "github.com/firstpick/firstpick/server/app"
	"github.com/firstpick/firstpick/server/channel/reporter"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
)

func newReindexCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reindex",
		Short: "Rebuild the traffic database from the stored events",
		Long: `Rebuild traffic.duckdb in the data folder from the events in the state store. Stop the
server first. After an interrupted rebuild the server loads the rest when it starts.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := newApp(env, cmd)
			if err != nil {
				return err
			}
			return a.reindex(cmd.Context())
		},
	}
	addStateFlag(cmd.Flags())
	return cmd
}

func (a *app) reindex(ctx context.Context) (err error) {
	if err := (&adminOptions{app: a}).ready("reindex"); err != nil {
		return err
	}
	store, _, err := a.openState(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	file := filepath.Join(a.cfg.Data, assembly.TrafficFile)
	keepPrivate()
	if err := os.MkdirAll(a.cfg.Data, 0o755); err != nil { // with --state there may be none yet
		return badInput(err)
	}
	events, err := trafficdb.Open(ctx, file)
	var locked *trafficdb.LockedError
	if errors.As(err, &locked) {
		return usageErr("stop the server first", "%w", err)
	}
	if err != nil {
		return badInput(err)
	}
	defer func() { err = errors.Join(err, events.Close()) }()
	began := a.env.Now()
	if err := events.RebuildFor(ctx, store.ID()); err != nil {
		return err
	}
	if err := os.Chmod(file, 0o600); err != nil { // it has data of visitors and customers
		return err
	}
	loader := &trafficdb.Loader{DB: events, Log: a.log, Source: reporter.StoredEvents(store)}
	total, shown := 0, began
	for {
		n, err := loader.Step(ctx)
		if err != nil {
			return fmt.Errorf("after %d events: %w", total, err)
		}
		if total += n; n == 0 {
			break
		}
		if now := a.env.Now(); now.Sub(shown) >= lineEvery || a.env.StderrIsTTY {
			shown = now
			_, _ = fmt.Fprintf(a.env.Stderr, "%d events%s", total, a.lineEnd())
		}
	}
	if err := events.Checkpoint(ctx); err != nil {
		return err
	}
	if n := loader.Skipped(); n > 0 {
		a.log.Warn("events that could not be read were left out", "events", n)
	}
	_, err = fmt.Fprintf(a.env.Stdout, "%d events in %.1f s\n", total, a.env.Now().Sub(began).Seconds())
	return err
}

// lineEnd ends a progress line: the next one overwrites it on a terminal, and follows
// it elsewhere.
func (a *app) lineEnd() string {
	if a.env.StderrIsTTY {
		return "\033[K\r"
	}
	return "\n"
}
