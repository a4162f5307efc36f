package alert

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/server/channel/change"
)

var now = time.Date(2026, 11, 21, 10, 30, 0, 0, time.UTC)

const (
	hour = time.Hour
	day  = 24 * time.Hour
)

// lively are the facts of a workspace that has been sending for long.
func lively(edit func(*change.Facts)) change.Facts {
	f := change.Facts{Now: now, FirstAt: now.Add(-90 * day), LastAt: now.Add(-time.Minute), Days: 7, WatchedSince: now.Add(-30 * day), Traffic: &change.Traffic{}}
	if edit != nil {
		edit(&f)
	}
	if f.Traffic != nil {
		f.Traffic = lastDay(now, *f.Traffic)
	}
	return f
}

// lastDay returns traffic of the 24 hours before at.
func lastDay(at time.Time, t change.Traffic) *change.Traffic {
	t.From, t.To = at.Add(-day), at
	return &t
}

// names returns conditions as "what subject".
func names(list []change.Condition) []string {
	out := []string{}
	for _, c := range list {
		out = append(out, strings.TrimSpace(c.Alert+" "+c.Subject))
	}
	return out
}

func agent(name string, first time.Time, touches, spoofed int64) change.Agent {
	return change.Agent{Name: name, Class: "user_fetch", FirstAt: first, Visits: touches - spoofed, Spoofed: spoofed}
}

// fetches is an agent that fetches for people.
func fetches(now24, weekAgo, before int64) []change.Agent {
	return []change.Agent{{Name: "A", Class: "user_fetch", FirstAt: now.Add(-80 * day), Visits: now24, WeekAgo: weekAgo, Before: before}}
}

// spoofedBefore is a crawler that was spoofed in the baseline.
func spoofedBefore(n int64) []change.Agent {
	return []change.Agent{{Name: "A", Class: "training_crawler", FirstAt: now.Add(-80 * day), SpoofedBefore: n}}
}

func TestConditions(t *testing.T) {
	silent := func(f *change.Facts) { f.LastAt = now.Add(-day - 30*time.Minute) }
	for name, test := range map[string]struct {
		facts func(*change.Facts)
		want  string
	}{
		"nothing is wrong": {nil, ""},
		"nothing ever came": {func(f *change.Facts) {
			*f = change.Facts{Now: now, WatchedSince: f.WatchedSince, Traffic: &change.Traffic{Agents: []change.Agent{agent("A", now, 1, 0)}}}
		}, ""},
		"a new agent":            {func(f *change.Facts) { f.Traffic.Agents = []change.Agent{agent("A", now.Add(-hour), 1, 0)} }, "new_agent A"},
		"a known agent":          {func(f *change.Facts) { f.Traffic.Agents = []change.Agent{agent("A", now.Add(-(72*hour)-1), 9, 0)} }, ""},
		"new, just so":           {func(f *change.Facts) { f.Traffic.Agents = []change.Agent{agent("A", now.Add(-(72 * hour)), 9, 0)} }, "new_agent A"},
		"only spoofed":           {func(f *change.Facts) { f.Traffic.Agents = []change.Agent{agent("A", now, 3, 3)} }, ""},
		"spoofed but once":       {func(f *change.Facts) { f.Traffic.Agents = []change.Agent{agent("A", now, 3, 2)} }, "new_agent A"},
		"a nameless agent":       {func(f *change.Facts) { f.Traffic.Agents = []change.Agent{agent("", now, 3, 0)} }, ""},
		"two, the busier first":  {func(f *change.Facts) { f.Traffic.Agents = []change.Agent{agent("A", now, 1, 0), agent("B", now, 2, 0)} }, "new_agent B, new_agent A"},
		"the reports are behind": {func(f *change.Facts) { f.Traffic = nil }, ""},
		"first day": {func(f *change.Facts) {
			f.FirstAt = now.Add(-day + 1)
			f.Traffic.Agents = []change.Agent{agent("A", now.Add(-hour), 1, 0)}
		}, ""},
		"first day is over": {func(f *change.Facts) {
			f.FirstAt = now.Add(-day)
			f.Traffic.Agents = []change.Agent{agent("A", now.Add(-hour), 1, 0)}
		}, "first_agents"},
		"first day, nobody came": {func(f *change.Facts) { f.FirstAt = now.Add(-day) }, ""},
		"too late for a summary": {func(f *change.Facts) {
			f.FirstAt = now.Add(-72 * hour)
			f.Traffic.Agents = []change.Agent{agent("A", now.Add(-71*hour), 1, 0)}
		}, ""},
		"first of the second day": {func(f *change.Facts) {
			f.FirstAt = now.Add(-day - hour)
			f.Traffic.Agents = []change.Agent{agent("A", now.Add(-hour), 1, 0), agent("B", now.Add(-hour-1), 1, 0)}
		}, "new_agent A, first_agents"},

		"a burst": {func(f *change.Facts) { f.Traffic.Spoofed = []change.Hour{{Start: now.Add(-2 * hour), Visits: 50}} }, "spoof_burst"},
		"a small burst": {func(f *change.Facts) {
			f.Traffic.Spoofed = []change.Hour{{Start: now.Add(-2 * hour), Visits: 49}, {Start: now.Add(-hour), Visits: 49}}
		}, ""},
		"ten times what is usual": {func(f *change.Facts) {
			f.Traffic.Spoofed, f.Traffic.Agents = []change.Hour{{Start: now, Visits: 100}}, spoofedBefore(1680)
		}, "spoof_burst"},
		"nine times what is usual": {func(f *change.Facts) {
			f.Traffic.Spoofed, f.Traffic.Agents = []change.Hour{{Start: now, Visits: 100}}, spoofedBefore(1681)
		}, ""},
		"pages missing": {func(f *change.Facts) {
			f.Traffic.Missing = []change.Folder{{Host: "acme.dev", Path: "/docs/v2", Pages: 10, Misses: 10}}
		}, "not_found_cluster acme.dev/docs/v2"},
		"one page missing, often": {func(f *change.Facts) {
			f.Traffic.Missing = []change.Folder{{Host: "acme.dev", Path: "/a", Pages: 1, Misses: 30}}
		}, "not_found_cluster acme.dev/a"},
		"few pages missing": {func(f *change.Facts) {
			f.Traffic.Missing = []change.Folder{{Host: "acme.dev", Path: "/a", Pages: 9, Misses: 29}}
		}, ""},
		"missing before, a little": {func(f *change.Facts) {
			f.Traffic.Missing = []change.Folder{{Host: "h", Path: "/a", Pages: 10, Misses: 20, Before: 14}}
		}, "not_found_cluster h/a"},
		"missing before too": {func(f *change.Facts) {
			f.Traffic.Missing = []change.Folder{{Host: "h", Path: "/a", Pages: 10, Misses: 20, Before: 15}}
		}, ""},
		"two folders, masked alike": {func(f *change.Facts) {
			f.Traffic.Missing = []change.Folder{{Host: "h", Path: "/u/1234567", Pages: 10, Misses: 10}, {Host: "h", Path: "/u/7654321", Pages: 10, Misses: 30}}
		}, "not_found_cluster h/u/*"},
		"half the fetches":          {func(f *change.Facts) { f.Traffic.Agents = fetches(25, 50, 350) }, "user_fetch_drop"},
		"more than half":            {func(f *change.Facts) { f.Traffic.Agents = fetches(26, 50, 350) }, ""},
		"half, but of few":          {func(f *change.Facts) { f.Traffic.Agents = fetches(24, 49, 700) }, ""},
		"a weekend":                 {func(f *change.Facts) { f.Traffic.Agents = fetches(60, 60, 2000) }, ""},
		"after a launch a week ago": {func(f *change.Facts) { f.Traffic.Agents = fetches(60, 5000, 420) }, ""},
		"silence":                   {silent, "silence"},
		"not silent yet":            {func(f *change.Facts) { silent(f); f.LastAt = f.LastAt.Add(1) }, ""},
		"silence on few days":       {func(f *change.Facts) { silent(f); f.Days = 2 }, ""},
		"silence on enough days":    {func(f *change.Facts) { silent(f); f.Days = 3 }, "silence"},
		"the service was away":      {func(f *change.Facts) { silent(f); f.WatchedSince = now.Add(-day) }, ""},
		"silence, reports behind":   {func(f *change.Facts) { silent(f); f.Traffic = nil }, "silence"},
		"no drop in silence":        {func(f *change.Facts) { silent(f); f.Traffic.Agents = fetches(0, 100, 1000) }, "silence"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(names(Compare(lively(test.facts), nil).New), ", "); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// An open alert is updated while its condition holds, and closed when it is over.
func TestOpenAlerts(t *testing.T) {
	burst := func(f *change.Facts) { f.Traffic.Spoofed = []change.Hour{{Start: now.Truncate(hour), Visits: 60}} }
	missing := func(f *change.Facts) {
		f.Traffic.Missing = []change.Folder{{Host: "h", Path: "/a", Pages: 10, Misses: 10}}
	}
	back := stamp(now.Add(-2 * day))
	for name, test := range map[string]struct {
		open             Open
		facts            func(*change.Facts)
		fresh, held, end string
	}{
		"a burst goes on":             {Open{"spoof_burst", "", now.Add(-hour), now.Add(-hour)}, burst, "", "spoof_burst", ""},
		"the same burst":              {Open{"spoof_burst", "", now.Add(-hour), now}, burst, "", "", ""},
		"a burst is over":             {Open{"spoof_burst", "", now.Add(-2 * day), now.Add(-day)}, nil, "", "", "spoof_burst"},
		"a burst may come again":      {Open{"spoof_burst", "", now.Add(-2 * day), now.Add(-day + 1)}, nil, "", "", ""},
		"a burst, reports behind":     {Open{"spoof_burst", "", now.Add(-2 * day), now.Add(-2 * day)}, func(f *change.Facts) { f.Traffic = nil }, "", "", ""},
		"pages are missing still":     {Open{"not_found_cluster", "h/a", now.Add(-day), now.Add(-hour)}, missing, "", "not_found_cluster", ""},
		"other pages are missing":     {Open{"not_found_cluster", "h/b", now.Add(-day), now.Add(-hour)}, missing, "not_found_cluster h/a", "", ""},
		"pages are no longer missing": {Open{"not_found_cluster", "h/a", now.Add(-9 * day), now.Add(-7 * day)}, nil, "", "", "not_found_cluster"},
		"an agent stays known":        {Open{"new_agent", "A", now.Add(-900 * day), now.Add(-900 * day)}, nil, "", "", ""},
		"an agent is not sent twice":  {Open{"new_agent", "A", now, now}, func(f *change.Facts) { f.Traffic.Agents = []change.Agent{agent("A", now, 1, 0)} }, "", "", ""},
		"silence goes on":             {Open{silence, "", now.Add(-day), now.Add(-2 * day)}, func(f *change.Facts) { f.LastAt = now.Add(-2 * day) }, "", "", ""},
		"silence, but not watched":    {Open{silence, "", now.Add(-day), now.Add(-2 * day)}, func(f *change.Facts) { f.LastAt, f.WatchedSince = now.Add(-2*day), now }, "", "", ""},
		"silence is over":             {Open{silence, "", now.Add(-day), now.Add(-2 * day)}, nil, "silence_over " + back, "", "silence"},
		"over, the reports behind":    {Open{silence, "", now.Add(-day), now.Add(-2 * day)}, func(f *change.Facts) { f.Traffic = nil }, "silence_over " + back, "", "silence"},
		"over and silent again":       {Open{silence, "", now.Add(-4 * day), now.Add(-5 * day)}, func(f *change.Facts) { f.LastAt = now.Add(-2 * day) }, "", "silence", ""},
		"the news of its end is old":  {Open{"silence_over", back, now.Add(-day), now.Add(-day)}, nil, "", "", "silence_over"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Compare(lively(test.facts), []Open{test.open})
			whats := func(list []Open) string {
				var out []string
				for _, x := range list {
					out = append(out, x.What)
				}
				return strings.Join(out, ", ")
			}
			if fresh := strings.Join(names(got.New), ", "); fresh != test.fresh || whats(got.Held) != test.held || whats(got.Over) != test.end {
				t.Errorf("new %q, held %q, over %q", fresh, whats(got.Held), whats(got.Over))
			}
		})
	}
}

// Names of agents come from outside, so there is a limit to the alerts they cause;
// the others are sent later.
func TestManyNewAgents(t *testing.T) {
	var agents []change.Agent
	for i := range 25 {
		agents = append(agents, agent(fmt.Sprintf("agent-%02d", i), now, 1, 0))
	}
	var open []Open
	total := 0
	for _, step := range []struct {
		at   time.Duration
		want int
	}{{0, 10}, {hour, 0}, {day, 10}, {2 * day, 5}, {3 * day, 0}} {
		at := now.Add(step.at)
		f := lively(func(f *change.Facts) { f.Traffic.Agents, f.LastAt = agents, at })
		f.Now, f.Traffic = at, lastDay(at, *f.Traffic)
		fresh := Compare(f, open).New
		if len(fresh) != step.want {
			t.Errorf("after %v: %q", step.at, names(fresh))
		}
		for _, n := range fresh {
			open = append(open, Open{n.Alert, n.Subject, at, n.Seen})
		}
		total += len(fresh)
	}
	if total != 25 {
		t.Errorf("%d were sent", total)
	}
}

// Whatever happens, in whatever order: an alert is not sent again before it was
// closed, and one for an agent never.
func TestAlertsAreSentOnce(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test's own numbers
		open := map[string]Open{}
		agentsSent := map[string]bool{}
		at := now
		f := lively(nil)
		for range 300 {
			at = at.Add(time.Duration(r.IntN(12)) * hour)
			if r.IntN(3) > 0 {
				f.LastAt = at
			}
			f.Now, f.Days, f.Traffic = at, r.IntN(8), nil
			if r.IntN(8) > 0 {
				known := at.Add(-2000 * hour)
				f.Traffic = lastDay(at, change.Traffic{
					Spoofed: []change.Hour{{Start: at.Truncate(hour), Visits: int64(r.IntN(100))}},
					Missing: []change.Folder{{Host: "h", Path: fmt.Sprintf("/%d", r.IntN(3)), Pages: int64(r.IntN(20)), Misses: int64(r.IntN(60)), Before: int64(r.IntN(60))}},
					Agents: []change.Agent{
						agent(fmt.Sprintf("a%d", r.IntN(40)), at.Add(-time.Duration(r.IntN(100))*hour), int64(r.IntN(5)), int64(r.IntN(5))),
						{Name: "known", Class: "user_fetch", FirstAt: known, SpoofedBefore: int64(r.IntN(2000)), Visits: int64(r.IntN(100)), WeekAgo: int64(r.IntN(200)), Before: int64(r.IntN(1400))},
					},
				})
			}
			var list []Open
			for _, x := range open {
				list = append(list, x)
			}
			slices.SortFunc(list, func(a, b Open) int { return strings.Compare(a.What+a.Subject, b.What+b.Subject) })
			out := Compare(f, list)
			if again := Compare(f, list); !cmp.Equal(out, again) {
				t.Fatal("the same facts give different alerts")
			}
			for _, x := range out.Over {
				if _, was := open[x.What+x.Subject]; !was || x.What == "new_agent" || x.What == "first_agents" {
					t.Fatalf("seed %d: %+v is over", seed, x)
				}
				delete(open, x.What+x.Subject)
			}
			for _, x := range out.Held {
				if !x.Seen.After(open[x.What+x.Subject].Seen) {
					t.Fatalf("seed %d: %+v is not seen later", seed, x)
				}
				open[x.What+x.Subject] = x
			}
			for _, x := range out.New {
				if _, was := open[x.Alert+x.Subject]; was || x.Alert == "new_agent" && agentsSent[x.Subject] {
					t.Fatalf("seed %d: %s %s is sent twice", seed, x.Alert, x.Subject)
				}
				agentsSent[x.Subject] = agentsSent[x.Subject] || x.Alert == "new_agent"
				open[x.Alert+x.Subject] = Open{x.Alert, x.Subject, at, x.Seen}
			}
		}
		if len(agentsSent) == 0 {
			t.Fatalf("seed %d: no new agent was sent", seed)
		}
	}
}
