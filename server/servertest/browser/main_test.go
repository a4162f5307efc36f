// Package browser_test sends a real browser through the public pages, and through the
// claim ceremony: a person with windows, a keyboard and a mailbox, and an agent that
// speaks HTTP.
package browser_test

import (
	"context"
	"testing"

	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

// TestCeremony holds all tests, so that they share one browser; each has its own
// cookies and its own server.
func TestCeremony(t *testing.T) {
	chrome := chromium(t)
	for _, c := range []struct {
		name string
		test func(t *testing.T, chrome context.Context)
	}{
		{"happy", happy},
		{"no script", noScript},
		{"keyboard", keyboard},
		{"wrong codes", wrongCodes},
		{"wrong account", wrongAccount},
		{"deny", deny},
		{"expired", expired},
		{"back", back},
		{"signed out", signedOut},
		{"other browser", otherBrowser},
		{"headers", headers},
		{"redirects", redirects},
		{"forgery", forgery},
		{"other site", otherSite},
		{"accessible", accessible},
		{"narrow", narrow},
		{"shots", shots},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, chrome)
		})
	}
}
