package limiter

import (
	"math/bits"
	"time"
)

// shortest is the length of a block at the lowest level, and the least time over
// which a rate is measured.
const shortest = 50 * time.Millisecond

// A history counts accepted attempts between blocks of each length: level i restarts
// after a block of at least 2^i times shortest. A quota per minute shows between blocks
// of its own length, however many single attempts were refused in between.
type history struct {
	accepted int // ever
	levels   [18]mark
}

type mark struct {
	at       time.Time
	accepted int
}

// A cycle is the time from the end of one block to the end of the next.
type cycle struct {
	length   time.Duration
	accepted int
}

// accept counts a clean answer. Cycles go from answer to answer, so the first one
// opens the first.
func (h *history) accept(now time.Time) {
	if h.accepted == 0 {
		for i := range h.levels {
			h.levels[i].at = now
		}
	}
	h.accepted++
}

// close ends a block and returns the cycle since the last block of at least half its
// length.
func (h *history) close(now time.Time, blocked time.Duration) cycle {
	level := min(bits.Len64(uint64(max(0, blocked)/shortest)), len(h.levels)-1)
	if h.accepted == 0 {
		return cycle{}
	}
	from := h.levels[max(0, level-1)]
	for i := range level {
		h.levels[i] = mark{now, h.accepted}
	}
	return cycle{now.Sub(from.at), h.accepted - from.accepted}
}

// rate is the accepted attempts per second of the cycle, excluding some of its time.
func (c cycle) rate(without time.Duration) float64 {
	return float64(c.accepted) / max(c.length-without, shortest).Seconds()
}
