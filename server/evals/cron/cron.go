// Package cron computes the times of cron expressions in a time zone: five fields
// (minute, hour, day of month, month, day of week), at most one time an hour.
//
// When clocks change, it does what Vixie cron does. A time that is skipped happens at
// the end of the gap; a time that happens twice counts the first time. Expressions for
// every hour follow elapsed time instead: they have each hour that exists, and a
// repeated hour twice.
package cron

import (
	"fmt"
	"math/bits"
	"strings"
	"time"
	_ "time/tzdata" // minimal containers and Windows have no database of time zones

	"github.com/robfig/cron/v3"
)

// maxLength limits an expression and the name of a zone, in bytes.
const maxLength = 100

// allHours has a bit for each hour.
const allHours = 1<<24 - 1

// noStar selects the numbers of a field: the library marks a star with
// its highest bit.
const noStar = 1<<63 - 1

// An Expression is a valid cron expression in a time zone.
type Expression struct {
	fields *cron.SpecSchedule // in UTC: it computes wall times
	zone   *time.Location
	hourly bool
}

// Parse reads an expression and the IANA name of its zone.
func Parse(expression, zone string) (*Expression, error) {
	if len(expression) > maxLength {
		return nil, fmt.Errorf("cron: the expression has %d bytes; the maximum is %d", len(expression), maxLength)
	}
	if len(strings.Fields(expression)) != 5 || strings.ContainsAny(expression, "@=") {
		return nil, fmt.Errorf("cron: write five fields: minute, hour, day of month, month, day of week, such as 0 6 * * MON (got %q)", expression)
	}
	location, err := loadZone(zone)
	if err != nil {
		return nil, err
	}
	parsed, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(expression)
	if err != nil {
		return nil, fmt.Errorf("cron: %q: %w", expression, err)
	}
	fields, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, fmt.Errorf("cron: %q: not an expression of five fields", expression)
	}
	fields.Location = time.UTC
	if bits.OnesCount64(fields.Minute&noStar) != 1 {
		return nil, fmt.Errorf("cron: the minute must be one number from 0 to 59: a schedule starts at most one run an hour (got %q)", strings.Fields(expression)[0])
	}
	e := &Expression{fields, location, fields.Hour&allHours == allHours}
	if fields.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return nil, fmt.Errorf("cron: %q never happens: no such day exists", expression)
	}
	return e, nil
}

func loadZone(name string) (*time.Location, error) {
	wrong := fmt.Errorf("timeZone: %q is not an IANA time zone; write one such as Europe/Berlin or UTC", name)
	if name == "" || name == "Local" || len(name) > maxLength {
		return nil, wrong
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, wrong
	}
	return zone, nil
}

// Zone returns the time zone.
func (e *Expression) Zone() *time.Location { return e.zone }

// Next returns the first time after t, or the zero time if the next five years have no
// such time.
func (e *Expression) Next(t time.Time) time.Time {
	// Wall times are computed in UTC, where each exists once. Clocks change by less than
	// a day, so the search begins a day earlier.
	for wall := e.fields.Next(wallOf(t.In(e.zone)).AddDate(0, 0, -1)); !wall.IsZero(); wall = e.fields.Next(wall) {
		first, second, exists := e.instants(wall)
		switch {
		case !exists && e.hourly:
			continue // the hour is skipped
		case first.After(t):
			return first.UTC()
		case e.hourly && second.After(t):
			return second.UTC()
		}
	}
	return time.Time{}
}

// wallOf returns the wall time of t, as a time in UTC.
func wallOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// instants returns when a wall time happens in the zone: once, or twice, where second is
// not zero. One that clocks skip does not exist; then first is the end of the gap.
func (e *Expression) instants(wall time.Time) (first, second time.Time, exists bool) {
	t := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), 0, 0, e.zone)
	start, end := t.ZoneBounds()
	if at := wallOf(t); !at.Equal(wall) {
		if at.After(wall) { // with the offset before the gap, t is after it
			return start, time.Time{}, false
		}
		return end, time.Time{}, false
	}
	// The same wall time with the offset of the period before, or after.
	other := func(neighbour time.Time) (time.Time, bool) {
		_, offset := neighbour.Zone()
		u := wall.Add(-time.Duration(offset) * time.Second).In(e.zone)
		return u, wallOf(u).Equal(wall)
	}
	if !start.IsZero() {
		if u, ok := other(start.Add(-time.Second)); ok && u.Before(t) {
			return u, t, true
		}
	}
	if !end.IsZero() {
		if u, ok := other(end); ok && u.After(t) {
			return t, u, true
		}
	}
	return t, time.Time{}, true
}
