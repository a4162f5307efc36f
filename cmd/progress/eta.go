package progress

import (
	"slices"
	"time"

	"github.com/firstpick/firstpick/runner"
)

// rateOver is the time over which rates are taken: long enough for slow agents to
// answer in it, short enough to follow a limit that changes.
const rateOver = time.Minute

// A mark is how many trials each agent had settled at a moment, in the order of
// the tally's agents.
type mark struct {
	at      time.Time
	settled []int
}

func (t *tally) mark(now time.Time) {
	m := mark{at: now}
	for _, a := range t.agents {
		m.settled = append(m.settled, a.settled())
	}
	t.marks = append(t.marks, m)
	// One mark from before the window stays: rates are taken from it.
	for len(t.marks) > 2 && now.Sub(t.marks[1].at) >= rateOver {
		t.marks = slices.Delete(t.marks, 0, 1)
	}
}

// rate is how many trials of some agents are settled a second, over the last
// minute or since the start; 0 where none was. nil agents are all.
func (t *tally) rate(agents []string, now time.Time) float64 {
	if t.started.IsZero() {
		return 0
	}
	from, n := t.started, 0
	for i, a := range t.agents {
		if agents != nil && !slices.Contains(agents, a.name) {
			continue
		}
		n += a.settled()
		if len(t.marks) > 0 && now.Sub(t.started) > rateOver {
			from = t.marks[0].at
			n -= t.marks[0].settled[i]
		}
	}
	s := now.Sub(from).Seconds()
	if s <= 0 {
		return 0
	}
	return float64(n) / s
}

// An eta is when a run will be done. The slowest lane decides: others wait for it.
type eta struct {
	left  time.Duration
	lane  string // the slowest one; empty where there is one only
	known bool
}

// eta returns the remaining time. It is unknown while the run is paused, and as long as
// a lane with trials left has answered none.
func (t *tally) eta(now time.Time) eta {
	if t.status == nil || t.remote || t.several {
		return t.wholeETA(now)
	}
	if t.status.Paused {
		return eta{}
	}
	out := eta{known: true}
	open := 0
	for _, l := range t.status.Lanes {
		left := l.Waiting + l.InFlight
		if left == 0 || l.Phase == runner.PhaseClosed {
			continue
		}
		open++
		rate := t.rate(l.Agents, now)
		if rate == 0 {
			return eta{}
		}
		d := seconds(float64(left)/rate) + max(0, until(l, now))
		if d > out.left {
			out.left, out.lane = d, l.Name
		}
	}
	if open < 2 {
		out.lane = ""
	}
	return out
}

// wholeETA is reckoned without lanes, from the rate of the whole run.
func (t *tally) wholeETA(now time.Time) eta {
	rate := t.rate(nil, now)
	if t.remote && !t.started.IsZero() && now.After(t.started) { // agents are unknown
		rate = float64(t.done+t.excluded) / now.Sub(t.started).Seconds()
	}
	if rate == 0 || t.ended != (time.Time{}) {
		return eta{}
	}
	return eta{left: seconds(float64(t.run.Planned-t.finished()) / rate), known: true}
}

// until is how long a lane waits yet; 0 where it does not.
func until(l runner.LaneStatus, now time.Time) time.Duration {
	if l.Until.IsZero() {
		return 0
	}
	return l.Until.Sub(now)
}

// seconds makes a duration, of a year at most, for a lane may be as good as still.
func seconds(s float64) time.Duration {
	const year = 365 * 24 * 3600
	return time.Duration(min(s, year) * float64(time.Second))
}

// short prints a duration in two units at most: 45s, 3m20s, 2h5m, 3d4h.
func short(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Hour:
		return d.Round(time.Second).String()
	case d < day:
		return split(d.Round(time.Minute), time.Hour, "h", time.Minute, "m")
	default:
		return split(d.Round(time.Hour), day, "d", time.Hour, "h")
	}
}
