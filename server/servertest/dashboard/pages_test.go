package dashboard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/servertest"
)

const events = 100_000

// Every page answers within a time that a person does not notice.
func TestPagesOfAHundredThousandEvents(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	o := newOwner(t, d, "dana@example.com")
	d.load(t, newSite(o.id, d.Clock.Now(), events).rows...)
	for _, page := range []string{
		"", "?window=90d&model=linear", "/agents", "/agents/ChatGPT-User", "/pages", "/gaps", "/referrals", "/conversions", "/conversions?show=possible", "/noise", "/settings",
	} {
		least := time.Hour
		var status int
		var body string
		for range 3 {
			began := time.Now()
			status, body = o.get(o.at(page))
			least = min(least, time.Since(began))
		}
		t.Logf("%-28s %4d ms %4d kB", page, least.Milliseconds(), len(body)/1000)
		if status != 200 || !strings.Contains(body, o.slug) {
			t.Errorf("%s: %d %s", page, status, body)
		}
		if least > 2*time.Second {
			t.Errorf("%s took %v", page, least)
		}
	}
}
