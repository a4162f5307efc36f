package trafficdb_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/alert"
	"github.com/firstpick/firstpick/server/channel/change"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/channel/trafficdb/traffictest"
)

// TestFactsAgreeWithARecount counts again what changes are detected from.
func TestFactsAgreeWithARecount(t *testing.T) {
	rows := slices.Collect(traffictest.Rows(traffictest.Options{Seed: 11, Events: 12_000, Workspaces: 3, Days: 30, End: end()}))
	db := load(t, rows)
	for n := range 4 { // the last workspace is empty
		for _, days := range []int{1, 3, 12} {
			ws := traffictest.Workspace(n)
			what := fmt.Sprintf("%d days of %s", days, ws)
			to := end().AddDate(0, 0, -2)
			w := trafficdb.Window{From: to.AddDate(0, 0, -days), To: to}
			got, err := db.Facts(t.Context(), ws, w)
			if err != nil {
				t.Fatal(err)
			}
			want := ledger{of(rows, ws), w}.facts()
			equal(t, "agents in "+what, got.Traffic.Agents, want.Traffic.Agents)
			equal(t, "spoofed hours in "+what, got.Traffic.Spoofed, want.Traffic.Spoofed)
			equal(t, "missing in "+what, got.Traffic.Missing, want.Traffic.Missing)
			if !got.FirstAt.Equal(want.FirstAt) || !got.LastAt.Equal(want.LastAt) || got.Days != want.Days {
				t.Errorf("%s: %v %v %d, want %v %v %d", what, got.FirstAt, got.LastAt, got.Days, want.FirstAt, want.LastAt, want.Days)
			}
			if n == 0 && (len(want.Traffic.Agents) == 0 || len(want.Traffic.Spoofed) == 0 || len(want.Traffic.Missing) == 0 || want.Days == 0) {
				t.Errorf("%s: the test does not test that", what)
			}
		}
	}
}

// TestReportsAndAlertsAgree puts the same events to both: the changes of a report
// of one day are the alerts of that day.
func TestReportsAndAlertsAgree(t *testing.T) {
	gpt := event.Record{Agent: "GPTBot", Class: "training_crawler", Path: "/", Status: 200, Verdict: "verified_ip"}
	user := event.Record{Agent: "ChatGPT-User", Class: "user_fetch", Path: "/", Status: 200}
	kimi := event.Record{Agent: "Kimi-User", Class: "user_fetch", Path: "/", Status: 200}
	fake := event.Record{Agent: "GPTBot", Class: "training_crawler", Path: "/", Status: 200, Verdict: "ip_mismatch"}
	gone := event.Record{Host: "acme.dev", Agent: "GPTBot", Class: "training_crawler", Path: "/docs/v2/x", Status: 404, Verdict: "verified_ip"}
	usual := []crowd{{n: 350, from: 35, to: 0, record: gpt}, {n: 7000, from: 35, to: 1, record: user}}
	with := func(c ...crowd) []crowd { return append(slices.Clone(usual), c...) }
	asUsual := crowd{n: 200, from: 1, to: 0, record: user}
	seen := map[string]bool{}
	for name, list := range map[string][]crowd{
		"as always":            with(asUsual),
		"a drop":               with(crowd{n: 60, from: 1, to: 0, record: user}),
		"a new agent":          with(asUsual, crowd{n: 2, from: 1, to: 0, record: kimi}),
		"new two days ago":     with(asUsual, crowd{n: 20, from: 2, to: 0, record: kimi}),
		"an agent of the past": with(asUsual, crowd{n: 20, from: 30, to: 29, record: kimi, lateOrBackfill: true}, crowd{n: 2, from: 1, to: 0, record: kimi}),
		"a burst":              with(asUsual, crowd{n: 1201, from: 1, to: 0, record: fake}),
		"few spoofed visits":   with(asUsual, crowd{n: 1000, from: 1, to: 0, record: fake}),
		"spoofed as always":    with(asUsual, crowd{n: 1600, from: 8, to: 0, record: fake}),
		"a missing folder":     with(asUsual, crowd{n: 30, from: 1, to: 0, record: gone}),
		"a few misses":         with(asUsual, crowd{n: 29, from: 1, to: 0, record: gone}),
		"missing as always":    with(asUsual, crowd{n: 240, from: 8, to: 0, record: gone}),
		"silence":              {{n: 700, from: 35, to: 2, record: gpt}},
		"a rare visitor":       {{n: 7, from: 35, to: 2, record: gpt}},
		"its third day":        {{n: 60, from: 3, to: 0, record: gpt}, {n: 20, from: 1, to: 0, record: kimi}},
		"its first day":        {{n: 60, from: 1, to: 0, record: gpt}, {n: 20, from: 1, to: 0, record: kimi}},
		"everything": with(crowd{n: 60, from: 1, to: 0, record: user}, crowd{n: 2, from: 1, to: 0, record: kimi}, crowd{n: 1201, from: 1, to: 0, record: fake},
			crowd{n: 30, from: 1, to: 0, record: gone}),
	} {
		t.Run(name, func(t *testing.T) {
			rows := crowdRows(list)
			agree(t, load(t, rows), "w", rows, end(), seen)
		})
	}
	for _, k := range change.Kinds() {
		if k.Alert != "" && k.Report != "" && !seen[k.Report] {
			t.Errorf("no case has %s", k.Report)
		}
	}
	rows := slices.Collect(traffictest.Rows(traffictest.Options{Seed: 5, Events: 12_000, Workspaces: 2, Days: 30, End: end()}))
	db := load(t, rows)
	for back := range 25 {
		for n := range 2 {
			ws := traffictest.Workspace(n)
			agree(t, db, ws, of(rows, ws), end().AddDate(0, 0, -back), seen)
		}
	}
}

// agree compares the changes of the day before the last event with the alerts at it,
// and the silence since then at a moment.
func agree(t *testing.T, db *trafficdb.DB, ws string, rows []trafficdb.Row, at time.Time, seen map[string]bool) {
	t.Helper()
	known := ledger{rows, trafficdb.Window{From: at, To: at}}.facts() // as the state store knows them, without the read model
	facts := change.Facts{Now: at, FirstAt: known.FirstAt, LastAt: known.LastAt, Days: known.Days}
	compare(t, db, ws, facts, seen, func(code string) bool { return code == "silence" })
	var err error
	facts.Now = known.LastAt.Add(time.Second)
	if facts.Traffic, err = db.Recent(t.Context(), ws, known.LastAt); err != nil || facts.Traffic == nil {
		t.Fatal(facts.Traffic, err)
	}
	compare(t, db, ws, facts, seen, func(string) bool { return true })
}

// compare compares the changes of the day before facts.Now with the alerts of facts.
func compare(t *testing.T, db *trafficdb.DB, ws string, facts change.Facts, seen map[string]bool, wanted func(code string) bool) {
	t.Helper()
	changes, err := db.Changes(t.Context(), ws, trafficdb.Window{From: facts.Now.AddDate(0, 0, -1), To: facts.Now}, facts.Now)
	if err != nil {
		t.Fatal(err)
	}
	var reported, sent []string
	for _, c := range changes {
		seen[c.What] = true
		subject := c.Host + c.Folder
		if c.What == "new_agent" {
			subject = c.Agent
		}
		if kind, _ := change.KindOfReport(c.What); kind.Alert != "" && wanted(c.What) {
			reported = append(reported, strings.TrimSpace(c.What+" "+subject))
		}
	}
	for _, c := range alert.Compare(facts, nil).New {
		if kind, _ := change.KindOfAlert(c.Alert); kind.Report != "" && wanted(kind.Report) {
			sent = append(sent, strings.TrimSpace(kind.Report+" "+c.Subject))
		}
	}
	slices.Sort(reported)
	slices.Sort(sent)
	if reported = slices.Compact(reported); !slices.Equal(reported, sent) {
		t.Errorf("%s at %v: the report has %q, and the alerts are %q", ws, facts.Now, reported, sent)
	}
}
