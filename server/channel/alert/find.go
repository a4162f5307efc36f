package alert

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// The kinds of alerts. They are part of what webhooks get and never change.
const (
	NewAgent        = "new_agent"
	FirstAgents     = "first_agents"
	SpoofBurst      = "spoof_burst"
	NotFoundCluster = "not_found_cluster"
	UserFetchDrop   = "user_fetch_drop"
	Silence         = "silence"
	SilenceOver     = "silence_over"
	Test            = "test"
)

// What is worth a mail. The numbers are judgement: an alert that a reader learns
// to skip is worse than one too few.
const (
	// settleFor is how long agents of a new workspace are not told one by one: all
	// of them are new. Then comes one summary, unless the time for it is past.
	settleFor  = 24 * time.Hour
	summaryFor = 72 * time.Hour
	// newFor is how old an agent's first visit may be. Logs may come days late.
	newFor = 72 * time.Hour

	// A burst is an hour with spoofMin touches at least, and unusualTimes as many as
	// an hour of the baseline has on average.
	spoofMin     = 50
	unusualTimes = 10

	// A cluster is a folder with so many different missing pages, or so many misses,
	// and unusualTimes as many misses as a day of the baseline has on average.
	clusterPages  = 10
	clusterMisses = 30

	// A drop is a day with half the fetches of the same day a week ago, which knows
	// weekends, and of the average day, which knows launches. Both are fetchMin at
	// least, for small numbers halve by chance.
	fetchMin = 50

	// Silence is told of workspaces that had events on silentDays of seven. The
	// grace is for sites that send their logs once a day, never quite on time.
	silentFor    = 24 * time.Hour
	silenceGrace = 30 * time.Minute
	silentDays   = 3

	// kindMax is how many alerts of one kind a workspace gets in 24 hours: names of
	// agents and paths are what strangers send. The others wait.
	kindMax = 10

	listMax = 20 // of agents or paths in one alert
)

// over returns for how long something must not be so until it may be told again;
// false for what is told once for ever, or ends by an event.
func over(what string) (time.Duration, bool) {
	switch what {
	case SpoofBurst, SilenceOver:
		return 24 * time.Hour, true
	case NotFoundCluster, UserFetchDrop:
		return BaselineFor, true // by then it is what is usual
	default:
		return 0, false
	}
}

// A Finding is something that is so.
type Finding struct {
	What    string
	Subject string    // tells findings of a kind apart
	Seen    time.Time // when it was so
	Data    Data
}

// A Told is a finding that was told and is not over.
type Told struct {
	What, Subject string
	At            time.Time // when it was told
	Seen          time.Time // when it was last so
}

// A Result says what to do about findings.
type Result struct {
	New   []Finding // to tell
	Still []Told    // to be noted as seen later than before
	Over  []Told    // to be forgotten, so that it is told when it comes again
}

// Find compares facts with what was told already.
func Find(now time.Time, f Facts, told []Told) Result {
	var out Result
	if f.FirstAt.IsZero() {
		return out
	}
	type key struct{ what, subject string }
	known, lately := map[key]Told{}, map[string]int{}
	for _, t := range told {
		known[key{t.What, t.Subject}] = t
		if now.Sub(t.At) < 24*time.Hour {
			lately[t.What]++
		}
	}
	held := map[key]bool{}
	for _, h := range holds(now, f, told) {
		k := key{h.What, h.Subject}
		if held[k] {
			continue
		}
		held[k] = true
		switch t, was := known[k]; {
		case was && h.Seen.After(t.Seen):
			t.Seen = h.Seen
			out.Still = append(out.Still, t)
		case !was && lately[h.What] < kindMax:
			lately[h.What]++
			out.New = append(out.New, h)
		}
	}
	for _, t := range told {
		if held[key{t.What, t.Subject}] {
			continue
		}
		quiet, ends := over(t.What)
		switch {
		case t.What == Silence && f.LastAt.After(t.Seen), // the events that are back end it
			t.What == SilenceOver && now.Sub(t.Seen) >= quiet,
			ends && t.What != SilenceOver && f.Traffic != nil && now.Sub(t.Seen) >= quiet:
			out.Over = append(out.Over, t)
		}
	}
	return out
}

// holds returns what is so, the most important of each kind first.
func holds(now time.Time, f Facts, told []Told) []Finding {
	var out []Finding
	quiet, silent := silence(now, f)
	if silent {
		out = append(out, quiet)
	} else if back, ok := silenceOver(f, told); ok {
		out = append(out, back)
	}
	if f.Traffic == nil {
		return out
	}
	out = append(out, newAgents(now, f)...)
	if hour, ok := spoofBurst(now, f.Traffic); ok {
		out = append(out, hour)
	}
	out = append(out, clusters(now, f.Traffic)...)
	if drop, ok := fetchDrop(now, f.Traffic.Fetches); ok && !silent {
		out = append(out, drop)
	}
	return out
}

// silence counts only the time in which somebody looked: after a time in which
// the service itself was away, sites get as long again.
func silence(now time.Time, f Facts) (Finding, bool) {
	from := f.LastAt
	if f.Since.After(from) {
		from = f.Since
	}
	return Finding{Silence, "", f.LastAt, SilenceData{LastEventAt: f.LastAt}},
		now.Sub(from) >= silentFor+silenceGrace && f.Days >= silentDays
}

func silenceOver(f Facts, told []Told) (Finding, bool) {
	for _, t := range told {
		if t.What == Silence && f.LastAt.After(t.Seen) {
			return Finding{SilenceOver, stamp(t.Seen), f.LastAt, SilenceOverData{SilentSince: t.Seen, BackAt: f.LastAt}}, true
		}
	}
	return Finding{}, false
}

func newAgents(now time.Time, f Facts) []Finding {
	settled := f.FirstAt.Add(settleFor)
	agents := slices.DeleteFunc(slices.Clone(f.Traffic.Agents), func(a Agent) bool { return a.Name == "" || a.Touches <= a.Spoofed })
	slices.SortFunc(agents, func(a, b Agent) int {
		return cmp.Or(cmp.Compare(b.Touches-b.Spoofed, a.Touches-a.Spoofed), strings.Compare(a.Name, b.Name))
	})
	var out []Finding
	var first FirstAgentsData
	for _, a := range agents {
		seen := SeenAgent{Agent: a.Name, Class: a.Class, FirstSeen: a.FirstAt, Touches: a.Touches - a.Spoofed}
		switch {
		case a.FirstAt.Before(settled):
			first.Total++
			if len(first.Agents) < listMax {
				first.Agents = append(first.Agents, seen)
			}
		case now.Sub(a.FirstAt) <= newFor:
			out = append(out, Finding{NewAgent, a.Name, now, NewAgentData(seen)})
		}
	}
	if age := now.Sub(f.FirstAt); first.Total > 0 && age >= settleFor && age < summaryFor {
		out = append(out, Finding{FirstAgents, "", now, first})
	}
	return out
}

// spoofBurst returns the last hour of the recent time that is a burst.
func spoofBurst(now time.Time, t *Traffic) (Finding, bool) {
	baselineHours := int64(BaselineFor / time.Hour)
	var last *Hour
	for i, h := range t.Spoofed {
		if h.Touches >= spoofMin && h.Touches*baselineHours >= unusualTimes*t.SpoofedBefore && (last == nil || h.Start.After(last.Start)) {
			last = &t.Spoofed[i]
		}
	}
	if last == nil {
		return Finding{}, false
	}
	claimed := slices.DeleteFunc(slices.Clone(t.Agents), func(a Agent) bool { return a.Name == "" || a.Spoofed == 0 })
	slices.SortFunc(claimed, func(a, b Agent) int {
		return cmp.Or(cmp.Compare(b.Spoofed, a.Spoofed), strings.Compare(a.Name, b.Name))
	})
	data := SpoofBurstData{Hour: last.Start, Touches: last.Touches, UsualPerHour: round(float64(t.SpoofedBefore) / float64(baselineHours)), Agents: []string{}}
	for _, a := range claimed[:min(len(claimed), listMax)] {
		data.Agents = append(data.Agents, a.Name)
	}
	seen := last.Start.Add(time.Hour)
	if now.Before(seen) {
		seen = now
	}
	return Finding{SpoofBurst, "", seen, data}, true
}

func clusters(now time.Time, t *Traffic) []Finding {
	baselineDays := int64(BaselineFor / (24 * time.Hour))
	var out []Finding
	for _, c := range t.Missing {
		if !c.Many() || c.Misses*baselineDays < unusualTimes*c.Before {
			continue
		}
		data := NotFoundData{Folder: mask(c.Host + c.Path), Pages: c.Pages, Misses: c.Misses, Agents: []string{}, Examples: []string{}, FirstSeen: c.FirstAt}
		data.Agents = append(data.Agents, c.Agents[:min(len(c.Agents), listMax)]...)
		for _, path := range c.Examples[:min(len(c.Examples), listMax)] {
			if path = mask(path); !slices.Contains(data.Examples, path) {
				data.Examples = append(data.Examples, path)
			}
		}
		out = append(out, Finding{NotFoundCluster, data.Folder, now, data})
	}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Compare(b.Data.(NotFoundData).Misses, a.Data.(NotFoundData).Misses)
	})
	return out
}

func fetchDrop(now time.Time, n Fetches) (Finding, bool) {
	usual := float64(n.Week) / (BaselineFor.Hours() / 24)
	return Finding{UserFetchDrop, "", now, FetchDropData{Fetches: n.Day, WeekAgo: n.WeekAgo, UsualPerDay: round(usual)}},
		n.WeekAgo >= fetchMin && usual >= fetchMin && 2*n.Day <= n.WeekAgo && float64(2*n.Day) <= usual
}
