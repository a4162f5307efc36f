// Package webmcp_test looks at the public pages as an agent in a browser does: which
// tools they offer, what those answer, and what Lighthouse and scanners say.
package webmcp_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"testing"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/servertest/chrome"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

// newServer starts a server that has leaderboards.
func newServer(t *testing.T) *servertest.Service {
	t.Helper()
	return servertest.New(t, servertest.Options{Server: func(c *server.Config) {
		holder := &snapshotview.Holder{}
		holder.Set(sitetest.New(t, 1))
		c.Source, c.Contact, c.Version = holder, "mailto:security@firstpick.example", "1.2.3"
	}})
}

func newTab(t *testing.T, base string, features ...string) *chrome.Tab {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return chrome.New(t, base, jar, features...)
}

// read returns the body of an answer.
func read(t *testing.T, resp *http.Response) string {
	t.Helper()
	defer resp.Body.Close() //nolint:errcheck // it is read to its end
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
