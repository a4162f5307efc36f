package chart

import (
	"strconv"
	"strings"
)

// A Scale is an axis from 0 to Top in steps that are round numbers.
type Scale struct{ Top, Step int64 }

// NewScale returns the scale for values up to most: two to four steps of 1, 2 or
// 5 times a power of ten.
func NewScale(most int64) Scale {
	most = max(most, 1)
	for power := int64(1); ; power *= 10 {
		for _, digit := range []int64{1, 2, 5} {
			step := digit * power
			if n := (most + step - 1) / step; n <= 4 {
				return Scale{n * step, step}
			}
		}
	}
}

// Ticks returns the numbers on the axis, 0 first.
func (s Scale) Ticks() []int64 {
	var out []int64
	for v := int64(0); v <= s.Top; v += s.Step {
		out = append(out, v)
	}
	return out
}

// Whole formats a number with thousands separators: 12,345.
func Whole(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}

// Count writes a number of things: 1 page, 2,000 pages.
func Count[N int | int64](n N, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return Whole(int64(n)) + " " + more
}

// Compact formats a round number shortly: 500, 1.5k, 20k, 3M.
func Compact(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if n >= unit.size {
			return number(float64(n)/float64(unit.size)) + unit.name
		}
	}
	return strconv.FormatInt(n, 10)
}
