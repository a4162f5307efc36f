package dashboard

import (
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// Every class is told either in the headline or as noise, or is that of people.
func TestEveryClassHasItsWords(t *testing.T) {
	for _, c := range agentid.Classes() {
		person := c == agentid.Browser || c == agentid.None
		if known(classes(), string(c)) != c.Headline() || known(others(), string(c)) == (c.Headline() || person) {
			t.Errorf("%s is in the wrong list", c)
		}
	}
}

func TestNumbersAsPeopleReadThem(t *testing.T) {
	for got, want := range map[string]string{
		share(0): "0", share(12): "12", share(1234.5): "1,234.5", share(.333): "0.33", share(2.999): "3", share(.999): "1",
		chart.Percent(1): "100%", chart.Percent(.1249): "12.5%", chart.Percent(0): "0%",
		grouped("1234567.50"): "1,234,567.50", grouped("-0.50"): "-0.50", grouped("-1900"): "-1,900", grouped("x"): "x",
		many(1, "page", "pages"): "1 page", many(2000, "page", "pages"): "2,000 pages",
		ago(30 * time.Second): "just now", ago(time.Hour): "1 hour ago", ago(50 * time.Hour): "2 days ago",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
