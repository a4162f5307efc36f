package change_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/change"
)

var now = time.Date(2026, 11, 21, 10, 30, 0, 0, time.UTC)

const day = 24 * time.Hour

// facts are those of a lively workspace, with the traffic of its last day.
func facts(edit func(*change.Facts)) *change.Facts {
	f := &change.Facts{Now: now, FirstAt: now.Add(-90 * day), LastAt: now.Add(-time.Minute), Days: 7, Traffic: &change.Traffic{From: now.Add(-day), To: now}}
	edit(f)
	return f
}

// examples has facts for each kind. A new kind needs a line here.
func examples() map[string]*change.Facts {
	old := now.Add(-80 * day)
	agents := func(list ...change.Agent) func(*change.Facts) {
		return func(f *change.Facts) { f.Traffic.Agents = list }
	}
	return map[string]*change.Facts{
		"silence":      facts(func(f *change.Facts) { f.LastAt = now.Add(-2 * day) }),
		"silence_over": facts(func(f *change.Facts) { f.SilentSince = now.Add(-3 * day) }),
		"new_agent":    facts(agents(change.Agent{Name: "Kimi-User", Class: "user_fetch", FirstAt: now, Visits: 3, SinceInWindow: now})),
		"first_agents": facts(func(f *change.Facts) {
			f.FirstAt = now.Add(-day)
			f.Traffic.Agents = []change.Agent{{Name: "GPTBot", Class: "training_crawler", FirstAt: now.Add(-day), Visits: 3}}
		}),
		"spoof_burst": facts(func(f *change.Facts) {
			f.Traffic.Agents = []change.Agent{{Name: "GPTBot", Class: "training_crawler", FirstAt: old, Spoofed: 50, SpoofedSinceInWindow: now}}
			f.Traffic.Spoofed = []change.Hour{{Start: now.Truncate(time.Hour), Visits: 50}}
		}),
		"not_found_cluster": facts(func(f *change.Facts) {
			f.Traffic.Missing = []change.Folder{{Host: "acme.dev", Path: "/docs/v2", Misses: 30, Pages: 1, Agents: []string{"GPTBot"}, Examples: []string{"/docs/v2/a"}, FirstAt: now}}
		}),
		"user_fetch_drop": facts(agents(change.Agent{Name: "ChatGPT-User", Class: "user_fetch", FirstAt: old, Visits: 25, WeekAgo: 50, Before: 350, SinceInWindow: now})),
		"spike":           facts(agents(change.Agent{Name: "GPTBot", Class: "training_crawler", FirstAt: old, Visits: 60, Before: 70, SinceInWindow: now})),
	}
}

// Every kind is complete: its facts cause it alone, and everything that shows it has its text.
func TestEveryKind(t *testing.T) {
	cases := examples()
	var reported, alerted []string
	for _, k := range change.Kinds() {
		code := k.Alert
		if code == "" {
			code = k.Report
		}
		f := cases[code]
		if f == nil {
			t.Errorf("%s has no facts in examples", code)
			continue
		}
		list := change.Detect(f)
		if len(list) != 1 || list[0].Alert != k.Alert {
			t.Errorf("%s: %+v", code, list)
			continue
		}
		if k.Alert != "" {
			alerted = append(alerted, k.Alert)
			checkAlert(t, &k, list[0].Data)
		}
		if k.Report == "" {
			if len(list[0].Rows) > 0 {
				t.Errorf("%s has rows and no code in reports", code)
			}
			continue
		}
		reported = append(reported, k.Report)
		rows := change.Rows(list)
		if len(rows) != 1 || rows[0].What != k.Report || rows[0].Since.IsZero() {
			t.Fatalf("%s: %+v", code, rows)
		}
		if text := k.Sentence(&rows[0], 7*day); !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "?") {
			t.Errorf("%s: %q", code, text)
		}
	}
	slices.Sort(reported)
	slices.Sort(alerted)
	// These codes are published: they stay.
	if want := "new_agent new_not_found_cluster silence spike spoof_burst user_fetch_drop"; strings.Join(reported, " ") != want {
		t.Errorf("reports have %q, want %q", reported, want)
	}
	if want := "first_agents new_agent not_found_cluster silence silence_over spoof_burst user_fetch_drop"; strings.Join(alerted, " ") != want {
		t.Errorf("alerts have %q, want %q", alerted, want)
	}
}

// checkAlert checks the text of an alert, and that its documentation names every field.
func checkAlert(t *testing.T, k *change.Kind, data change.Data) {
	t.Helper()
	if summary, details := data.Describe(); !strings.HasSuffix(summary, ".") || len(details) == 0 {
		t.Errorf("%s: %q %q", k.Alert, summary, details)
	}
	body, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(body, &fields); err != nil {
		t.Fatal(err)
	}
	for name := range fields {
		if !strings.Contains(k.Doc, "`"+name+"`") {
			t.Errorf("the documentation of %s does not name %s", k.Alert, name)
		}
	}
}

// The thresholds hold at any length of the window, because rates are compared.
func TestRatesOfLongWindows(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*change.Facts)
		want string
	}{
		"a crawler comes more often": {func(f *change.Facts) {
			f.Traffic.Agents = []change.Agent{{Name: "A", FirstAt: now.Add(-80 * day), Visits: 210, Before: 280}}
		}, "spike"},
		"almost": {func(f *change.Facts) {
			f.Traffic.Agents = []change.Agent{{Name: "A", FirstAt: now.Add(-80 * day), Visits: 209, Before: 280}}
		}, ""},
		"a drop in 30 days, no week to compare with": {func(f *change.Facts) {
			f.Traffic.From = now.Add(-30 * day)
			f.Traffic.Agents = []change.Agent{{Name: "A", Class: "user_fetch", FirstAt: now.Add(-200 * day), Visits: 50, WeekAgo: 0, Before: 300}, {Name: "B", Class: "user_fetch", FirstAt: now.Add(-200 * day), Visits: 9, Before: 60}}
		}, "user_fetch_drop"},
		"first came in a long window": {func(f *change.Facts) {
			f.Traffic.From = now.Add(-30 * day)
			f.Traffic.Agents = []change.Agent{{Name: "A", FirstAt: now.Add(-29 * day), Visits: 1}}
		}, "new_agent"},
	} {
		t.Run(name, func(t *testing.T) {
			f := facts(func(f *change.Facts) { f.Traffic.From = now.Add(-7 * day); c.edit(f) })
			var got []string
			for _, r := range change.Rows(change.Detect(f)) {
				if !slices.Contains(got, r.What) {
					got = append(got, r.What)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
