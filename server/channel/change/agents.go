package change

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/channel/agentid"
)

// SeenAgent is an agent that visited.
type SeenAgent struct {
	Agent     string    `json:"agent"`
	Class     string    `json:"class"`
	FirstSeen time.Time `json:"firstSeen"`
	Touches   int64     `json:"touches"` // of the last 24 hours
}

// NewAgentData describes an agent's first visit.
type NewAgentData SeenAgent

// Describe implements Data.
func (d NewAgentData) Describe() (string, []string) {
	return fmt.Sprintf("New agent: %s (%s).", Clean(d.Agent), words(d.Class)),
		[]string{fmt.Sprintf("First visit at %s, %s in the last 24 hours.", show(d.FirstSeen), count(d.Touches, "time"))}
}

func newAgent() Kind {
	return Kind{
		Alert: "new_agent", Report: "new_agent",
		Doc: "An agent that never came before. Agents of a workspace's first day are not reported one by one. `agent`, `class`, `firstSeen`, `touches` (of 24 hours,\nwithout spoofed ones).",
		Detect: func(f *Facts) []Condition {
			var out []Condition
			for _, a := range visitors(f) {
				if a.FirstAt.Before(f.FirstAt.Add(settleTime)) || a.FirstAt.Before(newSince(f)) {
					continue
				}
				row := a.row()
				row.Since = a.FirstAt // which may lie before a short window
				out = append(out, Condition{Subject: a.Name, Seen: f.Now, Data: NewAgentData(seen(&a)), Rows: []Row{row}})
			}
			return out
		},
		Sentence: func(r *Row, _ time.Duration) string {
			return "New agent: " + r.Agent + " visited " + times(r.Now) + "."
		},
	}
}

// newSince returns since when first visits are new: in the window, or in a short one,
// which is that of alerts, so lately that logs may have been late.
func newSince(f *Facts) time.Time {
	if f.Traffic.To.Sub(f.Traffic.From) < newWithin {
		return f.Now.Add(-newWithin)
	}
	return f.Traffic.From
}

// FirstAgentsData describes the agents of a workspace's first day.
type FirstAgentsData struct {
	Total  int         `json:"total"`
	Agents []SeenAgent `json:"agents"` // the most frequent ones
}

// Describe implements Data.
func (d FirstAgentsData) Describe() (string, []string) {
	var details []string
	for _, a := range d.Agents {
		details = append(details, fmt.Sprintf("%s (%s): %s", Clean(a.Agent), words(a.Class), count(a.Touches, "visit")))
	}
	return fmt.Sprintf("First day: %s visited.", count(int64(d.Total), "agent")), details
}

func firstAgents() Kind {
	return Kind{
		Alert: "first_agents",
		Doc:   fmt.Sprintf("A day after the first event, once: the agents of the first day. `total`, and `agents`: the %d that came most, each with the fields of `new_agent`.", listMax),
		Detect: func(f *Facts) []Condition {
			var first FirstAgentsData
			for _, a := range visitors(f) {
				if !a.FirstAt.Before(f.FirstAt.Add(settleTime)) {
					continue
				}
				if first.Total++; len(first.Agents) < listMax {
					first.Agents = append(first.Agents, seen(&a))
				}
			}
			if age := f.Now.Sub(f.FirstAt); first.Total == 0 || age < settleTime || age >= summaryUntil {
				return nil
			}
			return []Condition{{Seen: f.Now, Data: first}}
		},
	}
}

// visitors returns the named agents of the window, the most frequent first.
func visitors(f *Facts) []Agent {
	if f.Traffic == nil {
		return nil
	}
	return ranked(f.Traffic.Agents, func(a *Agent) int64 {
		if a.Name == "" {
			return 0
		}
		return a.Visits
	})
}

// ranked returns the agents with more than zero, those with most first.
func ranked(agents []Agent, by func(*Agent) int64) []Agent {
	out := slices.DeleteFunc(slices.Clone(agents), func(a Agent) bool { return by(&a) <= 0 })
	sorting.Func(out, func(a, b Agent) int {
		return cmp.Or(cmp.Compare(by(&b), by(&a)), strings.Compare(a.Name, b.Name), strings.Compare(a.Class, b.Class))
	})
	return out
}

func seen(a *Agent) SeenAgent { return SeenAgent{a.Name, a.Class, a.FirstAt, a.Visits} }

func (a *Agent) row() Row {
	return Row{Agent: a.Name, Class: a.Class, Now: a.Visits, Before: a.Before, Since: a.SinceInWindow}
}

func spike() Kind {
	return Kind{
		Report: "spike",
		Detect: func(f *Facts) []Condition {
			if f.Traffic == nil {
				return nil
			}
			var out []Condition
			for _, a := range f.Traffic.Agents {
				if a.Visits >= spikeMin && a.Before >= spikeBefore && f.Traffic.exceeds(a.Visits, a.Before, spikeTimes) {
					out = append(out, Condition{Subject: a.Name, Seen: f.Now, Rows: []Row{a.row()}})
				}
			}
			return out
		},
		Sentence: func(r *Row, baseline time.Duration) string {
			return "Spike of " + name(r.Agent) + ": " + compared(r, baseline) + "."
		},
	}
}

// FetchDropData describes a day with few fetches for people.
type FetchDropData struct {
	Fetches     int64   `json:"fetches"` // in 24 hours
	WeekAgo     int64   `json:"weekAgo"` // in the same 24 hours a week earlier
	UsualPerDay float64 `json:"usualPerDay"`
}

// Describe implements Data.
func (d FetchDropData) Describe() (string, []string) {
	return fmt.Sprintf("User fetches dropped: assistants read %s in 24 hours, and %d a week ago.", count(d.Fetches, "page"), d.WeekAgo),
		[]string{fmt.Sprintf("The usual rate is %.0f per day. Check for moved pages, and for a robots.txt or firewall that blocks agents.", d.UsualPerDay)}
}

func fetchDrop() Kind {
	return Kind{
		Alert: "user_fetch_drop", Report: "user_fetch_drop",
		Doc:    fmt.Sprintf("In 24 hours assistants read at most half as many pages for people as in the same hours a week ago, and as on an average day of that week, if those\nwere at least %d. Repeated when the drop was over for seven days. `fetches`, `weekAgo`, `usualPerDay`.", dropMin),
		Detect: detectFetchDrop, Over: absent(week),
		Sentence: func(r *Row, baseline time.Duration) string {
			return "Fewer user fetches by " + name(r.Agent) + ": " + compared(r, baseline) + "."
		},
	}
}

// detectFetchDrop compares with the same hours a week ago, which know weekends,
// and with the average, which knows launches. Silence hides a drop.
func detectFetchDrop(f *Facts) []Condition {
	if f.Traffic == nil || silent(f) {
		return nil
	}
	var now, before, weekAgo int64
	fetchers := slices.DeleteFunc(slices.Clone(f.Traffic.Agents), func(a Agent) bool { return a.Class != string(agentid.UserFetch) })
	for _, a := range fetchers {
		now, before, weekAgo = now+a.Visits, before+a.Before, weekAgo+a.WeekAgo
	}
	halved := func(usual float64) bool { return usual >= dropMin && 2*float64(now) <= usual }
	_, _, comparable := WeekAgo(f.Traffic.From, f.Traffic.To)
	if !halved(f.Traffic.expected(before)) || comparable && !halved(float64(weekAgo)) {
		return nil
	}
	c := Condition{Seen: f.Now, Data: FetchDropData{now, weekAgo, round(float64(before) / f.Traffic.baseline().Hours() * 24)}}
	for _, a := range ranked(fetchers, func(a *Agent) int64 { return a.Before }) { // one at least halved, or all would not
		if 2*float64(a.Visits) <= f.Traffic.expected(a.Before) && len(c.Rows) < listMax {
			c.Rows = append(c.Rows, a.row())
		}
	}
	return []Condition{c}
}
