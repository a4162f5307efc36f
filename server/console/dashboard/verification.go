package dashboard

import (
	"html/template"
	"time"

	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// A verification counts visits by its result: verdicts in their order, and
// the unverified ones by doubt.
type verification struct {
	results [3]int64 // of verdicts; the last one is spoofed
	reasons [4]int64 // of doubts
}

func newVerification(a *traffic.AgentSource) verification {
	named := a.Unverifiable + a.Stale + a.NoIP
	unclaimed := a.Touches - a.Verified - a.Spoofed - named
	return verification{
		results: [3]int64{a.Verified, named + unclaimed, a.Spoofed},
		reasons: [4]int64{a.Unverifiable, a.Stale, a.NoIP, unclaimed},
	}
}

func verificationOf(agents []agentRow) (all verification) {
	for i := range agents {
		for j, n := range agents[i].verification.results {
			all.results[j] += n
		}
		for j, n := range agents[i].verification.reasons {
			all.reasons[j] += n
		}
	}
	return all
}

// verdicts returns the legend of the bar.
func (d *verification) verdicts() []legend {
	var out []legend
	for i, t := range verdicts() {
		t.Key = "v-" + t.Key
		out = append(out, legend{term: t, Total: count(d.results[i])})
	}
	return out
}

// doubts returns the doubts that occur.
func (d *verification) doubts() []legend {
	var out []legend
	for i, t := range doubts() {
		if d.reasons[i] > 0 {
			out = append(out, legend{term: t, Total: count(d.reasons[i])})
		}
	}
	return out
}

// bar draws the verdicts as parts of a whole.
func (d *verification) bar() template.HTML {
	var parts []chart.Part
	for _, l := range d.verdicts() {
		parts = append(parts, chart.Part{Series: chart.Series{Class: l.Key, Name: l.Name}, Value: int64(l.Total)})
	}
	return chart.Split(parts, 0, "Identity: "+spoken(parts))
}

// An advice suggests how to make more visits verifiable.
type advice struct {
	NoIP       count // visits that came without the client's address
	Old, Lists int   // IP lists; no old ones while they are fresh
	Oldest     string
	Spoofed    bool // some visits are
}

func newAdvice(d *verification, lists *traffic.IdentityLists) advice {
	a := advice{Spoofed: d.results[2] > 0}
	for i, t := range doubts() {
		if t.Key == "noip" {
			a.NoIP = count(d.reasons[i])
		}
	}
	if lists != nil && lists.Old > 0 {
		a.Old, a.Lists, a.Oldest = lists.Old, lists.Lists, lists.Oldest
		if day, err := time.Parse(time.DateOnly, lists.Oldest); err == nil {
			a.Oldest = day.Format("2 January 2006")
		}
	}
	return a
}
