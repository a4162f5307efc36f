package dashboard

import (
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// A count is a number as people read it.
type count int64

// String implements fmt.Stringer.
func (c count) String() string { return chart.Whole(int64(c)) }

// share writes a number of conversions that may be divided: 12, 3.4.
func share(v float64) string {
	text := strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0")
	return grouped(strings.TrimSuffix(text, "."))
}

// sum formats an amount of money; empty without one.
func sum(m *traffic.Money) string {
	if m == nil {
		return ""
	}
	return amount(m.Amount, m.Currency)
}

// amount writes money, without cents that are all 0: $3,738, 1,225.50 EUR.
func amount(value, currency string) string {
	if whole, cents, ok := strings.Cut(value, "."); ok && strings.Trim(cents, "0") == "" {
		value = whole
	}
	value = grouped(value)
	if currency != "USD" {
		return value + "\u00a0" + currency
	}
	if rest, negative := strings.CutPrefix(value, "-"); negative {
		return "-$" + rest
	}
	return "$" + value
}

// grouped parts the thousands of a decimal number.
func grouped(amount string) string {
	whole, part, point := strings.Cut(amount, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return amount
	}
	text := chart.Whole(n)
	if n == 0 && strings.HasPrefix(whole, "-") {
		text = "-" + text
	}
	if point {
		text += "." + part
	}
	return text
}

// moment writes a time of RFC 3339 as people of a zone read it.
func moment(stamp string, tz *time.Location) string {
	t, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return stamp
	}
	return t.In(tz).Format("2 Jan 2006, 15:04")
}

// ago writes how long ago something was.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return chart.Count(int64(d/time.Minute), "minute", "minutes") + " ago"
	case d < 48*time.Hour:
		return chart.Count(int64(d/time.Hour), "hour", "hours") + " ago"
	default:
		return chart.Count(int64(d/(24*time.Hour)), "day", "days") + " ago"
	}
}
