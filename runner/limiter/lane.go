package limiter

import (
	"math"
	"time"
)

// The phases of a lane.
const (
	PhaseProbing   = "probing"    // one attempt alone, as a test
	PhaseSlowStart = "slow start" // doubling
	PhaseSteady    = "steady"     // growing by a little while answers are clean
	PhaseWaiting   = "waiting"    // the provider asked to wait until Until
)

const (
	defaultStart = 20
	defaultMax   = 1024
	// shrink is the least factor of the limit on a refusal, growth the increase per
	// clean round.
	shrink = 0.8
	growth = 0.05
	// maxWait caps a provider's retry-after; an attempt is made after it.
	maxWait = time.Hour
	// maxPause is the longest pause of the limiter's own while refusals continue.
	leastPause, maxPause = 20 * time.Millisecond, 10 * time.Second
	// echoTimeout limits how long an answer counts as an echo of earlier attempts, and
	// how long the answer to a single attempt is awaited.
	echoTimeout = time.Second
	// silence is how long an attempt must run without a refusal to count as accepted.
	silence = 2 * time.Second
	// calmTime is how long growth pauses after a sign of trouble.
	calmTime = 10 * time.Second
	// leastMean is how many answers make the mean latency at least.
	leastMean = 50.0
)

// A Config limits a lane.
type Config struct {
	// Start is the initial number of attempts in flight; 0 means 20. Max is its limit;
	// 0 means 1024.
	Start, Max int
	// Probe makes one attempt alone until the first clean answer.
	Probe bool
}

// A State is the state of a lane.
type State struct {
	// Limit is the current limit of attempts in flight.
	InFlight, Limit, Max int
	// PerSecond is the rate of attempts; 0 means unlimited.
	PerSecond float64
	// Phase is probing, slow start, steady or waiting.
	Phase string
	// Until is the time before which nothing is let go; zero when that is not so.
	Until time.Time
	// Asked counts attempts, Limited those refused by a rate limit.
	Asked, Limited int
}

// A Limiter is the state of one lane; see New.
type Limiter struct {
	max     int
	limit   float64
	probing bool // alone, until the first clean answer
	refused bool // ever: growth is slow from then on

	inFlight, attempts, limits int
	// full counts the clean answers that may still raise the limit, since it was
	// reached: a limit that is not reached is not tried.
	full int

	// first and last are the times of the first and the last attempt, now is the latest
	// call.
	first, last, now time.Time
	// area is the time that attempts were in flight and count their ends, both
	// fading; their ratio is the mean latency (Little's law).
	area, count float64

	pace pace
	// peak is the pace before refusals that are not classified yet; 0 if there are
	// none.
	peak             float64
	requests, tokens quotaWatch
	until, calm      time.Time
	history          history
	episode          episode
	noise            noise
}

// New makes the limiter of a lane.
func New(cfg Config) *Limiter {
	l := &Limiter{probing: cfg.Probe}
	l.limit = float64(cfg.Start)
	if cfg.Start <= 0 {
		l.limit = defaultStart
	}
	l.SetMax(cfg.Max)
	return l
}

// SetMax changes the limit of attempts in flight. Attempts above a lower limit finish.
func (l *Limiter) SetMax(limit int) {
	if limit <= 0 {
		limit = defaultMax
	}
	l.max = limit
	l.limit = min(l.limit, float64(limit))
}

// Ready reports whether an attempt may start now, and if not, when to call again. The
// zero time means: when an attempt ends.
func (l *Limiter) Ready(now time.Time) (ok bool, at time.Time) {
	if l.inFlight >= l.allowed() {
		return false, time.Time{}
	}
	if at = l.next(now); at.After(now) {
		return false, at
	}
	return true, time.Time{}
}

// Begin counts an attempt that starts.
func (l *Limiter) Begin(now time.Time) {
	l.tick(now)
	if l.attempts == 0 {
		l.first = now
	}
	if l.episode.silent(now) {
		l.release(now)
	}
	l.attempts++
	l.inFlight++
	if l.inFlight >= l.allowed() {
		l.full = l.inFlight
	}
	l.last = now
	l.pace.begin(now)
	l.requests.begin()
	l.tokens.begin()
	l.episode.begin(now)
}

// Signal handles a signal during an attempt: an agent CLI reports that it was refused
// and retries.
func (l *Limiter) Signal(now time.Time, s Signal) {
	l.tick(now)
	l.hear(now, s, max(0, l.inFlight-1))
}

// End counts an attempt that ended.
func (l *Limiter) End(now time.Time, s Signal) {
	l.tick(now)
	l.inFlight = max(0, l.inFlight-1)
	forget := 1 - 1/max(leastMean, 4*float64(l.inFlight))
	l.area, l.count = l.area*forget, l.count*forget+1
	if s.Verdict == Limited {
		l.limits++
	}
	l.hear(now, s, l.inFlight)
}

// State returns the state of the lane.
func (l *Limiter) State(now time.Time) State {
	s := State{InFlight: l.inFlight, Limit: l.allowed(), Max: l.max, PerSecond: l.pace.rate, Asked: l.attempts, Limited: l.limits}
	for _, q := range []*quotaWatch{&l.requests, &l.tokens} {
		if r := q.rate(now); r > 0 && (s.PerSecond == 0 || r < s.PerSecond) {
			s.PerSecond = r
		}
	}
	switch until := l.wait(now); {
	case until.After(now):
		s.Phase, s.Until = PhaseWaiting, until
	case l.probing:
		s.Phase = PhaseProbing
	case l.refused:
		s.Phase = PhaseSteady
	default:
		s.Phase = PhaseSlowStart
	}
	return s
}

// allowed is the number of attempts that may be in flight.
func (l *Limiter) allowed() int {
	if l.probing {
		return 1
	}
	needed := math.Ceil(l.pace.rate * l.latency().Seconds()) // or the limit would hold the pace back
	return max(1, min(int(max(l.limit, needed)), l.max))
}

// wait is the time before which no attempt may start: the provider asked to wait, or a
// quota is used up.
func (l *Limiter) wait(now time.Time) time.Time {
	at := l.until
	for _, q := range []*quotaWatch{&l.requests, &l.tokens} {
		if q.left < 1 && now.Before(q.reset) {
			at = later(at, q.reset)
		}
	}
	return at
}

// next is the earliest time for the next attempt.
func (l *Limiter) next(now time.Time) time.Time {
	at := later(l.until, l.pace.next)
	at = later(at, l.requests.at(now, l.last))
	at = later(at, l.tokens.at(now, l.last))
	if !l.episode.tried.IsZero() {
		at = later(at, earlier(l.last.Add(l.episode.pause), l.episode.tried.Add(silence)))
	}
	return at
}

// tick accounts for the time since the last call. Time that runs backwards is ignored.
func (l *Limiter) tick(now time.Time) {
	if l.attempts > 0 && now.After(l.now) {
		l.area += float64(l.inFlight) * now.Sub(l.now).Seconds()
	}
	l.now = later(l.now, now)
}

// latency is the recent average duration of an answer.
func (l *Limiter) latency() time.Duration {
	return seconds(l.area / max(1, l.count))
}

// hear handles a verdict; others are the other attempts in flight.
func (l *Limiter) hear(now time.Time, s Signal, others int) {
	l.requests.see(now, s.Window.Requests, false)
	l.tokens.see(now, s.Window.Tokens, true)
	after := min(max(0, s.After), maxWait)
	switch {
	case s.Verdict != Limited:
	case s.Window.empty():
		l.noise.limit()
	case l.noise.tolerates(l.pace.below()):
		return // the refused attempt waits, the lane does not
	}
	l.until = later(l.until, now.Add(after))
	switch s.Verdict {
	case Clean:
		l.clean(now)
	case Limited:
		l.refuse(now, after > 0, others)
	case Overloaded:
		l.calm = later(l.calm, now.Add(max(calmTime, l.latency())))
	case Neutral:
	}
}

// clean counts an accepted answer, and grows the limit.
func (l *Limiter) clean(now time.Time) {
	l.probing = false
	l.noise.answer(l.pace.below())
	if l.episode.passed(now, l.latency()) {
		l.release(now)
	}
	l.history.accept(now)
	if now.Before(l.calm) {
		return
	}
	l.pace.clean(l.latency())
	l.tested()
	if l.full > 0 {
		l.full--
		step := 1.0
		if l.refused {
			step = growth
		}
		l.limit = min(l.limit+step, float64(l.max))
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
