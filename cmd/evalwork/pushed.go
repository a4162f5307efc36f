package evalwork

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/firstpick/firstpick/publish/bundle"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/server/store/state"
)

// PushedRoot is the folder in which a server stores the files of a pushed run. It has one
// run, under the id that the run had where it was made.
func PushedRoot(data, workspace, run string) string {
	return filepath.Join(data, "evals", workspace, "uploads", run)
}

// verify proves that the journal of a pushed run is that of a whole run of the eval. It sends
// no request and reads no answer again. A journal without a proof ends the run as failed.
func (j *job) verify(ctx context.Context, stop *stopper) (*ending, error) {
	if stop.cancelled() {
		return &ending{status: state.RunCancelled, note: stop.note}, nil
	}
	upload, err := j.w.DB.Read().Upload(ctx, j.row.WorkspaceID, j.row.ID)
	if err != nil {
		return nil, fmt.Errorf("the upload of pushed run %s: %w", j.row.ID, err)
	}
	root := PushedRoot(j.w.Data, j.row.WorkspaceID, j.row.ID)
	p, err := j.prove(ctx, root, upload.LocalRun)
	var unproven *runner.UnprovenError
	var damage *journal.DamageError
	switch {
	case errors.As(err, &damage): // without the paths of this machine
		return nil, unverified(fmt.Sprintf("%s, byte %d: %s", filepath.Base(damage.Path), damage.Byte, damage.Reason))
	case errors.As(err, &unproven):
		return nil, unverified(unproven.Reason)
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("the files of a pushed run are not in %s: server and workers need the same data folder: %w", root, err)
	case err != nil:
		return nil, err
	}
	j.pushed = upload
	j.meter.begin(p.Run.Planned, p.Progress)
	end := &ending{status: state.RunDone}
	if len(p.Valid) == 0 {
		end.status, end.note = state.RunFailed, "No trial has an answer."
	}
	return end, nil
}

// prove proves a run. It compares the eval first: a plan may be made only of one that was
// checked when it was stored.
func (j *job) prove(ctx context.Context, root, id string) (*runner.Proof, error) {
	run, err := journal.ReadRun(root, id)
	if err != nil {
		return nil, err
	}
	digest, err := bundle.EvalDigest(run.Eval)
	if err != nil {
		return nil, err
	}
	if digest != j.digest {
		return nil, unverified(fmt.Sprintf("it is a run of another eval than version %d of %s", j.row.Version, j.row.EvalName))
	}
	if _, ok := j.catalog.Category(run.Eval.Category); !ok { // since the eval was stored
		return nil, unverified(fmt.Sprintf("it measures %s, which the workspace's own catalogue does not have any more", run.Eval.Category))
	}
	return runner.Prove(ctx, root, id)
}

func unverified(reason string) *verdict {
	return &verdict{"The pushed journal was not accepted: " + reason + "."}
}
