package evalpages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/evals/evals"
)

// TestDeleting a run, and then its eval, needs the text that the form asks for.
func TestDeleting(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	e, before, now, _ := o.fill()
	if _, body := o.get(o.at("/runs/" + now.ID)); !strings.Contains(body, "Delete this run") || !strings.Contains(body, "Type <b>delete</b>") {
		t.Errorf("the page of the run: %s", text(body))
	}
	if status, body := o.send("/runs/"+now.ID+"/erase", "confirm", "no"); status != http.StatusBadRequest || !strings.Contains(body, "Nothing was deleted") {
		t.Errorf("another text: %d %s", status, text(body))
	}
	if status, body := o.send("/runs/"+now.ID+"/erase", "confirm", "delete"); status != http.StatusOK || strings.Contains(body, now.ID) {
		t.Errorf("deleting the run: %d %s", status, text(body))
	}
	if status, _ := o.get(o.at("/runs/" + now.ID)); status != http.StatusNotFound {
		t.Errorf("the run is still there: %d", status)
	}
	if status, _ := o.get(o.at("/runs/" + before.ID)); status != http.StatusOK {
		t.Errorf("another run is gone: %d", status)
	}
	if status, body := o.send("/evals/"+e.ID+"/erase", "confirm", e.Name); status != http.StatusOK || strings.Contains(body, e.ID) {
		t.Errorf("deleting the eval: %d %s", status, text(body))
	}
	runs, _, err := s.Evals.Runs(t.Context(), o.actor(), evals.RunQuery{})
	if err != nil || len(runs) != 0 {
		t.Errorf("%d runs are left, %v", len(runs), err)
	}
}
