package chart

import (
	"strconv"
	"strings"
	"time"
)

// Money writes US dollars: $12.40, $0.0031, nothing smaller than a ten-thousandth.
func Money(usd float64) string {
	switch {
	case usd == 0:
		return "$0"
	case usd < 0.0001:
		return "under $0.0001"
	case usd < 0.1:
		text := strconv.FormatFloat(usd, 'f', 4, 64)
		return "$" + text[:4] + strings.TrimRight(text[4:], "0") // two decimals or more
	}
	whole, cents, _ := strings.Cut(strconv.FormatFloat(usd, 'f', 2, 64), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil { // too large for an int64
		return "$" + whole
	}
	return "$" + Whole(n) + "." + cents
}

// MaybeMoney formats an amount of dollars that may be unknown.
func MaybeMoney(usd *float64) string {
	if usd == nil {
		return "unknown"
	}
	return Money(*usd)
}

// Minute writes a time of the day, UTC.
func Minute(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04") }

// Duration writes how long something took: 41 s, 3 min 20 s, 2 h 5 min.
func Duration(d time.Duration) string {
	d = d.Round(time.Second)
	h, m, s := int(d/time.Hour), int(d/time.Minute)%60, int(d/time.Second)%60
	switch {
	case h > 0:
		return strconv.Itoa(h) + " h " + strconv.Itoa(m) + " min"
	case m > 0:
		return strconv.Itoa(m) + " min " + strconv.Itoa(s) + " s"
	}
	return strconv.Itoa(s) + " s"
}

// Seconds writes the milliseconds that an answer took.
func Seconds(ms int64) string {
	if ms < 60_000 {
		return strconv.FormatFloat(float64(ms)/1000, 'f', 1, 64) + " s"
	}
	return Duration(time.Duration(ms) * time.Millisecond)
}
