package limiter

import (
	"math"
	"time"
)

const (
	// blockedShare and blockedIntervals distinguish a used-up quota from a single
	// excess attempt: the share of a cycle, and the intervals of the pace, during which
	// refusals continued.
	blockedShare     = 0.1
	blockedIntervals = 8
	// windowShare is the same share for the first refusal, before which the lane was
	// still growing fast.
	windowShare = 0.3
	// enough is how many answers make a measured rate.
	enough = 10
	// dear is how many times the length of a block is spent below the limit before
	// it is tried again, at most dearest.
	dear    = 20
	dearest = 5 * time.Minute
	// sureAnswers is the fewest clean answers meanwhile, unsureAnswers the fewest
	// where the limit is not well known.
	sureAnswers, unsureAnswers = 40, 25
	// cautious is the remaining factor of a pace that was doubled until refused.
	cautious = 0.75
	// surplus is how far above the mean of a cycle, between two refusals and without
	// long blocks, the limit may be: the pace was below it for a part.
	surplus = 0.03
	// rounding is how much too long a provider's wish to wait may be: most are whole
	// seconds.
	rounding = time.Second
)

// An episode follows a refusal: a pause, then one attempt, and so on with longer pauses
// until one is accepted. A cycle lasts from the end of one episode to the end of the
// next. If it was long blocked, its accepted attempts over its length are the
// provider's limit, whether that is a window or a bucket.
type episode struct {
	on         bool
	initial    bool      // the first of the lane
	since      time.Time // the first refusal
	latest     time.Time // the latest time of an answer that is not an echo
	retryAfter bool      // the provider sent a wait
	pause      time.Duration
	tried      time.Time // time of the first attempt since; zero before
	older      int       // attempts in flight from before
	leastLeft  float64   // of the limit
	rate       float64   // when it began
	again      int       // refusals of attempts since
}

// begin records the first attempt.
func (e *episode) begin(now time.Time) {
	if e.on && e.tried.IsZero() {
		e.tried = now
	}
}

// silent reports whether the episode's attempt ran without a refusal for so long that
// none will come: a refusal is quick, an answer may take long.
func (e *episode) silent(now time.Time) bool {
	return !e.tried.IsZero() && !now.Before(e.tried.Add(silence))
}

// passed reports whether a clean answer now ends the episode. Answers to attempts from
// before the episode do not: those arrive earlier than the answer to an attempt of the
// episode can.
func (e *episode) passed(now time.Time, latency time.Duration) bool {
	if e.older > 0 {
		e.older--
		return !e.tried.IsZero() && !now.Before(e.tried.Add(min(latency/2, echoTimeout)))
	}
	return e.on
}

// echo reports whether a refusal now belongs to an attempt from before the latest step.
func (e *episode) echo(now time.Time, latency time.Duration) bool {
	return e.on && (e.tried.IsZero() || now.Before(e.latest.Add(min(latency, echoTimeout))))
}

// refuse counts a refusal. A refusal of an attempt from before the slowdown lowers the
// limit to the attempts in flight, and no further.
func (l *Limiter) refuse(now time.Time, retryAfter bool, others int) {
	e := &l.episode
	if e.echo(now, l.latency()) && others > 0 {
		e.retryAfter = e.retryAfter || retryAfter
		e.older = max(0, e.older-1)
		l.lower(others)
		return
	}
	if !e.on {
		rate := l.pace.rate
		if rate == 0 {
			rate = l.unprovenRate(now)
		}
		if l.noise.refuse(&l.pace, rate) {
			l.scatter(now)
			return
		}
		e.on, e.since, e.older, e.rate = true, now, others, rate
		e.leastLeft = max(1, l.limit*shrink)
		l.lower(others)
		if !l.refused {
			l.refused, e.initial = true, true
			l.pace.unproven(l.unprovenRate(now))
		}
		e.pause = max(l.pace.interval(), leastPause)
	} else {
		e.pause *= 2
		if e.again++; e.again == blockedTries {
			l.noise.limit()
		}
	}
	e.pause = min(e.pause, max(maxPause, l.pace.interval()))
	e.latest, e.retryAfter, e.tried = now, retryAfter, time.Time{}
	if !retryAfter {
		l.until = later(l.until, now.Add(e.pause))
	}
}

// lower reduces the limit to the attempts in flight, but not below the episode's
// minimum.
func (l *Limiter) lower(others int) {
	l.limit = min(l.limit, max(l.episode.leastLeft, float64(others)))
	l.full = 0
}

// unprovenRate is the rate at which attempts were accepted before the first
// refusal.
func (l *Limiter) unprovenRate(now time.Time) float64 {
	open := max(now.Sub(l.first), shortest)
	return float64(max(1, l.history.accepted)) / open.Seconds()
}

// release ends an episode and sets the pace from its cycle. If refusals continued for
// long, the accepted rate of the cycle is the limit: least, or best if the block ended
// before the limiter noticed. Otherwise the pace was a little too high.
func (l *Limiter) release(now time.Time) {
	e, p := &l.episode, &l.pace
	blocked := now.Sub(e.since)
	c := l.history.close(now, blocked)
	most := now.Sub(e.latest) // so much of the block may have been needless
	if e.retryAfter {
		most = min(blocked, rounding)
	}
	surely := blocked - most
	first := math.IsInf(p.top, 1) // nothing was known of the limit so far
	before := max(p.rate, l.peak)
	least, best := c.rate(0), min(before, c.rate(most))
	share := blocked.Seconds() / c.length.Seconds()
	likely := min(math.Sqrt(least*best), best)
	// A well-known limit is probed rarely, the more so the more a refusal cost.
	unsure := max(2*l.latency(), min(c.length, time.Minute))
	sure := max(2*l.latency(), min(dear*blocked, dearest))
	lagging := c.length < 2*l.latency() // most answers of the cycle are still outstanding
	switch {
	case l.noise.share > 0 && c.accepted >= enough: // the limit is behind the noise
		top := min(before, least*(1+surplus)/(1-l.noise.share))
		p.cut(top*shrink, top, sure, sureAnswers)
	case e.initial && (c.accepted == 0 || share < windowShare):
		p.unproven(max(best, p.rate*shrink))
	case lagging:
		l.peak = before
		p.cut(p.rate*shrink, p.rate, sure, sureAnswers)
	case share > blockedShare && c.accepted > 0 && (c.accepted >= enough || surely >= blockedIntervals*p.interval()):
		p.cut(likely*(1-backOff), best, unsure, unsureAnswers)
	case share > blockedShare:
		p.cut(max(p.rate/2, likely), p.rate, unsure, unsureAnswers)
	case first:
		p.cut(p.rate*cautious, p.rate, unsure, unsureAnswers)
	case c.accepted >= enough && p.rate < p.top*(1+2*backOff):
		top := min(before, max(before*shrink, least*(1+surplus)))
		p.cut(top*(1-backOff), top, sure, sureAnswers)
	default:
		p.cut(p.rate*(1-backOff), p.rate, sure, sureAnswers)
	}
	if !lagging {
		l.peak = 0
	}
	if l.noise.test(e.rate) {
		p.halve(l.noise.tested)
	}
	p.next = l.last.Add(p.interval())
	l.episode = episode{}
}
