// Package docs_test looks at the documents in a real browser, as a person reads them:
// without script, light and dark, wide and narrow.
package docs_test

import (
	"net/http/cookiejar"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/public/docs/docstest"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/servertest/chrome"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

func newTab(t *testing.T) *chrome.Tab {
	t.Helper()
	s := servertest.New(t, servertest.Options{Server: func(c *server.Config) {
		holder := &snapshotview.Holder{}
		holder.Set(sitetest.New(t, 1))
		c.Source, c.CLI = holder, docstest.CLI
	}})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return chrome.New(t, s.URL, jar)
}

// TestDocumentsInARealBrowser looks at every document, and at the search with and without
// results. Of the recipes one stands for all, and of the API's reference the longest page.
func TestDocumentsInARealBrowser(t *testing.T) {
	axe := chrome.Axe(t)
	b := newTab(t)
	paths := []string{"/docs/search", "/docs/search?q=rate+limit", "/docs/search?q=zebra", "/docs/nowhere"}
	for _, p := range docstest.New(t).Pages {
		alike := strings.HasPrefix(p.Path, "/setup/") && p.Path != "/setup/express" || strings.HasPrefix(p.Path, "/docs/api/") && p.Path != "/docs/api/evals"
		if !alike {
			paths = append(paths, p.Path)
		}
	}
	for _, path := range paths {
		b.Open(path)
		b.Look(strings.NewReplacer("/", "-", "?", "-", "=", "-", "+", "-").Replace(strings.Trim(path, "/")), axe)
	}
}

// TestReadingWithoutScript finds a page by a word, and goes on from it, by keyboard on a
// telephone's width.
func TestReadingWithoutScript(t *testing.T) {
	b := newTab(t)
	b.NoScript(true)
	b.Size(390)
	b.Open("/docs")
	b.TabTo("#q")
	b.Do(chromedp.KeyEvent("quickstart"))
	b.Load(chromedp.KeyEvent(kb.Enter))
	b.TabTo(".docs-hits a")
	b.Load(chromedp.KeyEvent(kb.Enter))
	if title := chrome.Get(b, chromedp.Title()); !strings.HasPrefix(title, "Quickstart") {
		t.Fatalf("the best place for quickstart is on %q", title)
	}
	b.TabTo(".docs-contents summary")
	b.Do(chromedp.KeyEvent(kb.Enter))
	b.TabTo(".docs-contents a[href='#run-it-yourself']")
	b.Do(chromedp.KeyEvent(kb.Enter))
	b.Until("the heading is in sight", `document.getElementById("run-it-yourself").getBoundingClientRect().top < innerHeight`)
	b.TabTo(".docs-turn a[rel=next]")
	b.Load(chromedp.KeyEvent(kb.Enter))
	set := docstest.New(t)
	_, next := set.Around(set.Page("/docs/quickstart"))
	if title := chrome.Get(b, chromedp.Title()); !strings.HasPrefix(title, next.Title) {
		t.Fatalf("next is %q, want %q", title, next.Title)
	}
}
