package dashboard_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state"
)

// TestNextSteps: after a run of an own eval the overview lists what to do next, with what is
// done; a failed run is reported until it is followed by another.
func TestNextSteps(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	o := newOwner(t, d, "dana@example.com")
	d.load(t, crowd(o.id, d.Clock.Now().Add(-time.Hour))...)
	var w *state.Workspace
	if err := d.Agents.DB.Write(t.Context(), func(tx *state.Tx) (err error) {
		if err = tx.SetPlanOf(t.Context(), o.id, state.PlanPaid); err == nil {
			w, err = tx.Workspace(t.Context(), o.id)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	overview := func(what string, want, not []string) {
		t.Helper()
		status, body := o.get(o.at(""))
		for _, text := range want {
			if status != 200 || !strings.Contains(body, text) {
				t.Errorf("%s: %d, no %s in %s", what, status, text, body)
			}
		}
		for _, text := range not {
			if strings.Contains(body, text) {
				t.Errorf("%s: %s", what, text)
			}
		}
	}
	overview("without a run", nil, []string{"What next", "A run failed."})
	eval, _ := d.Ready(t, w)
	d.Clock.Add(5 * time.Minute)
	d.Finish(t, d.Begin(t), "../evalpages/testdata/bundles/now")
	o.send("/tool", url.Values{"tool": {"acorn"}})
	schedule := `<a href="` + o.at("/evals/"+eval.ID+"/schedule") + `">Schedule a weekly run</a>`
	overview("after a run", []string{"What next", `<b>Measure with a real model</b> <span class="state good">done</span>`, schedule, `>Choose where alerts go</a>`, `>Invite colleagues</a>`}, []string{"A run failed.", "Put the badge on your site"})
	if status, body := o.send("/webhooks", url.Values{"url": {"https://127.0.0.1:9/firstpick"}}); status != 200 {
		t.Fatalf("a webhook: %d %s", status, body)
	}
	overview("with a webhook", []string{`<b>Choose where alerts go</b>`, schedule}, nil)

	run, _, err := d.Evals.Start(t.Context(), servertest.Owner(w), evals.StartRequest{EvalID: eval.ID, BudgetUSD: 5})
	if err != nil {
		t.Fatal(err)
	}
	lease := d.Begin(t)
	d.Clock.Add(5 * time.Minute) // of runs that end at the same time the ids decide
	if err := d.Agents.DB.Write(t.Context(), func(tx *state.Tx) error {
		return tx.FinishRun(t.Context(), lease.Lease(), d.Clock.Now(), state.RunOutcome{Status: state.RunFailed, Failure: "The <provider> refused the key."})
	}); err != nil {
		t.Fatal(err)
	}
	overview("after a failure", []string{"A run failed.", "The &lt;provider&gt; refused the key.", o.at("/runs/" + run.ID), o.at("/evals/"+eval.ID) + "#start"}, []string{"<provider>"})
	if _, _, err := d.Evals.Start(t.Context(), servertest.Owner(w), evals.StartRequest{EvalID: eval.ID, BudgetUSD: 5}); err != nil {
		t.Fatal(err)
	}
	d.Clock.Add(5 * time.Minute)
	d.Finish(t, d.Begin(t), "../evalpages/testdata/bundles/now")
	overview("after another run", []string{"What next"}, []string{"A run failed."})
}

// TestNoiseHasNamesAndPages: a class of excluded visits opens to its names and pages.
func TestNoiseHasNamesAndPages(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	o := newOwner(t, d, "dana@example.com")
	at := d.Clock.Now().Add(-time.Hour)
	var rows []trafficdb.Row
	for i, path := range []string{"/.env", "/.env", "/wp-login"} {
		rows = append(rows, trafficdb.Row{Workspace: o.id, Record: event.Record{
			Type: event.Touch, ID: "n" + string(rune('a'+i)), At: at, ReceivedAt: at, Host: "acme.dev", Path: path, Agent: "Scanner<1>", Class: "scanner_probe", Status: 404,
		}})
	}
	d.load(t, rows...)
	_, body := o.get(o.at("/noise"))
	first, second := strings.Index(body, "<bdi>acme.dev/.env</bdi>"), strings.Index(body, "<bdi>acme.dev/wp-login</bdi>")
	if first < 0 || second < first || !strings.Contains(body, "<bdi>Scanner&lt;1&gt;</bdi>") || !strings.Contains(body, `data-label="Visits">3<`) {
		t.Error(body)
	}
}
