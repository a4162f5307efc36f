package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/cmd/evalwork"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/server/store/state"
)

// adoptRun copies a workspace's run to the operator's own, where rank and publish see
// it.
func (o *adminOptions) adoptRun(ctx context.Context, args []string) error {
	id := args[0]
	workspace, err := o.findRun(id)
	if err != nil {
		return err
	}
	row, err := o.svc.DB.Read().Run(ctx, workspace, id)
	switch {
	case errors.Is(err, state.ErrNotFound):
		return usageErr("its workspace may be erased", "no run %s in the state store", id)
	case err != nil:
		return err
	case row.EndedAt.IsZero():
		return usageErr("wait until it has ended", "run %s is %s", id, row.Status)
	}
	root := evalwork.RunsRoot(o.cfg.Data, workspace)
	run, err := journal.ReadRun(root, id)
	if err != nil {
		return err
	}
	if cat, err := o.catalog(); err != nil {
		return err
	} else if row.Catalog > 0 && run.Catalog != cat.Version {
		return usageErr("add its entries to your own catalogue with the workspace's consent, and run the eval again", "run %s was read with version %d of the workspace's own catalogue, which is private", id, row.Catalog)
	}
	if err := journal.Copy(root, o.runsRoot(), id); errors.Is(err, os.ErrExist) {
		return usageErr("firstpick rank and firstpick publish see it", "run %s already exists", id)
	} else if err != nil {
		return err
	}
	o.notef("run %s of workspace %s is in %s now: eval %s, category %s, %d of %d trials", id, workspace, o.runsRoot(), run.Eval.Name, run.Eval.Category, row.Valid, row.Planned)
	if run.Synthetic {
		o.notef("it contains answers of simulated agents: results stay marked, and publish needs --allow-synthetic")
	}
	if !analytics.Complete(row.Valid, row.Planned) {
		o.notef("it is incomplete: rank and publish prefer a complete run of an eval of this name; --run %s selects it, and publish needs --allow-incomplete", id)
		return nil
	}
	o.notef("the next publish makes its prompts and answers public and replaces an older run of an eval of this name: you decide this, not the workspace")
	return nil
}

// findRun returns the workspace whose folder contains a run.
func (o *adminOptions) findRun(id string) (string, error) {
	if !journal.ValidID(id) {
		return "", usageErr("ids begin with run_", "malformed run id %q", id)
	}
	workspaces, err := os.ReadDir(filepath.Join(o.cfg.Data, "evals"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	for _, w := range workspaces {
		if _, err := os.Stat(filepath.Join(evalwork.RunsRoot(o.cfg.Data, w.Name()), id)); err == nil {
			return w.Name(), nil
		}
		if _, err := os.Stat(evalwork.PushedRoot(o.cfg.Data, w.Name(), id)); err == nil {
			return "", usageErr("publish it where it was made", "run %s was pushed: this server did not measure it", id)
		}
	}
	return "", usageErr("use the --data of the workers", "no run %s of a workspace in %s", id, o.cfg.Data)
}
