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

// TestNavigation: the menu and the contents stand beside a page on a wide screen, and are
// folded on a telephone. Code scrolls in its frame; with scripts it can be copied.
func TestNavigation(t *testing.T) {
	b := newTab(t)
	seen := func(selector string) bool {
		t.Helper()
		return chrome.Eval[bool](b, `(() => { const e = document.querySelector("`+selector+`"); return !!e && e.checkVisibility() && e.getClientRects().length > 0; })()`)
	}
	const here, summary, first, copying = ".docs-pages a[aria-current]", ".docs-pages .menu > summary", ".docs-contents li a", ".docs-page .copy"
	for _, scriptless := range []bool{true, false} {
		b.NoScript(scriptless)
		b.Size(1400)
		b.Open("/docs/eval-file")
		if !seen(here) || seen(summary) || !seen(first) {
			t.Errorf("wide: the page in the menu %v, its fold %v, the contents %v", seen(here), seen(summary), seen(first))
		}
		if order := chrome.Eval[bool](b, `(() => { const left = s => document.querySelector(s).getBoundingClientRect().left;
			return left(".docs-pages") < left(".docs-page") && left(".docs-page") < left(".docs-contents"); })()`); !order {
			t.Error("wide: menu, page and contents are not side by side")
		}
		if seen(copying+", x") == scriptless {
			t.Errorf("a button to copy, with scripts %v", !scriptless)
		}
		b.Open("/docs/api/read")
		if beside := chrome.Eval[bool](b, `(() => { const [a, z] = [...document.querySelector(".pair").children].map(e => e.getBoundingClientRect());
			return a.right <= z.left && a.top === z.top; })()`); !beside {
			t.Error("wide: the answer is not beside the request")
		}
		b.Size(390)
		b.Open("/docs/eval-file")
		if seen(here) || !seen(summary) || seen(first) {
			t.Errorf("narrow: the page in the menu %v, its fold %v, the contents %v", seen(here), seen(summary), seen(first))
		}
		b.TabTo(summary)
		b.Do(chromedp.KeyEvent(kb.Enter))
		if !seen(here) {
			t.Error("narrow: the menu does not unfold")
		}
		if scrolls := chrome.Eval[bool](b, `(() => { const e = document.querySelector(".code > pre"); return e.scrollWidth > e.clientWidth && document.documentElement.scrollWidth <= innerWidth; })()`); !scrolls {
			t.Error("narrow: code does not scroll in its frame")
		}
	}
}
