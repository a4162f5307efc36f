package evalpages

import (
	"net/http"
	"strings"

	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/evals/evals"
)

type editorData struct {
	Page     layout.Page
	Paid     bool
	Name     string // of the eval that is changed; empty for a new one
	Back     string
	Action   string // where the form goes
	Source   string
	Rows     int
	Begin    []choice
	Problem  string
	Issues   []evals.Issue
	Lines    []sourceLine // of the source, when lines of it are wrong
	Checked  *summary     // of a valid source
	Settings string
	Renamed  string // the name that the text has now, where it is another
	Real     string // lines that ask real models; empty where the text has no simulated agent
}

// A sourceLine is a line of the source near a problem.
type sourceLine struct {
	Number int
	Text   string
	Bad    bool
}

func (v *visit) editor() editorData {
	return editorData{Page: v.page(), Paid: v.paid(), Back: v.at("evals"), Action: v.at("evals", "new"), Settings: v.at("settings", "evals")}
}

// newEval shows the editor with a beginning.
func (v *visit) newEval() error {
	d := v.editor()
	category := v.R.URL.Query().Get("category")
	d.Begin, d.Source = v.beginnings(category), v.beginning(category)
	return v.showEditor(http.StatusOK, d)
}

// editEval shows the editor with the current source of an eval.
func (v *visit) editEval() error {
	e, err := v.h.Evals.Eval(v.R.Context(), v.actor(), v.param("eval"))
	if err != nil {
		return err
	}
	d := v.editor()
	d.Name, d.Back, d.Action, d.Source = e.Name, v.at("evals", e.ID), v.at("evals", e.ID, "edit"), e.Source
	return v.showEditor(http.StatusOK, d)
}

// save validates the source, and stores it unless only a check was requested. What
// was typed stays in the form in any case.
func (v *visit) save() error {
	d := v.editor()
	if id := v.param("eval"); id != "" {
		e, err := v.h.Evals.Eval(v.R.Context(), v.actor(), id)
		if err != nil {
			return err
		}
		d.Name, d.Back, d.Action = e.Name, v.at("evals", e.ID), v.at("evals", e.ID, "edit")
	}
	// Browsers send lines with carriage returns (HTML standard, form data sets).
	d.Source = strings.ReplaceAll(v.R.PostFormValue("source"), "\r\n", "\n")
	checked, err := v.h.Evals.Check(v.R.Context(), v.actor(), []byte(d.Source))
	if err == nil && v.R.PostFormValue("do") == "save" {
		var stored *evals.Eval
		var changed bool
		if stored, _, changed, err = v.h.Evals.Put(v.R.Context(), v.actor(), []byte(d.Source)); err == nil {
			done := "saved"
			switch {
			case !changed:
				done = "same"
			case stored.Version == 1:
				done = "created"
			}
			return v.see(v.at("evals", stored.ID) + "?done=" + done)
		}
	}
	if err != nil {
		e := wrong(err)
		if e == nil {
			return err
		}
		if d.Issues = evals.Issues(err); d.Issues == nil {
			d.Problem = e.Description
		}
		d.Lines = near(d.Source, d.Issues)
		return v.showEditor(http.StatusUnprocessableEntity, d)
	}
	d.Checked = v.summary(checked)
	if d.Name != "" && checked.Name != d.Name {
		d.Renamed = checked.Name
	}
	return v.showEditor(http.StatusOK, d)
}

// The height of the editor, in lines.
const (
	leastRows = 18
	mostRows  = 40
)

func (v *visit) showEditor(status int, d editorData) error {
	d.Rows = min(max(strings.Count(d.Source, "\n")+2, leastRows), mostRows)
	if strings.Contains(d.Source, kindSimulated) {
		d.Real = realAgents
	}
	title := "New eval"
	if d.Name != "" {
		title = "Change " + d.Name
	}
	return v.Show(status, "workspace-ev-edit", title, d)
}

// around is how many lines are shown on each side of a wrong one.
const around = 2

// near returns the lines with something wrong and those around them.
func near(source string, issues []evals.Issue) []sourceLine {
	bad, show := map[int]bool{}, map[int]bool{}
	for _, i := range issues {
		if i.Line > 0 {
			bad[i.Line] = true
			for n := i.Line - around; n <= i.Line+around; n++ {
				show[n] = true
			}
		}
	}
	var out []sourceLine
	n := 0
	for line := range strings.Lines(source) {
		if n++; show[n] {
			out = append(out, sourceLine{n, strings.TrimSuffix(line, "\n"), bad[n]})
		}
	}
	return out
}
