package cron_test

import (
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/evals/cron"
)

const wall = "Mon 2006-01-02 15:04 -0700"

func TestNext(t *testing.T) {
	for name, test := range map[string]struct {
		expression, zone, after string
		want                    []string
	}{
		"every Monday at six":                     {"0 6 * * MON", "Europe/Berlin", "2026-11-24T00:00:00Z", []string{"Mon 2026-11-30 06:00 +0100", "Mon 2026-12-07 06:00 +0100"}},
		"a time is after, not at":                 {"0 6 * * *", "UTC", "2026-11-24T06:00:00Z", []string{"Wed 2026-11-25 06:00 +0000"}},
		"a day of the month or of the week":       {"0 0 1 * 5", "UTC", "2026-11-28T00:00:00Z", []string{"Tue 2026-12-01 00:00 +0000", "Fri 2026-12-04 00:00 +0000"}},
		"the last day of February in leap years":  {"0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", []string{"Tue 2028-02-29 00:00 +0000", "Sun 2032-02-29 00:00 +0000"}},
		"the local hour stays when clocks change": {"0 9 * * *", "America/New_York", "2026-03-07T00:00:00Z", []string{"Sat 2026-03-07 09:00 -0500", "Sun 2026-03-08 09:00 -0400"}},
		"a skipped time happens at the end of the gap": {"30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z",
			[]string{"Sun 2026-03-08 03:00 -0400", "Mon 2026-03-09 02:30 -0400"}},
		"a skipped time and the end of the gap are one": {"0 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z",
			[]string{"Sun 2026-03-29 03:00 +0200", "Mon 2026-03-30 02:00 +0200"}},
		"a repeated time happens the first time": {"30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z",
			[]string{"Sun 2026-11-01 01:30 -0400", "Mon 2026-11-02 01:30 -0500"}},
		"a repeated time does not happen again after its first": {"30 1 * * *", "America/New_York", "2026-11-01T05:30:00Z", []string{"Mon 2026-11-02 01:30 -0500"}},
		"between the two, the repeated time is over":            {"30 2 * * *", "Europe/Berlin", "2026-10-25T00:45:00Z", []string{"Mon 2026-10-26 02:30 +0100"}},
		"every hour has the repeated hour twice": {"5 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z",
			[]string{"Sun 2026-10-25 02:05 +0200", "Sun 2026-10-25 02:05 +0100", "Sun 2026-10-25 03:05 +0100"}},
		"every hour leaves the skipped hour out": {"5 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z",
			[]string{"Sun 2026-03-29 01:05 +0100", "Sun 2026-03-29 03:05 +0200"}},
		"midnight is skipped": {"0 0 * * *", "America/Santiago", "2026-09-05T12:00:00Z", []string{"Sun 2026-09-06 01:00 -0300", "Mon 2026-09-07 00:00 -0300"}},
		"clocks change by half an hour": {"15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z",
			[]string{"Sun 2026-10-04 02:30 +1100", "Mon 2026-10-05 02:15 +1100"}},
		"a whole day was skipped": {"0 12 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z", []string{"Sat 2011-12-31 00:00 +1400", "Sun 2012-12-30 12:00 +1400"}},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := cron.Parse(test.expression, test.zone)
			if err != nil {
				t.Fatal(err)
			}
			at, err := time.Parse(time.RFC3339, test.after)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range test.want {
				at = e.Next(at)
				if got := at.In(e.Zone()).Format(wall); got != want {
					t.Fatalf("got %s, want %s", got, want)
				}
			}
		})
	}
}

// TestNextIsTheFirst holds Next against a walk over the minutes of a year.
func TestNextIsTheFirst(t *testing.T) {
	for _, zone := range []string{"UTC", "Europe/Berlin", "America/New_York", "America/Santiago", "Australia/Lord_Howe", "Asia/Kathmandu"} {
		for _, expression := range []string{"0 2 * * *", "30 1 * * *", "59 23 * * SUN", "0 * * * *", "45 */2 1-7 * *", "15 0 31 * *"} {
			e, err := cron.Parse(expression, zone)
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Date(2025, 12, 31, 12, 0, 0, 0, time.UTC)
			seen := map[string]bool{} // wall times
			next, hourly := e.Next(begin), strings.Contains(expression, " * * * *")
			for at := begin.Add(time.Minute); at.Before(begin.AddDate(1, 0, 2)); at = at.Add(time.Minute) {
				if at.After(next) {
					t.Fatalf("%s %s: %s is not after the time before", expression, zone, next)
				}
				if m := at.Minute() % 15; m != 0 && m != 14 {
					continue
				}
				if local := at.In(e.Zone()); matches(t, expression, local) {
					if text := local.Format("2006-01-02 15:04"); hourly || !seen[text] {
						if seen[text] = true; !at.Equal(next) {
							t.Fatalf("%s %s: %s matches, and the next time is %s", expression, zone, text, next)
						}
					}
				}
				if at.Equal(next) {
					next = e.Next(at)
				}
			}
		}
	}
}

// matches reads the few forms of the test above without the library.
func matches(t *testing.T, expression string, at time.Time) bool {
	t.Helper()
	switch expression {
	case "0 2 * * *":
		return at.Hour() == 2 && at.Minute() == 0
	case "30 1 * * *":
		return at.Hour() == 1 && at.Minute() == 30
	case "59 23 * * SUN":
		return at.Hour() == 23 && at.Minute() == 59 && at.Weekday() == time.Sunday
	case "0 * * * *":
		return at.Minute() == 0
	case "45 */2 1-7 * *":
		return at.Hour()%2 == 0 && at.Minute() == 45 && at.Day() <= 7
	case "15 0 31 * *":
		return at.Hour() == 0 && at.Minute() == 15 && at.Day() == 31
	}
	t.Fatal(expression)
	return false
}

func TestParseRejects(t *testing.T) {
	for name, test := range map[string]struct{ expression, zone, want string }{
		"nothing":                   {"", "UTC", "five fields"},
		"seconds":                   {"0 0 6 * * *", "UTC", "five fields"},
		"a descriptor":              {"@daily", "UTC", "five fields"},
		"a zone in the expression":  {"TZ=UTC 0 6 * *", "UTC", "five fields"},
		"a zone without fields":     {"TZ=0", "UTC", "five fields"},
		"an invalid hour":           {"0 24 * * *", "UTC", "above maximum"},
		"a word":                    {"0 six * * *", "UTC", "cron"},
		"every minute":              {"* * * * *", "UTC", "at most one run an hour"},
		"every quarter":             {"*/15 * * * *", "UTC", "at most one run an hour"},
		"a day that does not exist": {"0 0 30 2 *", "UTC", "never happens"},
		"a long text":               {strings.Repeat("0", 200) + " * * * *", "UTC", "maximum"},
		"no zone":                   {"0 6 * * *", "", "IANA"},
		"the server's zone":         {"0 6 * * *", "Local", "IANA"},
		"an unknown zone":           {"0 6 * * *", "Europe/Atlantis", "Europe/Berlin"},
		"a path":                    {"0 6 * * *", "../etc/passwd", "IANA"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := cron.Parse(test.expression, test.zone); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("0 6 * * MON", "Europe/Berlin", int64(1795478400))
	f.Add("59 */3 1-7,29 2 0", "Pacific/Apia", int64(1325203200))
	f.Fuzz(func(t *testing.T, expression, zone string, at int64) {
		e, err := cron.Parse(expression, zone)
		if err != nil {
			return
		}
		after := time.Unix(at%(1<<33), 0)
		if next := e.Next(after); !next.IsZero() && !next.After(after) {
			t.Errorf("%q in %s: %s is not after %s", expression, zone, next, after)
		}
	})
}
