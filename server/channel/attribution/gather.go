package attribution

import "slices"

// gather merges the touches of the reached nodes within a time, without duplicates and
// in order. Beyond MaxTouches it keeps the first and the last half. The result is valid
// until the next call.
func (c *creditor) gather(x *index, from, to int64) (touches []entry, truncated bool) {
	const half = MaxTouches / 2
	c.lists, c.merged = c.lists[:0], c.merged[:0]
	total := 0
	for _, node := range c.reached {
		if list := x.within(node, from, to); len(list) > 0 {
			c.lists = append(c.lists, list)
			total += len(list)
		}
	}
	// A touch is in two lists at most, its visitor's and its person's. So here are
	// more than MaxTouches, and the halves cannot meet.
	if total > 2*MaxTouches {
		c.take(half, 1)
		c.take(half, -1)
		slices.Reverse(c.merged[half:])
		return c.merged, true
	}
	for _, list := range c.lists {
		c.merged = append(c.merged, list...)
	}
	if len(c.lists) > 1 {
		sortEntries(c.touches, c.merged)
		c.merged = slices.CompactFunc(c.merged, func(a, b entry) bool { return a.touch == b.touch })
	}
	if n := len(c.merged); n > MaxTouches {
		c.merged = slices.Delete(c.merged, half, n-half)
		truncated = true
	}
	return c.merged, truncated
}

// take appends the first n touches of the lists, or with direction -1 the last n
// in reverse order. A heap orders the lists by their next touch, so the cost is that of
// n touches, not of all.
func (c *creditor) take(n, direction int) {
	heap := append(c.heap[:0], c.lists...)
	next := func(list []entry) entry {
		if direction < 0 {
			return list[len(list)-1]
		}
		return list[0]
	}
	sink := func(i int) {
		for {
			least := i
			for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
				if direction*order(c.touches, next(heap[child]), next(heap[least])) < 0 {
					least = child
				}
			}
			if least == i {
				return
			}
			heap[i], heap[least] = heap[least], heap[i]
			i = least
		}
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		sink(i)
	}
	for last := none; n > 0 && len(heap) > 0; sink(0) {
		e := next(heap[0])
		if e.touch != last {
			c.merged = append(c.merged, e)
			last = e.touch
			n--
		}
		if direction < 0 {
			heap[0] = heap[0][:len(heap[0])-1]
		} else {
			heap[0] = heap[0][1:]
		}
		if len(heap[0]) == 0 {
			heap[0] = heap[len(heap)-1]
			heap = heap[:len(heap)-1]
		}
	}
	c.heap = heap
}
