package ranges

import (
	"net/netip"
	"slices"
	"time"

	"github.com/gaissmai/bart"
)

const (
	// fresh is how far an observation speaks for the days around it. Beyond, an
	// address that is not in the list may be a new one of the operator's.
	fresh = 14 * 24 * time.Hour
	// slack widens the days of a range: the time of a change between two observations
	// is unknown.
	slack = 48 * time.Hour
	// kept is how long a range that was given up is remembered.
	kept = 400 * 24 * time.Hour
)

// A period is a time from, up to and with, until. A zero until is open.
type period struct{ from, until time.Time }

func (p period) holds(at time.Time) bool {
	return !at.Before(p.from.Add(-slack)) && (p.until.IsZero() || !at.After(p.until.Add(slack)))
}

// A list is the history of one published list. It is immutable.
type list struct {
	etag, modified string   // of the last answer
	checked        []period // when it was observed, closed, in order; gaps are longer than fresh
	table          *bart.Table[[]period]
}

// check looks up an address at a time, by the nearest observation. Operators add ranges
// often and remove few, so a range is valid until an observation without it.
func (l *list) check(ip netip.Addr, at time.Time) Finding {
	at, away := l.nearest(at)
	f := Finding{Result: Outside, AsOf: at, Old: away > fresh}
	for _, periods := range l.table.Supernets(netip.PrefixFrom(ip, ip.BitLen())) {
		for i := range periods {
			if periods[i].holds(at) {
				f.Result = Inside
				return f
			}
		}
	}
	if f.Old {
		f.Result = Stale
	}
	return f
}

// nearest returns the observed time that is nearest to at, and how far it is away.
func (l *list) nearest(at time.Time) (time.Time, time.Duration) {
	if n := len(l.checked); n > 0 && !at.Before(l.checked[n-1].until) { // most visits are of now
		last := l.checked[n-1].until
		return last, at.Sub(last)
	}
	best, away := time.Time{}, time.Duration(1<<63-1)
	for _, c := range l.checked {
		t := at
		if at.Before(c.from) {
			t = c.from
		} else if at.After(c.until) {
			t = c.until
		}
		if d := at.Sub(t).Abs(); d < away {
			best, away = t, d
		}
	}
	return best, away
}

// asOf returns when the list was last observed.
func (l *list) asOf() time.Time {
	if len(l.checked) == 0 {
		return time.Time{}
	}
	return l.checked[len(l.checked)-1].until
}

// confirmed returns the list with the observation that nothing has changed.
func (l *list) confirmed(now time.Time) *list {
	next := *l
	next.checked = slices.Clone(l.checked)
	if n := len(next.checked); n > 0 && now.Sub(next.checked[n-1].until) <= fresh {
		if now.After(next.checked[n-1].until) {
			next.checked[n-1].until = now
		}
	} else {
		next.checked = append(next.checked, period{now, now})
	}
	next.checked = slices.DeleteFunc(next.checked, func(p period) bool { return now.Sub(p.until) > kept })
	return &next
}

// observed returns the list with the observation of its prefixes at that time.
func (l *list) observed(prefixes []netip.Prefix, now time.Time) *list {
	last := l.asOf()
	next := l.confirmed(now)
	next.table = new(bart.Table[[]period])
	current := map[netip.Prefix]bool{}
	for _, p := range prefixes {
		current[p] = true
	}
	for p, old := range l.table.All() {
		var periods []period
		open := false
		for _, o := range old {
			switch {
			case o.until.IsZero() && current[p]:
				open = true
			case o.until.IsZero():
				o.until = last // not observed since
			}
			if o.until.IsZero() || now.Sub(o.until) <= kept {
				periods = append(periods, o)
			}
		}
		if current[p] && !open {
			periods = append(periods, period{from: now})
		}
		delete(current, p)
		if len(periods) > 0 {
			next.table.Insert(p, periods)
		}
	}
	for p := range current {
		next.table.Insert(p, []period{{from: now}})
	}
	return next
}

func newList() *list { return &list{table: new(bart.Table[[]period])} }
