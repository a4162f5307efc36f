package change

import (
	"fmt"
	"time"

	"github.com/firstpick/firstpick/server/kit/chart"
)

// SpoofBurstData describes an hour with many spoofed visits.
type SpoofBurstData struct {
	Hour         time.Time `json:"hour"` // its beginning
	Touches      int64     `json:"touches"`
	UsualPerHour float64   `json:"usualPerHour"` // the average of the week before
	Agents       []string  `json:"agents"`       // the names that were used in the last 24 hours
}

// Describe implements Data.
func (d SpoofBurstData) Describe() (string, []string) {
	return fmt.Sprintf("Spoofing: %s in one hour from addresses outside the ranges of the agents they name.", count(d.Touches, "visit")),
		[]string{
			fmt.Sprintf("The hour began at %s; the usual rate is %.1f per hour.", show(d.Hour), d.UsualPerHour),
			"Names used: " + list(d.Agents),
			"They are counted as spoofed, not as visits of these agents.",
		}
}

func spoofBurst() Kind {
	return Kind{
		Alert: "spoof_burst", Report: "spoof_burst",
		Doc:    fmt.Sprintf("An hour with at least %d spoofed touches, which use agents' names and come from addresses that are not theirs, %d times as many as an hour of the\nweek before had. Repeated when there was none for 24 hours. `hour` (its beginning), `touches`, `usualPerHour`, `agents` (the names that were used in 24\nhours).", burstMin, burstTimes),
		Detect: detectSpoofBurst, Over: absent(day),
		Sentence: func(r *Row, _ time.Duration) string {
			return "Spoofed visits as " + name(r.Agent) + ": " + chart.Whole(r.Now) + "."
		},
	}
}

// detectSpoofBurst finds the last hour that is a burst.
func detectSpoofBurst(f *Facts) []Condition {
	t := f.Traffic
	if t == nil {
		return nil
	}
	before := int64(0)
	for _, a := range t.Agents {
		before += a.SpoofedBefore
	}
	usual := float64(before) / t.baseline().Hours()
	var last *Hour
	for i, h := range t.Spoofed {
		if h.Visits >= burstMin && float64(h.Visits)*t.baseline().Hours() >= burstTimes*float64(before) && (last == nil || h.Start.After(last.Start)) {
			last = &t.Spoofed[i]
		}
	}
	if last == nil {
		return nil
	}
	c := Condition{Seen: last.Start.Add(time.Hour)}
	if f.Now.Before(c.Seen) {
		c.Seen = f.Now
	}
	data := SpoofBurstData{Hour: last.Start, Touches: last.Visits, UsualPerHour: round(usual), Agents: []string{}}
	claimed := ranked(t.Agents, func(a *Agent) int64 { return a.Spoofed })
	for _, a := range claimed {
		c.Rows = append(c.Rows, Row{Agent: a.Name, Class: a.Class, Now: a.Spoofed, Before: a.SpoofedBefore, Since: a.SpoofedSinceInWindow})
		if a.Name != "" && len(data.Agents) < listMax {
			data.Agents = append(data.Agents, a.Name)
		}
	}
	c.Rows, c.Data = c.Rows[:min(len(c.Rows), listMax)], data
	return []Condition{c}
}
