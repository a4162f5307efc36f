package evalpages

import (
	"encoding/json"
	"net/http"

	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/kit/traceview"
)

type traceData struct {
	traceview.View
	Page                 layout.Page
	Run                  head
	Back, Before, Behind string
	Synthetic            string
}

// trace shows one trial: prompt, answer, and how its outcome was decided.
func (v *visit) trace() error {
	r, b, release, err := v.results()
	if err != nil {
		return err
	}
	defer release()
	data, err := b.Trace(v.R.Context(), v.param("trial"))
	if err != nil {
		return missingTrial(err)
	}
	var t trialset.Trace
	if err := json.Unmarshal(data, &t); err != nil {
		return err
	}
	if simulates(&b.Manifest, t.Agent) { // its clock is made up, too
		t.FinishedAt = nil
	}
	tools, err := toolsOf(b)
	if err != nil {
		return err
	}
	f := filterOf(v.R.URL.Query())
	before, behind, err := neighbours(v.R.Context(), b, f, t.ID)
	if err != nil {
		return err
	}
	list := v.at("runs", r.ID, "traces")
	to := func(id string) string {
		if id == "" {
			return ""
		}
		return list + "/" + id + queryOf(f)
	}
	d := traceData{
		View: traceview.New(&t, func(slug string) string { return named(tools, slug) }),
		Page: v.page(), Run: v.head(r, "Traces"), Back: list + queryOf(f), Before: to(before), Behind: to(behind), Synthetic: synthetic(&b.Manifest),
	}
	d.Rest = "the download"
	return v.Show(http.StatusOK, "workspace-ev-trace", "Trial "+t.ID, d)
}
