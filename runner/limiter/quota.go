package limiter

import "time"

// A quotaWatch follows the remaining amount of one quota in headers.
type quotaWatch struct {
	left  float64 // attempts until reset, as far as is known
	reset time.Time
	// last and per estimate the amount per attempt: the remainder at the latest answer,
	// and the mean drop between answers.
	last int64
	per  float64
}

// see handles a header. Tokens are converted to attempts by the mean use; until that is
// known only an empty quota counts.
func (q *quotaWatch) see(now time.Time, h Quota, tokens bool) {
	if !h.Known || h.Reset <= 0 || h.Remaining < 0 {
		return
	}
	left := float64(h.Remaining)
	if tokens && h.Remaining > 0 {
		if drop := q.last - h.Remaining; drop > 0 && now.Before(q.reset) {
			q.per = mean(q.per, float64(drop))
		}
		if q.per == 0 {
			left = float64(h.Remaining) // a token at least
		} else {
			left = max(1, left/q.per)
		}
	}
	q.last = h.Remaining
	q.left, q.reset = left, now.Add(min(h.Reset, maxWait))
}

// begin subtracts an attempt from the remainder.
func (q *quotaWatch) begin() { q.left = max(0, q.left-1) }

// at is when the next attempt may start, given the last one, so that the remainder
// lasts until the reset.
func (q *quotaWatch) at(now, last time.Time) time.Time {
	if !now.Before(q.reset) {
		return time.Time{}
	}
	if q.left < 1 {
		return q.reset
	}
	next := last.Add(time.Duration(float64(q.reset.Sub(now)) / q.left))
	if next.After(q.reset) {
		return q.reset
	}
	return next
}

// rate is the quota's attempts per second; 0 means unlimited.
func (q *quotaWatch) rate(now time.Time) float64 {
	if !now.Before(q.reset) {
		return 0
	}
	return q.left / q.reset.Sub(now).Seconds()
}

// mean is a running mean that forgets slowly.
func mean(old, sample float64) float64 {
	if old == 0 {
		return sample
	}
	return old + (sample-old)/8
}
