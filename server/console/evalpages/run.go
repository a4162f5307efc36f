package evalpages

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/evals/resource"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/sse"
	"github.com/firstpick/firstpick/server/kit/traceview"
	"github.com/firstpick/firstpick/server/store/identity"
)

// start puts a run into the queue. A form that is sent twice starts one.
func (v *visit) start() error {
	ctx := v.R.Context()
	e, err := v.h.Evals.Eval(ctx, v.actor(), v.param("eval"))
	if err != nil {
		return err
	}
	budget := strings.TrimSpace(v.R.PostFormValue("budget"))
	usd, err := dollars(budget)
	if err != nil {
		return v.showEval(http.StatusUnprocessableEntity, e, "The budget must be a number of US dollars, such as 5 or 2.50.", budget)
	}
	version, err := strconv.Atoi(v.R.PostFormValue("version"))
	if err != nil {
		version = e.Version
	}
	r, _, err := v.h.Evals.Start(ctx, v.actor(), evals.StartRequest{EvalID: e.ID, Version: version, BudgetUSD: usd, IdempotencyKey: v.R.PostFormValue("once")})
	if err != nil {
		if problem := wrong(err); problem != nil {
			if problem.Code == "idempotency_conflict" { // its words are for programs
				problem.Description = "This form already started a run with another budget or version. Press the button again to start another run."
			}
			return v.showEval(http.StatusUnprocessableEntity, e, problem.Description, budget)
		}
		return err
	}
	return v.see(v.at("runs", r.ID))
}

// dollars reads an amount as people type it. Commas separate thousands: 1,50 is
// rejected, because it would be ambiguous with a decimal comma.
func dollars(text string) (float64, error) {
	text = strings.TrimPrefix(text, "$")
	if parts := strings.Split(text, ","); len(parts) > 1 {
		parts[len(parts)-1], _, _ = strings.Cut(parts[len(parts)-1], ".")
		if slices.ContainsFunc(parts[1:], func(p string) bool { return len(p) != 3 }) {
			return 0, strconv.ErrSyntax
		}
	}
	return strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
}

// cancel asks to end a run.
func (v *visit) cancel() error {
	r, err := v.h.Evals.Cancel(v.R.Context(), v.actor(), v.param("run"))
	if err != nil {
		return err
	}
	return v.see(v.at("runs", r.ID))
}

// A head is the header of all pages of a run.
type head struct {
	ID, Link, Eval, EvalLink string
	Version                  int
	VersionLink              string
	Catalog                  int // version of the own catalogue; 0 without one
	CatalogLink              string
	Category                 string
	Status                   traceview.Term
	Started                  string
	Pushed                   string   // who pushed it; empty for a run of this server
	Measure                  string   // asks a real model; empty where this server cannot propose
	Parts                    []choice // result, traces, reasons, comparison; none before there are results
}

func (v *visit) head(r *evals.Run, on string) head {
	h := head{
		ID: r.ID, Link: v.at("runs", r.ID), Eval: r.EvalName, EvalLink: v.at("evals", r.EvalID), Version: r.EvalVersion,
		VersionLink: v.at("evals", r.EvalID, "versions", strconv.Itoa(r.EvalVersion)), Category: v.category(r.Category), Status: traceview.Of(statuses(), r.Status),
		Started: chart.Minute(r.CreatedAt), Catalog: r.CatalogVersion, CatalogLink: v.at("evals", "catalog", "versions", strconv.Itoa(r.CatalogVersion)),
	}
	if r.Origin != "" {
		h.Pushed = v.pusher(r)
	}
	if v.page().Measures && r.Origin == "" {
		h.Measure = v.measureAgain(r.EvalID)
	}
	if r.HasResults {
		for _, p := range []choice{{Name: "Result", Link: h.Link}, {Name: "Traces", Link: v.at("runs", r.ID, "traces")}, {Name: explainPart, Link: v.at("runs", r.ID, "explain")}, {Name: "Compare", Link: v.at("runs", r.ID, "compare")}} {
			p.On = p.Name == on
			h.Parts = append(h.Parts, p)
		}
	}
	return h
}

// pusher names the key that pushed a run: by its label while it has one.
func (v *visit) pusher(r *evals.Run) string {
	label, err := v.h.Evals.KeyLabel(v.R.Context(), v.actor(), r.PushedBy)
	if err != nil || label == "" {
		return cmp.Or(r.PushedBy, "that is erased")
	}
	return label
}

// run shows a run: its progress, or its result.
func (v *visit) run() error {
	report, err := v.h.Evals.Report(v.R.Context(), v.actor(), v.param("run"))
	if err != nil {
		return err
	}
	if report.EndedAt == nil {
		return v.live(&report.Run)
	}
	return v.result(report)
}

// recentEvents is how far back a page looks for how a run is doing.
const recentEvents = 100

type liveData struct {
	Page       layout.Page
	Run        head
	Asked      bool // to cancel it
	P          resource.Progress
	Left       int // trials without an end
	DoneText   string
	Bars       bars
	Budget     float64
	Spent      string
	AtMost     string
	BudgetText string
	Lanes      []laneRow
	Lines      []logLine
	Events     string // where they come from
	After      int64  // the last event that the page knows
	Phases     []traceview.Term
	Words      string // of phases and reasons, for the script
	Again      bool   // a worker gave it back or died, and another went on
	Note       string // why it waits
}

// bars are how long those of a run are, as CSS writes lengths. Each begins at the
// left; later rectangles cover earlier ones.
type bars struct{ Valid, Done, Flight, Spent, Most string }

func length(part, whole float64) string {
	if whole <= 0 {
		return "0%"
	}
	return strconv.FormatFloat(100*min(1, max(0, part/whole)), 'f', 2, 64) + "%"
}

type laneRow struct {
	Name, Agents string
	Phase        traceview.Term
	Reason       string
}

type logLine struct{ When, Text string }

func (v *visit) live(r *evals.Run) error {
	d := liveData{
		Page: v.page(), Run: v.head(r, ""), Asked: r.CancelRequested, Budget: r.BudgetUSD, BudgetText: chart.Money(r.BudgetUSD), Phases: phases(), Again: r.Attempts > 1, Note: r.Note,
		P: resource.Progress{Planned: r.Planned, Valid: r.Valid, Excluded: r.Excluded, SpentUSD: r.SpentUSD, AtMostUSD: r.AtMostUSD},
	}
	recent, err := v.h.Evals.Recent(v.R.Context(), v.actor(), r.ID, recentEvents)
	if err != nil {
		return err
	}
	for _, e := range recent {
		d.After = e.Seq
		var p struct {
			Type    string `json:"type"`
			Attempt int    `json:"attempt"` // of an event of type started
			resource.Progress
		}
		if err := json.Unmarshal(e.Body, &p); err != nil {
			continue // of a newer version
		}
		switch p.Type {
		case evals.EventProgress:
			d.P = p.Progress
		case evals.EventStarted:
			text := "A worker started the run."
			if p.Attempt > 1 {
				text = "A worker resumed the run from its journal."
			}
			d.Lines = append(d.Lines, logLine{chart.Minute(e.At), text})
		}
	}
	for _, l := range d.P.Lanes {
		d.Lanes = append(d.Lanes, laneRow{traceview.Visible(l.Name), strings.Join(l.Agents, ", "), traceview.Of(phases(), l.Phase), why(l.Reason)})
	}
	d.Left = max(0, d.P.Planned-d.P.Valid-d.P.Excluded)
	most := max(d.P.AtMostUSD, d.P.SpentUSD)
	d.Spent, d.AtMost, d.DoneText = chart.Money(d.P.SpentUSD), chart.Money(most), "0%"
	planned, done := float64(d.P.Planned), d.P.Valid+d.P.Excluded
	if done > 0 && d.P.Planned > 0 {
		d.DoneText = strconv.Itoa(100*done/d.P.Planned) + "%"
	}
	d.Bars = bars{
		Valid: length(float64(d.P.Valid), planned), Done: length(float64(done), planned), Flight: length(float64(done+d.P.InFlight), planned),
		Spent: length(d.P.SpentUSD, d.Budget), Most: length(most, d.Budget),
	}
	if d.Words, err = scriptWords(); err != nil {
		return err
	}
	d.Events = v.at("runs", r.ID, "events") + "?after=" + strconv.FormatInt(d.After, 10)
	return v.Show(http.StatusOK, "workspace-ev-run", r.EvalName, d)
}

// why is a lane's reason in words; empty if absent.
func why(text string) string {
	if text == "" {
		return ""
	}
	return traceview.Visible(traceview.Reason(text))
}

// scriptWords returns the words of lanes as JSON, so that the script writes
// the texts of the page.
func scriptWords() (string, error) {
	words := map[string]map[string]map[string]string{"phases": {}, "reasons": {}}
	for _, t := range phases() {
		words["phases"][t.Key] = map[string]string{"name": t.Name, "look": t.Look}
	}
	for _, t := range traceview.Reasons() {
		words["reasons"][t.Key] = map[string]string{"name": t.Name}
	}
	text, err := json.Marshal(words)
	return string(text), err
}

// recheck is how often it is looked at again whether who watches may.
const recheck = time.Second

// events streams the events of a run to a browser, until it ends.
func (v *visit) events() error {
	after, err := lastSeen(v.R)
	if err != nil {
		return err
	}
	run, err := v.h.Evals.Run(v.R.Context(), v.actor(), v.param("run"))
	if err != nil {
		return err
	}
	if v.R.Method == http.MethodHead {
		v.W.Header().Set("Content-Type", "text/event-stream")
		v.W.WriteHeader(http.StatusOK)
		return nil
	}
	stream, err := v.h.Streams.Open(v.W, v.R, v.Signed.Account.ID)
	if errors.Is(err, sse.ErrTooMany) {
		return &apierr.Error{Status: http.StatusTooManyRequests, Code: "rate_limited", Description: "Too many runs are being watched. Close a page, then try again.", RetryAfter: 30}
	} else if err != nil {
		return err
	}
	defer stream.End()
	if err := stream.Begin(); err != nil {
		return nil //nolint:nilerr // the browser is gone
	}
	ctx, checked := stream.Context(), v.h.Sessions.Now()
	err = v.h.Evals.Watch(ctx, v.actor(), run.ID, after, func(e evals.Event) error {
		if now := v.h.Sessions.Now(); now.Sub(checked) >= recheck {
			if err := v.Still(ctx, identity.Viewer); err != nil {
				return err
			}
			checked = now
		}
		if e.Seq == 0 {
			return stream.Beat()
		}
		var head struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(e.Body, &head); err != nil {
			return err
		}
		return stream.Send(e.Seq, head.Type, e.Body)
	})
	if err != nil && ctx.Err() == nil && !errors.Is(err, layout.ErrLeft) {
		v.h.Pages.Log.Warn("a watched run was cut off", "run", run.ID, "err", err)
	}
	return nil
}

// lastSeen is the number of the last event that a browser has.
func lastSeen(r *http.Request) (int64, error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, apierr.InvalidRequest("after must be the sequence number of an event.")
	}
	return n, nil
}
