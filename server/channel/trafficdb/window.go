package trafficdb

import (
	"time"

	"github.com/firstpick/firstpick/server/channel/traffic"
)

// A Window is the time that a report is about: From <= t < To.
type Window struct {
	From, To time.Time
	// TZ is whose days Trend counts; nil is UTC.
	TZ *time.Location
	// Hours makes Trend count hours of TZ instead of days.
	Hours bool
	// Filter selects touches. Agents, Pages, Gaps, Referrals, Trend, Noise and NeverRead
	// apply it. A Trend with one has no conversions.
	Filter traffic.Filter
}

// always is the window that holds every event.
func always() Window { return Window{To: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)} }

// args returns the arguments of a query that has @window.
func (w Window) args(workspace string, more ...any) []any {
	return append([]any{workspace, micro(w.From), micro(w.To)}, more...)
}

// only returns the arguments of a query that has @window and @only.
func (w Window) only(workspace string, more ...any) []any {
	return w.args(workspace, append([]any{w.Filter.Agent, w.Filter.Page, w.Filter.Assistant, w.Filter.Class}, more...)...)
}

// MaxRows is how many rows of a report one call returns at most.
const MaxRows = 1000

// A Page selects the rows of a report to return.
type Page struct {
	Limit  int // 0 is 100; at most MaxRows
	Offset int
}

func (p Page) args() []any {
	limit := p.Limit
	if limit <= 0 {
		limit = 100
	}
	return []any{min(limit, MaxRows), max(p.Offset, 0)}
}

// maxDays bounds the days of a Trend: about the thirteen months that events are
// kept.
const maxDays = 400

// A span is a day and the moment at which it begins.
type span struct {
	day   string // 2026-11-19
	start time.Time
}

// days returns the days that a window touches, no more than the last maxDays.
// Where clocks are set forward at midnight a day begins at one o'clock.
func (w Window) days() []span {
	if !w.From.Before(w.To) {
		return nil
	}
	tz := w.TZ
	if tz == nil {
		tz = time.UTC
	}
	var out []span
	last := w.To.Add(-time.Microsecond).In(tz)
	for back := range maxDays {
		// Noon exists once on every day.
		noon := time.Date(last.Year(), last.Month(), last.Day()-back, 12, 0, 0, 0, tz)
		start := startOf(noon)
		out = append(out, span{noon.Format(time.DateOnly), start})
		if !start.After(w.From) {
			break
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	if w.Hours {
		return w.hours(out[0].start, tz)
	}
	return out
}

// hours returns the hours of a zone that a window touches, no more than maxDays. Where clocks
// change by half an hour, that hour is longer or shorter.
func (w Window) hours(start time.Time, tz *time.Location) (out []span) {
	for at := start; at.Before(w.To) && len(out) < maxDays; {
		next := at.In(tz).Add(time.Hour)
		next = next.Add(-time.Duration(next.Minute()) * time.Minute)
		if next.After(w.From) {
			out = append(out, span{at.In(tz).Format(traffic.HourLayout), at})
		}
		at = next
	}
	return out
}

// startOf returns the first moment of the day that a noon is in.
func startOf(noon time.Time) time.Time {
	y, m, d := noon.Date()
	start := time.Date(y, m, d, 0, 0, 0, 0, noon.Location())
	if start.Day() != d { // midnight is skipped, and Date fell before the gap
		_, start = start.ZoneBounds()
		return start
	}
	from, _ := start.ZoneBounds()
	if from.IsZero() {
		return start
	}
	// Midnight may have been once before, until clocks were set back.
	_, offset := start.Zone()
	_, before := from.Add(-time.Second).Zone()
	if earlier := start.Add(time.Duration(offset-before) * time.Second); earlier.Before(from) && earlier.Day() == d {
		return earlier
	}
	return start
}
