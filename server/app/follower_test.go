package app_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/server/app"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
	"github.com/firstpick/firstpick/server/public/views"
)

// one has one snapshot, and counts how often it is loaded and compared.
type one struct {
	snapshots
	board           analytics.Board
	reason          string
	log, comparison error
	loads, compared int
}

func (o *one) Current(context.Context) (string, error) { return "abc", nil }

func (o *one) Load(context.Context, string) (snapshotview.Input, error) {
	o.loads++
	return snapshotview.Input{Boards: []analytics.Board{o.board}}, nil
}

func (o *one) Retracted(context.Context, string) (string, error) { return o.reason, o.log }

func (o *one) Moves(context.Context, string) (string, []views.Move, error) {
	o.compared++
	return "before", []views.Move{{Category: o.board.Category, Board: o.board.Name, Slug: "flask", Tool: "Flask", From: .1, To: .2, Diff: .09, Low: .01, High: .17, Significant: true}}, o.comparison
}

func (o *one) Trends(_ context.Context, _ string, categories []string) ([]nights.Series, error) {
	var out []nights.Series
	for _, c := range categories {
		s := nights.Series{Category: c}
		for month, rate := range []float64{.1, .2} {
			s.Nights = append(s.Nights, nights.Line{At: sitetest.AsOf().AddDate(0, month-1, 0), Tools: []nights.Tool{{Slug: "flask", PickRate: rate, CIHigh: 1}}})
		}
		out = append(out, s)
	}
	return out, nil
}

// TestFollowerLearnsMore: changes and trends come at the second call and once, retractions whenever the log
// has one; the snapshot is loaded once. While the log is not read, what is known of it stays.
func TestFollowerLearnsMore(t *testing.T) {
	var log strings.Builder
	o := &one{board: sitetest.Tagged(t)}
	f := &app.Follower{
		Snapshots: o, Holder: &snapshotview.Holder{}, Log: slog.New(slog.NewTextHandler(&log, nil)), BaseURL: sitetest.Base, Contact: "mailto:people@firstpick.example",
		Now: func() time.Time { return sitetest.AsOf().AddDate(3, 0, 0) },
	}
	page := func(path string) string {
		w := httptest.NewRecorder()
		s := f.Holder.Current()
		snapshotview.NewSender("").SendPage(w, httptest.NewRequest(http.MethodGet, path, nil), s.Page(path))
		return w.Body.String()
	}
	shows := func(about, path, text string, want bool) {
		t.Helper()
		f.Poll(t.Context())
		if body := page(path); strings.Contains(body, text) != want {
			t.Errorf("%s: %s has %q is not %t:\n%s", about, path, text, want, body)
		}
	}
	shows("first", "/", "What moved</h2>", false)
	shows("second", "/", "What moved</h2>", true)
	shows("age", "/leaderboards/webserver", "3 years old", true)
	shows("tile", "/tools/flask", "&#43;9.0 points", true)
	shows("trend", "/tools/flask", "Pick rate in 2 snapshots.", true)
	shows("contact", "/tools/flask", `<a href="mailto:people@firstpick.example" rel="nofollow">people@firstpick.example</a>`, true)
	shows("not retracted", "/tools/flask", "is retracted", false)
	o.reason = "The wrong model."
	shows("retracted", "/tools/flask", "is retracted: <bdi>The wrong model.", true)
	o.log, o.reason = errors.New("no answer"), ""
	shows("log down", "/", "is retracted: <bdi>The wrong model.", true)
	shows("log down, again", "/", "What moved</h2>", true)
	if o.loads != 1 || o.compared != 1 || strings.Count(log.String(), "no answer") != 1 {
		t.Errorf("loaded %d times, compared %d times:\n%s", o.loads, o.compared, log.String())
	}
	kept := f.Holder.Current()
	o.log, o.reason = nil, "The wrong model."
	if f.Poll(t.Context()); f.Holder.Current() != kept {
		t.Error("the site is made again though nothing is new")
	}

	failing := &one{board: o.board, comparison: errors.New("trials are missing")}
	g := &app.Follower{Snapshots: failing, Holder: &snapshotview.Holder{}, Log: f.Log, BaseURL: sitetest.Base}
	for range 3 {
		g.Poll(t.Context())
	}
	if g.Holder.Current() == nil || failing.compared != 1 || strings.Count(log.String(), "trials are missing") != 1 {
		t.Errorf("without a comparison: %s", log.String())
	}
}
