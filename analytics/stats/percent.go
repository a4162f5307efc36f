package stats

import "math"

// Percent returns a rate of 0 to 1 in per cent, rounded to one decimal, halves away from
// zero: 706 of 800 is 88.3. A half that the binary form of the rate misses by its last bits
// is a half, so that every view of a rate shows the same number.
func Percent(rate float64) float64 {
	tenths := 1000 * rate
	return math.Round(tenths+math.Copysign(1e-9, tenths)) / 10
}
