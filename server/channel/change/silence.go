package change

import (
	"fmt"
	"time"
)

// SilenceData describes that events stopped.
type SilenceData struct {
	LastEventAt time.Time `json:"lastEventAt"`
}

// Describe implements Data.
func (d SilenceData) Describe() (string, []string) {
	return "No events for 24 hours.", []string{
		fmt.Sprintf("Last event at %s. Check that the collector is installed and its key is valid.", show(d.LastEventAt)),
		"We notify you when events arrive again.",
	}
}

func silence() Kind {
	return Kind{
		Alert: "silence", Report: "silence", Page: "settings",
		Doc: fmt.Sprintf("Nothing came for 24 hours, to a workspace that had events on %d days of the week before. Time in which the service itself was down does not count.\n`lastEventAt`.", silenceDays),
		Detect: func(f *Facts) []Condition {
			if !silent(f) {
				return nil
			}
			row := Row{Since: f.LastAt}
			if f.Traffic != nil {
				for _, a := range f.Traffic.Agents {
					row.Now, row.Before = row.Now+a.Visits, row.Before+a.Before
				}
			}
			return []Condition{{Seen: f.LastAt, Data: SilenceData{f.LastAt}, Rows: []Row{row}}}
		},
		Over:     func(f *Facts, seen time.Time) bool { return f.LastAt.After(seen) },
		Sentence: func(*Row, time.Duration) string { return "No events for a day. Check that your site still sends them." },
	}
}

// silent counts only time in which servers ran: after an outage of the service,
// sites get as long again.
func silent(f *Facts) bool {
	from := f.LastAt
	if f.WatchedSince.After(from) {
		from = f.WatchedSince
	}
	return f.Now.Sub(from) >= silenceTime+silenceGrace && f.Days >= silenceDays
}

// SilenceOverData describes that events come again.
type SilenceOverData struct {
	SilentSince time.Time `json:"silentSince"`
	BackAt      time.Time `json:"backAt"`
}

// Describe implements Data.
func (d SilenceOverData) Describe() (string, []string) {
	return "Events arrive again.", []string{fmt.Sprintf("No events from %s to %s.", show(d.SilentSince), show(d.BackAt))}
}

func silenceOver() Kind {
	return Kind{
		Alert: "silence_over",
		Doc:   "Events come again after an alert about silence. `silentSince`, `backAt`.",
		Detect: func(f *Facts) []Condition {
			if f.SilentSince.IsZero() || !f.LastAt.After(f.SilentSince) || silent(f) {
				return nil
			}
			return []Condition{{Subject: f.SilentSince.UTC().Format(time.RFC3339), Seen: f.LastAt, Data: SilenceOverData{f.SilentSince, f.LastAt}}}
		},
		Over: func(f *Facts, seen time.Time) bool { return f.Now.Sub(seen) >= day },
	}
}
