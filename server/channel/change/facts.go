package change

import "time"

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// The thresholds of all kinds. The numbers are judgement: an alert that a reader
// learns to skip is worse than one too few.
const (
	// settleTime is how long the agents of a new workspace are not reported one by
	// one, because all are new. Then one summary follows, at most summaryUntil old.
	settleTime   = day
	summaryUntil = 3 * day
	// newWithin is how old the first visit of a new agent may be: logs may be days late.
	newWithin = 3 * day

	spikeMin    = 50 // visits in the window
	spikeBefore = 10 // in the baseline: fewer are too few for a comparison
	spikeTimes  = 3  // the rate of the baseline

	burstMin   = 50 // spoofed visits in an hour
	burstTimes = 10 // the average hour of the baseline

	clusterPages  = 10 // different missing pages of a folder, or
	clusterMisses = 30 // requests for any
	clusterTimes  = 10 // the rate of the baseline

	dropMin = 50 // fetches a week ago, and in an average window: small numbers halve by chance

	// silenceGrace is for sites that send their logs once a day, never quite on time.
	silenceTime  = day
	silenceGrace = 30 * time.Minute
	silenceDays  = 3 // days with events, of the last seven with any

	listMax = 20 // agents or paths in one alert
)

// RecentWindow is the window that alerts look at. It ends with the last event and
// not now, so that logs which are sent once a day are whole days.
const RecentWindow = day

// Baseline returns the time with which a window is compared, right before it:
// four times as long, but a week at least and 90 days at most.
func Baseline(window time.Duration) time.Duration {
	return min(max(4*window, week), 90*day)
}

// WeekAgo returns the same times of a window one week earlier, which know
// weekends. It returns false for a window that holds whole weeks itself.
func WeekAgo(from, to time.Time) (time.Time, time.Time, bool) {
	return from.Add(-week), to.Add(-week), to.Sub(from) <= week
}

// Facts are the data about a workspace at Now. Backfilled events count only for the
// time of an agent's first visit.
type Facts struct {
	Now     time.Time
	FirstAt time.Time // of the first event; zero without events
	LastAt  time.Time // of the last event
	Days    int       // days in UTC with events, of the seven that end with LastAt's
	// WatchedSince is since when servers ran without a longer pause; zero for always.
	WatchedSince time.Time
	// SilentSince is LastAt of an open silence alert; zero without one.
	SilentSince time.Time
	// Traffic is nil while the reports are behind: nothing about visits is then
	// detected, or over.
	Traffic *Traffic
	// Picks is nil for facts about visits alone: nothing about picks is then detected, or
	// over.
	Picks *Picks
}

// Traffic counts visits of a window, and of the baseline before it.
type Traffic struct {
	From, To time.Time
	Agents   []Agent // of the headline classes, with visits in the window or baseline
	// Spoofed are the hours of the window with spoofed visits.
	Spoofed []Hour
	Missing []Folder // with most misses first
}

// An Agent is an agent's visits.
type Agent struct {
	Name, Class                         string
	FirstAt                             time.Time // first visit ever, not spoofed; backfilled ones count
	Visits, Before, WeekAgo             int64     // in the window, the baseline, and a week before the window; not spoofed
	Spoofed, SpoofedBefore              int64
	SinceInWindow, SpoofedSinceInWindow time.Time // first of these in the window
}

// An Hour is an hour by the clock, with its spoofed visits.
type Hour struct {
	Start  time.Time
	Visits int64
}

// A Folder is where agents miss pages.
type Folder struct {
	Host, Path string // the path's first two segments
	Misses     int64
	Pages      int64 // different ones
	Before     int64 // misses in the baseline
	Agents     []string
	Examples   []string // paths
	FirstAt    time.Time
}

// Many reports whether the misses are enough for an alert, if they are new.
func (f *Folder) Many() bool { return f.Pages >= clusterPages || f.Misses >= clusterMisses }

func (t *Traffic) window() time.Duration   { return t.To.Sub(t.From) }
func (t *Traffic) baseline() time.Duration { return Baseline(t.window()) }

// expected returns how many visits a window has at the rate of the baseline.
func (t *Traffic) expected(before int64) float64 {
	return float64(before) * t.window().Seconds() / t.baseline().Seconds()
}

// exceeds reports whether now is at least times the rate of the baseline.
func (t *Traffic) exceeds(now, before int64, times float64) bool {
	return float64(now)*t.baseline().Seconds() >= times*float64(before)*t.window().Seconds()
}

// absent lets an alert close when its condition did not hold for a time.
func absent(d time.Duration) func(*Facts, time.Time) bool {
	return func(f *Facts, seen time.Time) bool { return f.Traffic != nil && f.Now.Sub(seen) >= d }
}
