package evalpages

import (
	"strings"

	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// confirmRun is what the owner types to delete a run.
const confirmRun = "delete"

func (v *visit) confirmed(want string) error {
	if strings.TrimSpace(v.R.PostFormValue(layout.ConfirmField)) != want {
		return apierr.InvalidRequest("Nothing was deleted: type " + want + " exactly to confirm.")
	}
	return nil
}

// eraseEval deletes an eval with its runs.
func (v *visit) eraseEval() error {
	e, err := v.h.Evals.Eval(v.R.Context(), v.actor(), v.param("eval"))
	if err == nil {
		err = v.confirmed(e.Name)
	}
	if err != nil {
		return err
	}
	if _, err := v.h.Evals.EraseEval(v.R.Context(), v.actor(), e.ID); err != nil {
		return err
	}
	return v.see(v.at("evals"))
}

// eraseRun deletes a run with its results.
func (v *visit) eraseRun() error {
	r, err := v.h.Evals.Run(v.R.Context(), v.actor(), v.param("run"))
	if err == nil {
		err = v.confirmed(confirmRun)
	}
	if err != nil {
		return err
	}
	if _, err := v.h.Evals.EraseRun(v.R.Context(), v.actor(), r.ID); err != nil {
		return err
	}
	return v.see(v.at("runs"))
}

func (v *visit) eraseEvalForm(e *evals.Eval, runs string) *layout.Erase {
	return &layout.Erase{
		ID: "erase", Action: v.at("evals", e.ID, "erase"), FormToken: v.Signed.FormToken(), Title: "Delete this eval", Confirm: e.Name,
		Deletes: []string{chart.Count(e.Version, "version", "versions") + " of the eval", runs, "their answers, traces and results; runs under way are stopped first"},
	}
}

func (v *visit) eraseRunForm(run string) *layout.Erase {
	return &layout.Erase{
		ID: "erase", Action: v.at("runs", run, "erase"), FormToken: v.Signed.FormToken(), Title: "Delete this run", Confirm: confirmRun,
		Deletes: []string{"the run and its events", "its answers, traces and results, also for comparisons with other runs"},
	}
}
