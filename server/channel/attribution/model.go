package attribution

import (
	"cmp"
	"math/bits"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

// weight returns the weight of touch i of n. Last is the place of the last one;
// see lastOf.
func (m Model) weight(i, n, last int) uint64 {
	ends := i == 0 || i == last
	switch m {
	case Last:
		ends = i == last
	case Linear:
		return 1
	case Position:
		// 2(n-2) : 1 ... 1 : 2(n-2) is 40 : 20 shared by n-2 : 40.
		if ends && n > 2 {
			return 2 * uint64(n-2)
		}
		return 1
	default:
		ends = i == 0
	}
	if ends {
		return 1
	}
	return 0
}

// lastOf returns the place of the last touch: of those at the latest time the
// one with the strongest evidence. Position needs two ends, so there it is
// another than the first, if there is another.
func (m Model) lastOf(touches []entry) int {
	last := len(touches) - 1
	for last > 0 && touches[last-1].at == touches[last].at {
		last--
	}
	if m == Position && last == 0 {
		last = len(touches) - 1
	}
	return last
}

// split parts a value by weights, into whole units that add up to it: each part
// is rounded towards zero, and the remaining units go, one each, to the parts with the
// largest remainders; ties go to the earlier part. It writes to parts, which is as long
// as weights. The sum of the weights must be positive and less than 2^64.
func split(value int64, weights []uint64, parts []int64) {
	amount, negative := magnitude(value)
	total := uint64(0)
	for _, w := range weights {
		total += w
	}
	type rest struct {
		of   int
		size uint64
	}
	var few [8]rest
	rests := few[:0]
	left := amount
	for i, w := range weights {
		high, low := bits.Mul64(amount, w)
		whole, remainder := bits.Div64(high, low, total)
		left -= whole
		parts[i] = int64(whole)
		if remainder > 0 {
			rests = append(rests, rest{i, remainder})
		}
	}
	if left > 0 {
		sorting.Func(rests, func(a, b rest) int {
			return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.of, b.of))
		})
		for _, r := range rests[:left] {
			parts[r.of]++
		}
	}
	if negative {
		for i := range parts {
			parts[i] = -parts[i]
		}
	}
}

// magnitude returns the size of a value, which fits even for the least int64.
func magnitude(value int64) (size uint64, negative bool) {
	if value < 0 {
		return -uint64(value), true
	}
	return uint64(value), false
}
