package change_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/server/channel/change"
	"github.com/firstpick/firstpick/server/channel/picks"
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
		"pick_rate_drop": measured(func(l *nights.Line) {
			l.Tools[0].Shown = []nights.Shown{{Agent: nights.AllAgents, Direction: nights.Drop, E: 530, Since: now}}
		}),
		"rival_overtook": measured(func(l *nights.Line) { l.Tools[0].Overtaken = []nights.Overtaken{{By: "rival", E: 530, Since: now}} }),
		"new_model":      measured(func(l *nights.Line) { l.Delta.NewModels = []nights.NewModel{{Agent: "a", From: "m1", To: "m2"}} }),
		"coverage_drop":  measured(func(l *nights.Line) { l.Delta.MissingAgents = []string{"b"} }),
		"run_failed": facts(func(f *change.Facts) {
			f.Picks = &change.Picks{Failed: []change.FailedRun{{EvalID: "evl_1", Eval: "nightly", Run: "run_1", Reason: "over budget", URL: "https://x.example", At: now}}}
		}),
		"spike": facts(agents(change.Agent{Name: "GPTBot", Class: "training_crawler", FirstAt: old, Visits: 60, Before: 70, SinceInWindow: now})),
	}
}

// Every kind is complete: its facts cause it alone, and everything that shows it has its text.
// measured returns facts about a tool with two nights, the last of them edited. A workspace
// without events has them too.
func measured(edit func(*nights.Line)) *change.Facts {
	line := func(at time.Time, rate float64) nights.Line {
		return nights.Line{At: at, Tools: []nights.Tool{{Slug: "acme", PickRate: rate, CILow: rate - 0.1, CIHigh: rate + 0.1}, {Slug: "rival", PickRate: 0.5}}, Delta: nights.Delta{Coverage: 1, CoverageBefore: 1}}
	}
	m := &picks.Measured{Source: picks.Public, Slug: "acme", URL: "https://firstpick.example/tools/acme", Nights: []nights.Line{line(now.Add(-day), 0.6), line(now, 0.4)}}
	m.Board = analytics.Board{Category: "mail", Name: "Mail", Tools: []analytics.Standing{{Slug: "rival", Tool: "Rival", PickRate: 0.5}, {Slug: "acme", Tool: "Acme", PickRate: 0.4, CILow: 0.3, CIHigh: 0.5}}}
	edit(m.Newest())
	return &change.Facts{Now: now, Picks: &change.Picks{Since: now.Add(-30 * day), Tool: m}}
}

// What happened before a workspace follows the tool is not news, and the tool's first night
// is not compared.
func TestWhatIsNoNewsOfPicks(t *testing.T) {
	for name, edit := range map[string]func(f *change.Facts, l *nights.Line){
		"an old drop": func(f *change.Facts, l *nights.Line) {
			l.Tools[0].Shown = []nights.Shown{{Agent: nights.AllAgents, Direction: nights.Drop, Since: now.Add(-40 * day)}}
		},
		"a rise": func(f *change.Facts, l *nights.Line) {
			l.Tools[0].Shown = []nights.Shown{{Direction: nights.Rise, Since: now}}
		},
		"a rival's drop": func(f *change.Facts, l *nights.Line) {
			l.Tools[1].Shown = []nights.Shown{{Direction: nights.Drop, Since: now}}
		},
		"an old lead": func(f *change.Facts, l *nights.Line) {
			l.Tools[0].Overtaken = []nights.Overtaken{{By: "rival", Since: now.Add(-40 * day)}}
		},
		"an old night": func(f *change.Facts, l *nights.Line) {
			l.At = now.Add(-40 * day)
			l.Delta.MissingAgents = []string{"b"}
		},
		"a little less valid": func(f *change.Facts, l *nights.Line) { l.Delta.Coverage = 0.96 },
		"agents of the first night": func(f *change.Facts, l *nights.Line) {
			l.Delta.NewAgents = []nights.NewModel{{Agent: "a", To: "m"}}
			f.Picks.Tool.Nights = f.Picks.Tool.Nights[1:]
		},
		"nothing measured": func(f *change.Facts, l *nights.Line) { f.Picks.Tool = nil },
		"an old failure": func(f *change.Facts, l *nights.Line) {
			f.Picks.Failed = []change.FailedRun{{EvalID: "evl_1", At: now.Add(-40 * day)}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := measured(func(*nights.Line) {})
			edit(f, f.Picks.Tool.Newest())
			if list := change.Detect(f); len(list) > 0 {
				t.Errorf("%+v", list)
			}
		})
	}
}

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
	if want := "coverage_drop first_agents new_agent new_model not_found_cluster pick_rate_drop rival_overtook run_failed silence silence_over spoof_burst user_fetch_drop"; strings.Join(alerted, " ") != want {
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
