package alert

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var now = time.Date(2026, 11, 21, 10, 30, 0, 0, time.UTC)

const (
	hour = time.Hour
	day  = 24 * time.Hour
)

// lively are the facts of a workspace that has been sending for long.
func lively(change func(*Facts)) Facts {
	f := Facts{FirstAt: now.Add(-90 * day), LastAt: now.Add(-time.Minute), Days: 7, Since: now.Add(-30 * day), Traffic: &Traffic{}}
	if change != nil {
		change(&f)
	}
	return f
}

// names returns findings as "what subject".
func names(list []Finding) []string {
	out := []string{}
	for _, f := range list {
		out = append(out, strings.TrimSpace(f.What+" "+f.Subject))
	}
	return out
}

func agent(name string, first time.Time, touches, spoofed int64) Agent {
	return Agent{Name: name, Class: "user_fetch", FirstAt: first, Touches: touches, Spoofed: spoofed}
}

func TestWhatIsFound(t *testing.T) {
	silent := func(f *Facts) { f.LastAt = now.Add(-silentFor - silenceGrace) }
	for name, test := range map[string]struct {
		facts func(*Facts)
		want  string
	}{
		"nothing is wrong":       {nil, ""},
		"nothing ever came":      {func(f *Facts) { *f = Facts{Since: f.Since, Traffic: &Traffic{Agents: []Agent{agent("A", now, 1, 0)}}} }, ""},
		"a new agent":            {func(f *Facts) { f.Traffic.Agents = []Agent{agent("A", now.Add(-hour), 1, 0)} }, "new_agent A"},
		"a known agent":          {func(f *Facts) { f.Traffic.Agents = []Agent{agent("A", now.Add(-newFor-1), 9, 0)} }, ""},
		"new, just so":           {func(f *Facts) { f.Traffic.Agents = []Agent{agent("A", now.Add(-newFor), 9, 0)} }, "new_agent A"},
		"only spoofed":           {func(f *Facts) { f.Traffic.Agents = []Agent{agent("A", now, 3, 3)} }, ""},
		"spoofed but once":       {func(f *Facts) { f.Traffic.Agents = []Agent{agent("A", now, 3, 2)} }, "new_agent A"},
		"a nameless agent":       {func(f *Facts) { f.Traffic.Agents = []Agent{agent("", now, 3, 0)} }, ""},
		"two, the busier first":  {func(f *Facts) { f.Traffic.Agents = []Agent{agent("A", now, 1, 0), agent("B", now, 2, 0)} }, "new_agent B, new_agent A"},
		"the reports are behind": {func(f *Facts) { f.Traffic = nil }, ""},
		"first day": {func(f *Facts) {
			f.FirstAt = now.Add(-day + 1)
			f.Traffic.Agents = []Agent{agent("A", now.Add(-hour), 1, 0)}
		}, ""},
		"first day is over": {func(f *Facts) {
			f.FirstAt = now.Add(-day)
			f.Traffic.Agents = []Agent{agent("A", now.Add(-hour), 1, 0)}
		}, "first_agents"},
		"first day, nobody came": {func(f *Facts) { f.FirstAt = now.Add(-day) }, ""},
		"too late for a summary": {func(f *Facts) {
			f.FirstAt = now.Add(-summaryFor)
			f.Traffic.Agents = []Agent{agent("A", now.Add(-71*hour), 1, 0)}
		}, ""},
		"first of the second day": {func(f *Facts) {
			f.FirstAt = now.Add(-day - hour)
			f.Traffic.Agents = []Agent{agent("A", now.Add(-hour), 1, 0), agent("B", now.Add(-hour-1), 1, 0)}
		}, "new_agent A, first_agents"},

		"a burst":                  {func(f *Facts) { f.Traffic.Spoofed = []Hour{{now.Add(-2 * hour), 50}} }, "spoof_burst"},
		"a small burst":            {func(f *Facts) { f.Traffic.Spoofed = []Hour{{now.Add(-2 * hour), 49}, {now.Add(-hour), 49}} }, ""},
		"ten times what is usual":  {func(f *Facts) { f.Traffic.Spoofed, f.Traffic.SpoofedBefore = []Hour{{now, 100}}, 1680 }, "spoof_burst"},
		"nine times what is usual": {func(f *Facts) { f.Traffic.Spoofed, f.Traffic.SpoofedBefore = []Hour{{now, 100}}, 1681 }, ""},
		"pages missing": {func(f *Facts) {
			f.Traffic.Missing = []Folder{{Host: "acme.dev", Path: "/docs/v2", Pages: 10, Misses: 10}}
		}, "not_found_cluster acme.dev/docs/v2"},
		"one page missing, often": {func(f *Facts) { f.Traffic.Missing = []Folder{{Host: "acme.dev", Path: "/a", Pages: 1, Misses: 30}} }, "not_found_cluster acme.dev/a"},
		"few pages missing":       {func(f *Facts) { f.Traffic.Missing = []Folder{{Host: "acme.dev", Path: "/a", Pages: 9, Misses: 29}} }, ""},
		"missing before, a little": {func(f *Facts) {
			f.Traffic.Missing = []Folder{{Host: "h", Path: "/a", Pages: 10, Misses: 20, Before: 14}}
		}, "not_found_cluster h/a"},
		"missing before too": {func(f *Facts) {
			f.Traffic.Missing = []Folder{{Host: "h", Path: "/a", Pages: 10, Misses: 20, Before: 15}}
		}, ""},
		"two folders, masked alike": {func(f *Facts) {
			f.Traffic.Missing = []Folder{{Host: "h", Path: "/u/1234567", Pages: 10, Misses: 10}, {Host: "h", Path: "/u/7654321", Pages: 10, Misses: 30}}
		}, "not_found_cluster h/u/*"},
		"half the fetches":           {func(f *Facts) { f.Traffic.Fetches = Fetches{Day: 25, WeekAgo: 50, Week: 350} }, "user_fetch_drop"},
		"more than half":             {func(f *Facts) { f.Traffic.Fetches = Fetches{Day: 26, WeekAgo: 50, Week: 350} }, ""},
		"half, but of few":           {func(f *Facts) { f.Traffic.Fetches = Fetches{Day: 24, WeekAgo: 49, Week: 700} }, ""},
		"a weekend":                  {func(f *Facts) { f.Traffic.Fetches = Fetches{Day: 60, WeekAgo: 60, Week: 2000} }, ""},
		"after a launch a week ago":  {func(f *Facts) { f.Traffic.Fetches = Fetches{Day: 60, WeekAgo: 5000, Week: 420} }, ""},
		"silence":                    {silent, "silence"},
		"not silent yet":             {func(f *Facts) { silent(f); f.LastAt = f.LastAt.Add(1) }, ""},
		"silence on few days":        {func(f *Facts) { silent(f); f.Days = 2 }, ""},
		"silence on enough days":     {func(f *Facts) { silent(f); f.Days = 3 }, "silence"},
		"the service was away":       {func(f *Facts) { silent(f); f.Since = now.Add(-silentFor) }, ""},
		"silence, reports behind":    {func(f *Facts) { silent(f); f.Traffic = nil }, "silence"},
		"no drop is told in silence": {func(f *Facts) { silent(f); f.Traffic.Fetches = Fetches{WeekAgo: 100, Week: 1000} }, "silence"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(names(Find(now, lively(test.facts), nil).New), ", "); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// What was told is noted while it is so, and forgotten when it is over.
func TestWhatWasTold(t *testing.T) {
	burst := func(f *Facts) { f.Traffic.Spoofed = []Hour{{now.Truncate(hour), 60}} }
	missing := func(f *Facts) { f.Traffic.Missing = []Folder{{Host: "h", Path: "/a", Pages: 10, Misses: 10}} }
	back := stamp(now.Add(-2 * day))
	for name, test := range map[string]struct {
		told              Told
		facts             func(*Facts)
		fresh, still, end string
	}{
		"a burst goes on":             {Told{SpoofBurst, "", now.Add(-hour), now.Add(-hour)}, burst, "", "spoof_burst", ""},
		"the same burst":              {Told{SpoofBurst, "", now.Add(-hour), now}, burst, "", "", ""},
		"a burst is over":             {Told{SpoofBurst, "", now.Add(-2 * day), now.Add(-day)}, nil, "", "", "spoof_burst"},
		"a burst may come again":      {Told{SpoofBurst, "", now.Add(-2 * day), now.Add(-day + 1)}, nil, "", "", ""},
		"a burst, reports behind":     {Told{SpoofBurst, "", now.Add(-2 * day), now.Add(-2 * day)}, func(f *Facts) { f.Traffic = nil }, "", "", ""},
		"pages are missing still":     {Told{NotFoundCluster, "h/a", now.Add(-day), now.Add(-hour)}, missing, "", "not_found_cluster", ""},
		"other pages are missing":     {Told{NotFoundCluster, "h/b", now.Add(-day), now.Add(-hour)}, missing, "not_found_cluster h/a", "", ""},
		"pages are no longer missing": {Told{NotFoundCluster, "h/a", now.Add(-9 * day), now.Add(-7 * day)}, nil, "", "", "not_found_cluster"},
		"an agent stays known":        {Told{NewAgent, "A", now.Add(-900 * day), now.Add(-900 * day)}, nil, "", "", ""},
		"an agent is not told twice":  {Told{NewAgent, "A", now, now}, func(f *Facts) { f.Traffic.Agents = []Agent{agent("A", now, 1, 0)} }, "", "", ""},
		"silence goes on":             {Told{Silence, "", now.Add(-day), now.Add(-2 * day)}, func(f *Facts) { f.LastAt = now.Add(-2 * day) }, "", "", ""},
		"silence, but not watched":    {Told{Silence, "", now.Add(-day), now.Add(-2 * day)}, func(f *Facts) { f.LastAt, f.Since = now.Add(-2*day), now }, "", "", ""},
		"silence is over":             {Told{Silence, "", now.Add(-day), now.Add(-2 * day)}, nil, "silence_over " + back, "", "silence"},
		"over, the reports behind":    {Told{Silence, "", now.Add(-day), now.Add(-2 * day)}, func(f *Facts) { f.Traffic = nil }, "silence_over " + back, "", "silence"},
		"over and silent again":       {Told{Silence, "", now.Add(-4 * day), now.Add(-5 * day)}, func(f *Facts) { f.LastAt = now.Add(-2 * day) }, "", "silence", ""},
		"the news of its end is old":  {Told{SilenceOver, back, now.Add(-day), now.Add(-day)}, nil, "", "", "silence_over"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Find(now, lively(test.facts), []Told{test.told})
			whats := func(list []Told) string {
				var out []string
				for _, x := range list {
					out = append(out, x.What)
				}
				return strings.Join(out, ", ")
			}
			if fresh := strings.Join(names(got.New), ", "); fresh != test.fresh || whats(got.Still) != test.still || whats(got.Over) != test.end {
				t.Errorf("new %q, still %q, over %q", fresh, whats(got.Still), whats(got.Over))
			}
		})
	}
}

// Strangers choose names of agents, so there is a limit to what they make us send;
// who waits is told later.
func TestManyNewAgents(t *testing.T) {
	var agents []Agent
	for i := range 25 {
		agents = append(agents, agent(fmt.Sprintf("agent-%02d", i), now, 1, 0))
	}
	var told []Told
	total := 0
	for _, step := range []struct {
		at   time.Duration
		want int
	}{{0, 10}, {hour, 0}, {day, 10}, {2 * day, 5}, {3 * day, 0}} {
		at := now.Add(step.at)
		f := lively(func(f *Facts) { f.Traffic.Agents, f.LastAt = agents, at })
		fresh := Find(at, f, told).New
		if len(fresh) != step.want {
			t.Errorf("after %v: %q", step.at, names(fresh))
		}
		for _, n := range fresh {
			told = append(told, Told{n.What, n.Subject, at, n.Seen})
		}
		total += len(fresh)
	}
	if total != 25 {
		t.Errorf("%d were told", total)
	}
}

// Whatever happens, in whatever order: what was told is not told again before it
// was over, and an agent never.
func TestToldOnce(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test's own numbers
		told := map[string]Told{}
		agentsTold := map[string]bool{}
		at := now
		f := lively(nil)
		for range 300 {
			at = at.Add(time.Duration(r.IntN(12)) * hour)
			if r.IntN(3) > 0 {
				f.LastAt = at
			}
			f.Days, f.Traffic = r.IntN(8), nil
			if r.IntN(8) > 0 {
				f.Traffic = &Traffic{
					Spoofed: []Hour{{at.Truncate(hour), int64(r.IntN(100))}}, SpoofedBefore: int64(r.IntN(2000)),
					Missing: []Folder{{Host: "h", Path: fmt.Sprintf("/%d", r.IntN(3)), Pages: int64(r.IntN(20)), Misses: int64(r.IntN(60)), Before: int64(r.IntN(60))}},
					Agents:  []Agent{agent(fmt.Sprintf("a%d", r.IntN(40)), at.Add(-time.Duration(r.IntN(100))*hour), int64(r.IntN(5)), int64(r.IntN(5)))},
					Fetches: Fetches{int64(r.IntN(100)), int64(r.IntN(200)), int64(r.IntN(1400))},
				}
			}
			var list []Told
			for _, x := range told {
				list = append(list, x)
			}
			slices.SortFunc(list, func(a, b Told) int { return strings.Compare(a.What+a.Subject, b.What+b.Subject) })
			out := Find(at, f, list)
			if again := Find(at, f, list); !cmp.Equal(out, again) {
				t.Fatal("the same facts give different alerts")
			}
			for _, x := range out.Over {
				if _, was := told[x.What+x.Subject]; !was || x.What == NewAgent || x.What == FirstAgents {
					t.Fatalf("seed %d: %+v is over", seed, x)
				}
				delete(told, x.What+x.Subject)
			}
			for _, x := range out.Still {
				if !x.Seen.After(told[x.What+x.Subject].Seen) {
					t.Fatalf("seed %d: %+v is not seen later", seed, x)
				}
				told[x.What+x.Subject] = x
			}
			for _, x := range out.New {
				if _, was := told[x.What+x.Subject]; was || x.What == NewAgent && agentsTold[x.Subject] {
					t.Fatalf("seed %d: %s %s is told twice", seed, x.What, x.Subject)
				}
				agentsTold[x.Subject] = agentsTold[x.Subject] || x.What == NewAgent
				told[x.What+x.Subject] = Told{x.What, x.Subject, at, x.Seen}
			}
		}
		if len(agentsTold) == 0 {
			t.Fatalf("seed %d: no agent was told", seed)
		}
	}
}

// No person is in what leaves, and nothing in it makes a new line of a mail.
func TestMaskAndClean(t *testing.T) {
	for path, want := range map[string]string{
		"/docs/quickstart.md": "/docs/quickstart.md", "/users/dana@example.com/x": "/users/*/x", "/u/dana%40example.com": "/u/*",
		"/invoice/20261121": "/invoice/*", "/v/12345": "/v/12345", "/blog/2026-11-21-news": "/blog/2026-11-21-news",
		"/tel/555-123-4567": "/tel/*", "/reset/9f86d081884c7d659a2feaa0c55ad015": "/reset/*", "/docs/how-to-upgrade-to-2024-release": "/docs/how-to-upgrade-to-2024-release",
		"/t/" + strings.Repeat("x", 49): "/t/*", "/t/" + strings.Repeat("x", 48): "/t/" + strings.Repeat("x", 48), "": "", "/": "/",
	} {
		if got := mask(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
	for raw, want := range map[string]string{
		"GPTBot": "GPTBot", "a\r\nBcc: b": "a  Bcc: b", "\x00\u202ea": "  a", "caf\u00e9": "caf\u00e9", "\xff": "", strings.Repeat("é", 121): strings.Repeat("é", 120) + "...",
	} {
		if got := clean(raw); got != want {
			t.Errorf("%q: %q", raw, got)
		}
	}
}
