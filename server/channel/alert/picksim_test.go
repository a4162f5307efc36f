package alert

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/server/channel/change"
	"github.com/firstpick/firstpick/server/channel/picks"
	"github.com/firstpick/firstpick/server/store/state"
)

// A nightly measures three tools every night: 10 prompts, 2 agents, 6 repeats are 120 trials.
type nightly struct {
	r       *rand.Rand
	history *nights.History
	shift   []float64 // of each prompt: some suit the first tool more than others
	night   int
}

func newNightly(seed uint64) *nightly {
	n := &nightly{r: rand.New(rand.NewPCG(21, seed)), history: nights.New("mail")}
	for range 10 {
		n.shift = append(n.shift, 0.3*(n.r.Float64()-0.5))
	}
	return n
}

// measure adds a night with these rates of the tools; the rest of the answers pick none.
func (n *nightly) measure(rates ...float64) *picks.Measured {
	at := now.Add(time.Duration(n.night) * day)
	n.night++
	night := nights.Night{At: at, Prompts: map[string]string{}, Models: map[string]string{"opus": "m", "gpt": "m"}}
	names, counts := []string{"Acme", "Rival", "Third"}, make([]int, 3)
	slugs := []string{"acme", "rival", "third"}
	for p, shift := range n.shift {
		prompt := fmt.Sprint("e/", p)
		night.Prompts[prompt] = "text"
		for _, agent := range []string{"opus", "gpt"} {
			for repeat := range 6 {
				t := nights.Trial{ID: fmt.Sprint(p, agent, repeat), FinishedAt: at, Prompt: prompt, Agent: agent}
				x := n.r.Float64()
				for i, rate := range rates {
					switch i {
					case 0:
						rate += shift
					case 1:
						rate -= shift
					}
					if x -= rate; x < 0 {
						t.Picked = slugs[i]
						counts[i]++
						break
					}
				}
				night.Trials = append(night.Trials, t)
			}
		}
	}
	board := analytics.Board{Category: "mail", Name: "Mail", Field: 3, AsOf: &at, NTrials: 120, Agents: []analytics.AgentBoard{{Agent: "gpt"}, {Agent: "opus"}}}
	for i := range names {
		rate := float64(counts[i]) / 120
		rank := 1
		for _, c := range counts {
			if c > counts[i] {
				rank++
			}
		}
		board.Tools = append(board.Tools, analytics.Standing{Rank: rank, Tool: names[i], Slug: slugs[i], PickRate: rate, CILow: max(0, rate-0.09), CIHigh: min(1, rate+0.09), Picks: counts[i], NTrials: 120})
	}
	night.Board = board
	n.history.Add(night)
	board.Prompts = []analytics.Prompt{{Prompt: "e/0", NTrials: 12, Tools: []analytics.PromptTool{{Slug: "acme", Picks: 1}, {Slug: "rival", Picks: 9}}}}
	return &picks.Measured{Source: picks.Public, URL: "https://firstpick.example/tools/acme", Slug: "acme", Board: board, Nights: n.history.Series().Nights}
}

// evaluate is a look at a measurement with the open alerts of the looks before.
func evaluate(m *picks.Measured, at time.Time, open []Open) (sent []change.Condition, next []Open) {
	diff := Compare(change.Facts{Now: at, Picks: &change.Picks{Since: now, Tool: m}}, open)
	over := map[string]bool{}
	for _, o := range diff.Over {
		over[o.What+o.Subject] = true
	}
	held := map[string]time.Time{}
	for _, o := range diff.Held {
		held[o.What+o.Subject] = o.Seen
	}
	for _, o := range open {
		if seen, ok := held[o.What+o.Subject]; ok {
			o.Seen = seen
		}
		if !over[o.What+o.Subject] {
			next = append(next, o)
		}
	}
	for _, c := range diff.New {
		next = append(next, Open{c.Alert, c.Subject, at, c.Seen})
	}
	return diff.New, next
}

// years is the number of simulated years. With 60 and no alarm, the bound below is under 5 %.
// FIRSTPICK_TRIES=1000 gives the figures of /docs/webhooks.
func years() int {
	if n, err := strconv.Atoi(os.Getenv("FIRSTPICK_TRIES")); err == nil {
		return n
	}
	return 60
}

// upperBound returns the one-sided 95 % confidence bound (Clopper, Pearson) of a probability
// after k of n.
func upperBound(k, n int) float64 {
	atMost := func(p float64) (sum float64) { // the probability of k or fewer
		term := math.Pow(1-p, float64(n))
		for i := 0; i <= k; i++ {
			sum += term
			term *= float64(n-i) / float64(i+1) * p / (1 - p)
		}
		return sum
	}
	low, high := float64(k)/float64(n), 1.0
	for range 60 {
		if mid := (low + high) / 2; atMost(mid) > 0.05 {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// nullRates are the rates of a year without a change.
func nullRates(year int) []float64 {
	return [][]float64{{0.60, 0.20, 0.10}, {0.42, 0.42, 0.10}, {0.30, 0.45, 0.15}, {0.40, 0.36, 0.20}}[year%4]
}

// TestNullYears: in a year of 365 nights without a change, a false alarm is rarer than one
// year in twenty, with a confidence of 95 %. Each year is a workspace of one store, which the
// server looks at every night; what counts is a stored alert or a mail.
func TestNullYears(t *testing.T) {
	n := years()
	b := newBench(t, "sqlite")
	sims, latest := map[string]*nightly{}, map[string]*picks.Measured{}
	b.Picks = func(_ context.Context, workspace, _ string) (*picks.Measured, error) { return latest[workspace], nil }
	for year := range n {
		w := fmt.Sprintf("year-%04d", year)
		sims[w] = newNightly(uint64(year))
		b.write(func(tx *state.Tx) error {
			_, err := tx.AddWorkspace(t.Context(), &state.Workspace{ID: w, Slug: w, OwnerID: "acc", ClaimedAt: now, CreatedAt: now})
			return err
		})
		if err := b.FollowTool(t.Context(), w, "acc", "acme", false); err != nil {
			t.Fatal(err)
		}
	}
	for range 365 {
		for year := range n {
			w := fmt.Sprintf("year-%04d", year)
			latest[w] = sims[w].measure(nullRates(year)...)
		}
		b.clock.add(day)
		for due := n; due > 0; due -= lookMost {
			if err := b.LookAtPicks(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	alarmed := map[string]bool{}
	for w := range sims {
		list, err := b.DB.Read().Alerts(t.Context(), w, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range list {
			alarmed[w] = true
			t.Logf("%s, %s: %s", w, a.At.Format(time.DateOnly), a.Summary)
		}
	}
	bound := upperBound(len(alarmed), n)
	t.Logf("%d of %d years without a change have an alarm: at most %.1f %% with a confidence of 95 %%", len(alarmed), n, 100*bound)
	if mails := len(b.mails()); bound > 0.05 || (mails > 0) != (len(alarmed) > 0) {
		t.Errorf("the bound is %.1f %%, %d mails", 100*bound, mails)
	}
}

// A drop from 0.60 to 0.40 is sent once in the year, and so is the rival that gains.
func TestPlantedDrops(t *testing.T) {
	n := max(4, years()/10)
	for year := range n {
		sim := newNightly(uint64(1000 + year))
		var open []Open
		got := map[string][]int{}
		for night := range 365 {
			rates := []float64{0.60, 0.20, 0.10}
			if night >= 60 {
				rates = []float64{0.40, 0.45, 0.10}
			}
			m := sim.measure(rates...)
			for look := range 4 { // several looks a night
				var sent []change.Condition
				sent, open = evaluate(m, m.Newest().At.Add(time.Duration(1+look)*time.Hour), open)
				for _, c := range sent {
					got[c.Alert] = append(got[c.Alert], night)
				}
			}
		}
		if drops := got["pick_rate_drop"]; len(drops) != 1 || drops[0] < 60 || drops[0] > 67 {
			t.Errorf("year %d: drops sent on nights %v, want one soon after 60", year, drops)
		}
		if leads := got["rival_overtook"]; len(leads) > 1 || len(leads) == 1 && leads[0] < 60 {
			t.Errorf("year %d: leads sent on nights %v", year, leads)
		}
		t.Logf("year %d: %v", year, got)
	}
}

// A cause that comes and goes is sent at most once a day; evidence of a drop that wavers is
// sent once.
func TestCausesThatComeAndGo(t *testing.T) {
	lines := func(at time.Time, edit func(*nights.Line)) *picks.Measured {
		l := nights.Line{At: at, Tools: []nights.Tool{{Slug: "acme", PickRate: 0.4}}, Delta: nights.Delta{Coverage: -1}}
		edit(&l)
		return &picks.Measured{Source: picks.Public, Slug: "acme", Nights: []nights.Line{{At: at.Add(-day), Tools: l.Tools}, l}}
	}
	drop := func(l *nights.Line) {
		l.Tools[0].Shown = []nights.Shown{{Agent: nights.AllAgents, Direction: nights.Drop, E: 99, Since: l.At}}
	}
	for name, c := range map[string]struct {
		edit     func(*nights.Line)
		on, off  time.Duration
		min, max int // alerts in 30 days
	}{
		"a drop that wavers by night":   {drop, day, day, 1, 1},
		"a drop that wavers by week":    {drop, 7 * day, 7 * day, 1, 1},
		"a weak drop":                   {func(l *nights.Line) { drop(l); l.Tools[0].Shown[0].E = 19 }, day, day, 0, 0},
		"an agent that comes and goes":  {func(l *nights.Line) { l.Delta.MissingAgents = []string{"opus"} }, 5 * time.Hour, 5 * time.Hour, 1, 1},
		"an agent missing every second": {func(l *nights.Line) { l.Delta.MissingAgents = []string{"opus"} }, day, 2 * day, 10, 10},
	} {
		t.Run(name, func(t *testing.T) {
			var open []Open
			var last time.Time
			n := 0
			for hour := range 30 * 24 {
				since := time.Duration(hour) * time.Hour
				edit := c.edit
				if since%(c.on+c.off) >= c.on {
					edit = func(*nights.Line) {}
				}
				at := now.Add(since)
				var sent []change.Condition
				if sent, open = evaluate(lines(at, edit), at, open); len(sent) == 0 {
					continue
				}
				if n += len(sent); !last.IsZero() && at.Sub(last) < day {
					t.Errorf("sent twice within %v", at.Sub(last))
				}
				last = at
			}
			if n < c.min || n > c.max {
				t.Errorf("%d alerts, want %d to %d", n, c.min, c.max)
			}
		})
	}
}
