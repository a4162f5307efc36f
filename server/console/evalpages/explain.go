package evalpages

import (
	"cmp"
	"errors"
	"net/http"
	"slices"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
)

// explainPart is the name of the page among those of a run.
const explainPart = "Reasons"

type explainData struct {
	Page      layout.Page
	Run       head
	Old       bool // the results have no explanations
	Problem   string
	Synthetic string
	Tools     []choice     // of the form
	Rows      []explainRow // without a tool
	Unnamed   int          // tools that no answer considers
	Why       *whyLost     // nil without a tool
}

// An explainRow is one tool of the run.
type explainRow struct {
	Tool, Link, Rate, Reason string
	Picked, Lost             int
}

// explain shows why a tool was not picked: the one that the address names, or that the
// workspace follows, or else a choice of the tools.
func (v *visit) explain() error { return v.h.Evals.Heavy(v.Workspace.ID, v.explainRun) }

func (v *visit) explainRun() error {
	r, err := v.h.Evals.Run(v.R.Context(), v.actor(), v.param("run"))
	if err != nil {
		return err
	}
	d := explainData{Page: v.page(), Run: v.head(r, explainPart)}
	title := "Why a tool loses"
	all, err := v.h.Evals.Explanations(v.R.Context(), v.actor(), r.ID)
	if isCode(err, evals.NoExplanation) {
		d.Old = true
		return v.Show(http.StatusOK, "workspace-ev-explain", title, d)
	} else if err != nil {
		return err
	}
	d.Synthetic = synthetic(all.Manifest)
	tool := v.R.URL.Query().Get("tool")
	if tool == "" {
		if tool, err = v.followed(all); err != nil {
			return err
		}
	}
	status, slug := http.StatusOK, ""
	if tool == "" {
		d.Rows = v.explainRows(r.ID, all, func(e *evals.Explanation) bool { return e.Considered > 0 })
		d.Unnamed = len(all.Tools()) - len(d.Rows)
	} else if e, err := all.Of(tool); err == nil {
		lost, err := v.h.Evals.LostPrompts(v.R.Context(), v.actor(), r.ID, e.Slug)
		if err != nil {
			return err
		}
		d.Why, title, slug = v.newWhyLost(r.ID, all, e, lost), heading(all, e), e.Slug
		if d.Why.Heading = title; d.Synthetic == "all" { // nothing follows from invented answers
			d.Why.Steps = nil
		}
	} else if isCode(err, "tool_not_found") {
		problem := apierr.Of(err)
		status, d.Problem = problem.Status, problem.Description
		d.Rows = v.explainRows(r.ID, all, func(e *evals.Explanation) bool { return slices.Contains(problem.Suggestions, e.Slug) })
	} else {
		return err
	}
	for _, t := range all.Tools() {
		d.Tools = append(d.Tools, choice{Key: t.Slug, Name: t.Name, On: t.Slug == slug})
	}
	sorting.StableFunc(d.Tools, func(a, b choice) int { return cmp.Compare(a.Name, b.Name) })
	return v.Show(status, "workspace-ev-explain", title, d)
}

// isCode reports whether an error has a code of the API.
func isCode(err error, code string) bool {
	var e *apierr.Error
	return errors.As(err, &e) && e.Code == code
}

// followed returns the tool that the workspace follows; empty where the run lacks it.
func (v *visit) followed(all *evals.Explanations) (string, error) {
	slug, err := v.ownTool()
	for _, t := range all.Tools() {
		if t.Slug == slug {
			return slug, err
		}
	}
	return "", err
}

// explainRows returns some tools, the most considered first.
func (v *visit) explainRows(run string, all *evals.Explanations, shows func(e *evals.Explanation) bool) []explainRow {
	reports := slices.Clone(all.Reports())
	sorting.StableFunc(reports, func(a, b evals.Explanation) int { return cmp.Compare(b.Considered, a.Considered) })
	var out []explainRow
	for i := range reports {
		if e := &reports[i]; shows(e) {
			out = append(out, explainRow{e.Tool, v.explains(run, e.Slug), rejectedRate(&e.Counts), mainReason(e), e.Picked, e.Lost})
		}
	}
	return out
}

// explains is the address of why a tool was not picked.
func (v *visit) explains(run, slug string) string {
	return v.at("runs", run, "explain") + query("tool", slug)
}
