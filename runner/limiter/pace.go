package limiter

import (
	"math"
	"time"
)

const (
	// backOff is how far below a refused rate a lane continues, and how far above it
	// one unit of growth leads.
	backOff = 0.05
	// growthTime is the least time from a refusal back to the rate that was
	// refused.
	growthTime = 20 * time.Second
	// doublingAnswers is the fewest clean answers after which an unproven rate is
	// doubled.
	doublingAnswers = 10
	// mostRate is practically unlimited.
	mostRate = 1e6
	// slack is how late an attempt may start without delaying later ones.
	slack = 20 * time.Millisecond
)

// A pace is a rate that grows by clean answers. After a refusal it climbs back
// to the rate that was refused, fast at first and slowly near it, and beyond it
// slowly at first and then faster: most of the time is spent near the limit, and
// a limit that was raised is found all the same. The curve is the cubic of CUBIC
// (RFC 9438), over answers in place of time, so that idle time grows nothing.
type pace struct {
	rate float64 // attempts per second; 0 means unlimited
	// top is the refused rate; infinite until a paced attempt was refused.
	top, base float64
	x         float64 // -1 at base, 0 at top
	growth    float64 // seconds, at this pace, per unit of x; and the
	answers   float64 // fewest clean answers
	next      time.Time
	bound     bool // the latest attempt started as soon as the pace allowed
}

// interval is the time between two attempts.
func (p *pace) interval() time.Duration {
	if p.rate == 0 {
		return 0
	}
	return seconds(1 / p.rate)
}

func (p *pace) begin(now time.Time) {
	if p.rate == 0 {
		return
	}
	step := p.interval()
	p.bound = now.Before(p.next.Add(step + slack))
	if earliest := now.Add(-slack); p.next.Before(earliest) {
		p.next = earliest
	}
	p.next = p.next.Add(step)
}

// clean counts a clean answer that took about latency.
func (p *pace) clean(latency time.Duration) {
	if p.rate == 0 || !p.bound {
		return
	}
	if math.IsInf(p.top, 1) {
		p.rate = min(mostRate, p.rate*math.Exp2(1/max(p.rate*latency.Seconds(), doublingAnswers)))
		return
	}
	p.x += 1 / max(p.answers, p.rate*p.growth)
	cube := p.x * p.x * p.x
	if p.x < 0 {
		p.rate = p.top + (p.top-p.base)*cube
	} else {
		p.rate = min(mostRate, p.top*(1+backOff*cube))
	}
}

// unproven continues at a rate that was accepted, without other evidence.
func (p *pace) unproven(rate float64) {
	p.rate, p.top = rate, math.Inf(1)
}

// cut continues at base and climbs to top, over at least the given time and clean
// answers.
func (p *pace) cut(base, top float64, growth time.Duration, answers float64) {
	p.rate, p.base, p.top, p.x = base, base, top, -1
	p.growth, p.answers = max(growth, growthTime).Seconds(), answers
}

// seconds converts to a Duration with an upper limit.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, maxWait.Seconds()) * float64(time.Second))
}
