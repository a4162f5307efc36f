package dashboard

import (
	"time"

	"github.com/firstpick/firstpick/server/console/layout"
)

// failedFor is for how long the overview shows a failed run.
const failedFor = 7 * 24 * time.Hour

// A failedRun is the newest run of an eval, which failed.
type failedRun struct{ Eval, When, Why, Link, Again string }

// failedRuns returns the evals whose newest run failed in the last days.
func (v *visit) failedRuns() (out []failedRun, err error) {
	if !v.h.Evals {
		return nil, nil
	}
	runs, err := v.h.Agents.DB.Read().FailedRuns(v.R.Context(), v.Workspace.ID, v.query.now.Add(-failedFor))
	for _, r := range runs {
		path := layout.Under("/workspaces", v.Workspace.Slug)
		out = append(out, failedRun{
			Eval: r.EvalName, When: r.EndedAt.In(v.query.TZ).Format(minute), Why: r.Failure, Link: layout.Under(path, "runs", r.ID), Again: layout.Under(path, "evals", r.EvalID),
		})
	}
	return out, err
}
