package browser_test

import (
	"net/http/cookiejar"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/public/archive/archivetest"
	"github.com/firstpick/firstpick/server/public/docs/docstest"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/servertest/chrome"
)

const board = "/leaderboards/webserver"

// publicPages has one page of every kind.
var publicPages = []struct{ name, path string }{
	{"home", "/"},
	{"boards", "/leaderboards"},
	{"board", board},
	{"board-agent", board + "?agent=gpt-4o-2024-08-06"},
	{"board-sorted", board + "?sort=shortlist"},
	{"history", board + "/history"},
	{"trials", board + "/trials?agent=gpt-4o-2024-08-06"},
	{"prompt", board + "/prompts/web/p00"},
	{"trial", "/trials/" + archivetest.Trial},
	{"observed", "/observed/webserver"},
	{"tools", "/tools"},
	{"tool", "/tools/flask"},
	{"tool-last", "/tools/bottle"},
	{"comparisons", "/compare"},
	{"comparison", "/compare/django-vs-flask"},
	{"agents", "/ai-agents"},
	{"agent", "/ai-agents/claude-3-5-sonnet-20241022"},
	{"changes", "/changes"},
	{"snapshots", "/snapshots"},
	{"snapshot", "/snapshots/" + archivetest.Current},
	{"for-vendors", "/for-vendors"},
	{"search", "/search"},
	{"search-near", "/search?q=flaks"},
	{"search-none", "/search?q=zzzzzzz"},
	{"not-found", "/tools/flsk"},
	{"methodology", "/docs/methodology"},
}

// newPublic starts a server that has published something.
func newPublic(t *testing.T) *servertest.Service {
	t.Helper()
	return servertest.New(t, servertest.Options{Server: func(c *server.Config) {
		site, source := archivetest.Published(t)
		holder := &snapshotview.Holder{}
		holder.Set(site)
		c.Source, c.Archive, c.CLI = holder, source, docstest.CLI
	}})
}

func stranger(t *testing.T, base string) *chrome.Tab {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return chrome.New(t, base, jar)
}

// TestPublicPages looks at every kind of page. Each has one heading of the first order, and
// no text that is too small to read.
func TestPublicPages(t *testing.T) {
	axe := chrome.Axe(t)
	b := stranger(t, newPublic(t).URL)
	look := func(name string) {
		t.Helper()
		b.Look("public-"+name, axe)
		got := chrome.Eval[struct {
			H1    int
			Small []string
		}](b, `({
			H1: document.querySelectorAll("h1").length,
			Small: [...document.querySelectorAll("body *")].filter(e => e.innerText && !e.ariaHidden && parseFloat(getComputedStyle(e).fontSize) < 12).map(e => e.outerHTML.slice(0, 90)),
		})`)
		if got.H1 != 1 || len(got.Small) > 0 {
			t.Errorf("%s has %d h1, and too small %q", name, got.H1, got.Small)
		}
	}
	for _, p := range publicPages {
		b.Open(p.path)
		look(p.name)
	}
	b = stranger(t, servertest.New(t, servertest.Options{}).URL)
	b.Open("/")
	look("no-snapshot")
}

// TestLateScriptsMoveNothing compares each page before and after its late scripts ran: on a
// slow network a reader sees the page without them first.
func TestLateScriptsMoveNothing(t *testing.T) {
	b := stranger(t, newPublic(t).URL)
	block := func(patterns ...*network.BlockPattern) {
		t.Helper()
		b.Call(network.SetBlockedURLs.Method, network.SetBlockedURLsParams{URLPatterns: patterns})
	}
	b.Call(network.Enable.Method, network.EnableParams{})
	const boxes = `document.fonts.ready.then(() => JSON.stringify([...document.querySelectorAll("body *")].map(e => {
		const r = e.getBoundingClientRect();
		return e.tagName + " " + e.className + " " + [r.x, r.y, r.width, r.height].map(Math.round);
	})))`
	for _, width := range []int64{390, 1280} {
		b.Size(width)
		for _, p := range publicPages {
			if p.name == "methodology" { // its script adds buttons above the code, which take no room
				continue
			}
			block(&network.BlockPattern{URLPattern: "*://*:*/assets/*.js", Block: true})
			b.Open(p.path)
			before := chrome.Eval[string](b, boxes)
			if chrome.Eval[bool](b, `[...document.querySelectorAll("button[data-theme-switch]")].some(e => !e.hidden)`) {
				t.Fatalf("%s: the scripts were not blocked", p.name)
			}
			block()
			b.Open(p.path)
			if after := chrome.Eval[string](b, boxes); after != before {
				t.Errorf("%s at %d: scripts move what a reader sees:\n%s\n%s", p.name, width, before, after)
			}
		}
	}
}

// TestReadersWithoutPointerOrScript finds a tool, filters and sorts a board and its trials,
// and compares two tools: by keyboard alone on a telephone, with and without scripts.
func TestReadersWithoutPointerOrScript(t *testing.T) {
	b := stranger(t, newPublic(t).URL)
	b.Size(390)
	at := func(heading string, parts ...string) {
		t.Helper()
		text := chrome.Eval[string](b, `document.querySelector("main").innerText`)
		if h1 := chrome.Eval[string](b, `document.querySelector("h1").innerText`); h1 != heading {
			t.Fatalf("at %q, want %q", h1, heading)
		}
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Fatalf("%s does not say %q, but:\n%s", heading, part, text)
			}
		}
	}
	enter := func(selector string) {
		t.Helper()
		b.TabTo(selector)
		b.Load(chromedp.KeyEvent(kb.Enter))
	}
	choose := func(selector, text string) {
		t.Helper()
		b.TabTo(selector)
		b.Do(chromedp.KeyEvent(text))
	}
	for _, scriptless := range []bool{false, true} {
		b.NoScript(scriptless)
		b.Open("/")
		b.TabTo(".skip")
		b.Do(chromedp.KeyEvent(kb.Enter))
		b.TabTo("*") // the next stop
		if inside := chrome.Eval[bool](b, `document.activeElement.closest("main") !== null`); !inside {
			t.Error("the skip link does not lead to the content")
		}
		enter("header a[href='/leaderboards']")
		at("Leaderboards")
		choose("#find", "flaks")
		b.Load(chromedp.KeyEvent(kb.Enter))
		at("Find a tool", "Flask")
		enter("main a[href='/tools/flask']")
		at("Flask", "models picked it in")
		enter("main h2 a[href='" + board + "']")
		at("Python web frameworks")
		enter("main a[href='" + board + "?agent=gpt-4o-2024-08-06']")
		at("Python web frameworks", "Only GPT-4o", "72 of 288 trials")
		b.TabTo("main details.more > summary")
		b.Do(chromedp.KeyEvent(kb.Enter))
		enter("main nav a[href*='sort=name']")
		at("Python web frameworks", "By name")
		enter("main a[href='" + board + "/trials']")
		at("Trials of Python web frameworks")
		choose("#by-agent", "Gemini")
		enter("main form button")
		at("Trials of Python web frameworks", "Show all trials", "Gemini")
		enter("header a[href='/compare']")
		choose("#a", "Flask")
		choose("#b", "Django")
		enter("main form button")
		at("Flask or Django?", "Significant?")
	}
}

// TestPrint: on paper every row of a table is there, nothing hides text or is cut off, and
// there is nothing to press.
func TestPrint(t *testing.T) {
	b := stranger(t, newPublic(t).URL)
	for _, path := range []string{"/", board, "/tools/flask", "/compare/django-vs-flask", board + "/trials"} {
		b.Open(path)
		b.Size(794) // A4
		b.Print()
		got := chrome.Eval[struct {
			Rows, Seen                 int
			Over, Controls, Cut, Paper []string
		}](b, `(() => {
			const rows = [...document.querySelectorAll("main tbody tr")], seen = e => e.getClientRects().length > 0, name = e => e.outerHTML.slice(0, 90);
			const main = [...document.querySelectorAll("body *")];
			return {
				Rows: rows.length, Seen: rows.filter(seen).length,
				Over: main.filter(e => seen(e) && /sticky|fixed/.test(getComputedStyle(e).position)).map(name),
				Controls: main.filter(e => e.matches("button, input, select, header nav a:not(.brand)") && seen(e)).map(name),
				Cut: main.filter(e => seen(e) && e.getBoundingClientRect().right > 795 && !e.closest(".hidden")).map(name),
				Paper: main.filter(e => seen(e) && e.matches("main") && getComputedStyle(document.documentElement).colorScheme !== "light").map(name),
			};
		})()`)
		if got.Rows == 0 && path != "/" || got.Seen != got.Rows || len(got.Over)+len(got.Controls)+len(got.Cut)+len(got.Paper) > 0 {
			t.Errorf("%s on paper: %+v", path, got)
		}
	}
}
