package limiter

import (
	"math"
	"time"
)

const (
	// climbed is the part of the way back to a refused rate, see pace.x, after which a
	// real limit would refuse. An earlier refusal is early.
	climbed = -0.3
	// testEarly early refusals in a row, or testLate others, start a test; each test
	// that finds a limit doubles the numbers, up to mostDoubt times.
	testEarly, testLate = 3, 10
	mostDoubt           = 6
	// slow is the rate, per second, below which a test takes long: early refusals have to
	// be twice as many, and others four times.
	slow = 3.0
	// blockedTries refusals one after the other are a limit.
	blockedTries = 3
	// testSteps refusals, each below testTop of the rate of the one before and after testClean clean
	// answers, prove noise.
	testSteps, testClean = 5, 4
	// testBase and testTop are the parts of the refused rate at which a step begins and
	// ends; a step needs the clean answers of testTime at that rate, at least leastTest
	// and at most mostTest.
	testBase, testTop   = 0.6, 0.8
	leastTest, mostTest = 30.0, 150.0
	testTime            = 150 * time.Second
	// noiseRise times the noise, and noiseSlack, is the share of refusals that is
	// tolerated, noiseExcess the refusals beyond it that are a limit (a one-sided CUSUM).
	noiseRise   = 1.5
	noiseSlack  = 0.04
	noiseExcess = 9
	// noiseMemory is the number of answers in the mean share of refusals, noiseMost the
	// highest share of noise. If a limit follows so soon, the refusals were not noise.
	noiseMemory = 300.0
	noiseLeast  = 0.005
	noiseMost   = 0.2
)

// A noise detects random refusals, independent of the load. A limit refuses near its
// rate and not below: if refusals continue while the rate falls to a third, they are
// noise, and slowing down for them gains nothing.
type noise struct {
	early, late int // refusals since the latest test or limit
	doubt       int // tests that found a limit
	// step is the current step of a test; 0 if none. from is the rate before it, tested
	// that of its latest refusal.
	step         int
	from, tested float64
	clean        int // answers since the latest refusal
	total        int // clean answers of the test
	// share of the attempts is refused at random; 0 while no noise is known.
	share  float64
	excess float64 // of refusals over that
}

// answer counts a clean answer; below means that the pace is well below the limit.
func (n *noise) answer(below bool) {
	n.clean++
	if n.share == 0 {
		return
	}
	n.excess = max(0, n.excess-n.expected())
	if below {
		n.share -= n.share / noiseMemory
	}
	if n.share < noiseLeast {
		*n = noise{doubt: n.doubt}
	}
}

// tolerates counts a refusal while noise is known, and reports whether it is noise.
func (n *noise) tolerates(below bool) bool {
	if n.share == 0 {
		return false
	}
	if below {
		n.share = min(noiseMost, n.share+(1-n.share)/noiseMemory)
	}
	n.excess += 1 - n.expected()
	if n.excess < noiseExcess {
		return true
	}
	n.excess = 0
	return false
}

// expected is the highest share of refusals that counts as noise.
func (n *noise) expected() float64 { return n.share*noiseRise + noiseSlack }

// refuse counts a refusal at a rate that began an episode, and reports whether it is
// noise.
func (n *noise) refuse(p *pace, rate float64) bool {
	clean := n.clean
	n.clean = 0
	switch {
	case n.share > 0: // a limit behind the noise
	case n.step > 0 && clean < testClean:
		n.tested *= shrink
	case n.step > 0:
		n.step, n.tested = n.step+1, rate
		n.total += clean
		if n.step > testSteps {
			n.share, n.excess = min(noiseMost, testSteps/float64(testSteps+n.total)), 0
			n.step, n.early, n.late = 0, 0, 0
			return true
		}
	case p.rate == 0 || math.IsInf(p.top, 1):
		n.early, n.late = 0, 0
	case p.x < climbed:
		n.early++
	default:
		n.early = 0
		n.late++
	}
	return false
}

// limit forgets refusals that were not noise.
func (n *noise) limit() {
	*n = noise{doubt: min(n.doubt+1, mostDoubt)}
}

// test reports whether the next step of a test is due, after a refusal at a rate.
func (n *noise) test(rate float64) bool {
	early, late := testEarly<<n.doubt, testLate<<n.doubt
	if rate < slow {
		early, late = 2*early, 4*late
	}
	if n.step == 0 && (n.early >= early || n.late >= late) {
		n.step, n.from, n.tested, n.total = 1, rate, rate, 0
	}
	return n.step > 0
}

// scatter resumes the rate before the refusals: they were noise.
func (l *Limiter) scatter(now time.Time) {
	l.episode, l.refused, l.peak = episode{}, false, 0
	l.until = earlier(l.until, now)
	l.pace.unproven(l.noise.from)
	l.pace.next = now
}

// tested ends a step of a test in which nothing was refused: there is a limit, and it
// is near the rate before the step.
func (l *Limiter) tested() {
	if l.noise.step > 0 && l.pace.x >= 0 {
		rate := l.noise.tested
		l.noise.limit()
		l.pace.cut(rate*(1-backOff), rate, growthTime, sureAnswers)
	}
}

// below reports whether the pace is well below a limit that is known.
func (p *pace) below() bool { return p.rate > 0 && !math.IsInf(p.top, 1) && p.x < climbed }

// halve continues well below a rate, for one step of a test.
func (p *pace) halve(rate float64) {
	p.rate, p.base, p.top, p.x = rate*testBase, rate*testBase, rate*testTop, -1
	p.growth, p.answers = 0, min(mostTest, max(leastTest, rate*testTime.Seconds()))
}
