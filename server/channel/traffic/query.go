package traffic

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/channel/attribution"
	"github.com/firstpick/firstpick/server/kit/apierr"
)

// A Query selects what a report covers.
type Query struct {
	From, To time.Time // From <= t < To
	UntilNow bool      // To is when it was asked
	TZ       *time.Location
	Model    attribution.Model
	Lookback time.Duration
	// Hours counts the trend by hours instead of days.
	Hours bool
	// Filter selects visits.
	Filter Filter
	// Parts are the requested parts; 0 is everything.
	Parts Parts
	// Limit is how many rows each list of a report has; 0 is DefaultLimit, and more
	// than MaxLimit are not given.
	Limit int
	// Only leaves some of the conversions of a list.
	Only Only
	// Sort orders the conversions of a list: at, kind or value, with a minus for the largest
	// first. All others are -at.
	Sort string
}

// A Filter selects visits by each of its fields that is not empty.
type Filter struct {
	// Agent is the name of an agent. Visits of people, and so referrals, have none.
	Agent string
	// Page is the host and path of a page: acme.dev/docs; or only the path, on any host. A star
	// at its end stands for the rest of any address: /docs/*.
	Page string
	// Assistant is the family of an agent: its visits, the people whom it sent, and the
	// conversions that are credited to it. Page leaves the conversions that are credited to
	// visits to it. Agent and Class do not filter conversions.
	Assistant string
	// Class is a class of agents: training_crawler. People have none.
	Class string
	// Goal is a kind of conversions: signup. It filters conversions alone.
	Goal string
}

// OnPage reports whether a page is among those of the filter.
func (f Filter) OnPage(host, path string) bool {
	start, part := strings.CutSuffix(f.Page, "*")
	return f.Page == "" || f.Page == host+path || f.Page == path ||
		part && (strings.HasPrefix(host+path, start) || strings.HasPrefix(path, start))
}

// DefaultLimit and MaxLimit are how many rows a list has, and has at most.
const (
	DefaultLimit = 50
	MaxLimit     = 1000
)

// HourLayout names an hour in a zone; where clocks are set back it is named with its offset.
const HourLayout = "2006-01-02T15Z07:00"

// TrendLayout names the days of a trend, or its hours.
func TrendLayout(hours bool) string {
	if hours {
		return HourLayout
	}
	return time.DateOnly
}

// Span names the day or hour of the trend that a time is in.
func (q *Query) Span(at time.Time) string { return at.In(q.TZ).Format(TrendLayout(q.Hours)) }

// Parts are parts of a report. Window and health are in every one.
type Parts uint

// The parts.
const (
	PartOutcome Parts = 1 << iota
	PartAgents
	PartPages
	PartGaps
	PartReferrals
	PartTrend
	PartNoise
	PartChanges
	PartNone // only window and health
	PartLandings
)

// Wants reports whether the query asks for a part.
func (q *Query) Wants(p Parts) bool { return q.Parts == 0 || q.Parts&p != 0 }

// Rows returns how many rows each list has.
func (q *Query) Rows() int {
	if q.Limit <= 0 {
		return DefaultLimit
	}
	return min(q.Limit, MaxLimit)
}

// Only selects the conversions that are listed.
type Only string

// The values of Only.
const (
	OnlyCredited Only = "credited" // to an agent
	OnlyPossible Only = "possible" // probably from an agent, and credited to no agent
)

const (
	day        = 24 * time.Hour
	maxWindow  = 400 * day // events are kept about that long
	defaultDay = 30
)

// ParseQuery reads window (7d, 30d, 90d ...) or from and to (RFC 3339, or a day),
// tz (of the IANA database), model and lookbackDays. The defaults are 30 days
// until now, UTC, first touch, 90 days.
func ParseQuery(v url.Values, now time.Time) (Query, error) {
	q := Query{To: now.UTC(), TZ: time.UTC, Model: attribution.First, Lookback: attribution.MaxLookback}
	if name := v.Get("tz"); name != "" {
		tz, err := time.LoadLocation(name)
		if err != nil || name == "Local" {
			return q, apierr.InvalidRequest("tz must be a time zone such as Europe/Berlin.")
		}
		q.TZ = tz
	}
	if name := v.Get("model"); name != "" {
		m, err := attribution.ParseModel(name)
		if err != nil {
			return q, apierr.InvalidRequest("model must be first, last, linear or position.")
		}
		q.Model = m
	}
	if text := v.Get("lookbackDays"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 7 || n > 90 {
			return q, apierr.InvalidRequest("lookbackDays must be a number from 7 to 90.")
		}
		q.Lookback = time.Duration(n) * day
	}
	return q, q.window(v)
}

func (q *Query) window(v url.Values) error {
	if v.Has("from") || v.Has("to") {
		if v.Has("window") {
			return apierr.InvalidRequest("Give either window, or from and to.")
		}
		var ok bool
		if q.From, ok = q.moment(v.Get("from")); !ok {
			return apierr.InvalidRequest("from must be a day such as 2026-11-01, or a time of RFC 3339.")
		}
		if v.Has("to") {
			if q.To, ok = q.moment(v.Get("to")); !ok {
				return apierr.InvalidRequest("to must be a day such as 2026-11-30, or a time of RFC 3339.")
			}
		}
		if !q.From.Before(q.To) || q.To.Sub(q.From) > maxWindow {
			return apierr.InvalidRequest("from must lie before to, by 400 days at most.")
		}
		return nil
	}
	days := defaultDay
	if text := v.Get("window"); text != "" {
		number, found := strings.CutSuffix(text, "d")
		n, err := strconv.Atoi(number)
		if !found || err != nil || n < 1 || n > 400 {
			return apierr.InvalidRequest("window must be a number of days such as 30d, 400d at most.")
		}
		days = n
	}
	q.From, q.UntilNow = q.To.AddDate(0, 0, -days), true
	return nil
}

// moment reads a time, or the beginning of a day in the query's zone.
func (q *Query) moment(text string) (time.Time, bool) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t.UTC(), true
	}
	t, err := time.ParseInLocation(time.DateOnly, text, q.TZ)
	return t.UTC(), err == nil
}
