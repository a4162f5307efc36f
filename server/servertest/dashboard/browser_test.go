package dashboard_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/firstpick/firstpick/server/servertest"
)

// looks are how every page is looked at.
var looks = []struct {
	scheme string
	width  int64
}{{"light", 1280}, {"dark", 1280}, {"light", 390}, {"dark", 390}}

// A verdict is what axe-core says of a page. Passed are the rules that some
// element keeps; they show that it looked.
type verdict struct {
	Scheme     string   `json:"scheme"`
	Passed     []string `json:"passed"`
	Violations []string `json:"violations"`
}

const runAxe = `axe.run(document).then(r => ({
	scheme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
	passed: r.passes.map(v => v.id),
	violations: r.violations.map(v => v.id + ": " + v.help + "\n" + v.nodes.map(n => n.html.slice(0, 160) + "\n" + n.failureSummary).join("\n")),
}))`

// TestPagesInARealBrowser leads a browser to every page of a workspace.
func TestPagesInARealBrowser(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	empty := newOwner(t, d, "erin@example.com")
	o := newOwner(t, d, "dana@example.com")
	b := newTab(t, o)
	d.load(t, newSite(o.id, d.Clock.Now(), events).rows...)
	credited, refund := o.aConversion("credited", "paid"), o.aConversion("credited", "refund")
	o.fill()
	d.looked = o.id
	pages := []struct{ name, path string }{
		{"overview", o.at("")},
		{"overview-open", o.at("?from=2026-11-01&through=2026-11-14&tz=Europe/Berlin&model=linear&lookbackDays=30")},
		{"overview-90", o.at("?window=90d")},
		{"overview-year", o.at("?window=400d")},
		{"agents", o.at("/agents")},
		{"agent", o.at("/agents/GPTBot")},
		{"agent-none", o.at("/agents/Nobody")},
		{"pages", o.at("/pages")},
		{"gaps", o.at("/gaps")},
		{"referrals", o.at("/referrals")},
		{"conversions", o.at("/conversions")},
		{"conversions-possible", o.at("/conversions?show=possible")},
		{"conversion", credited},
		{"conversion-linear", credited + "?model=linear"},
		{"refund", refund},
		{"noise", o.at("/noise")},
		{"settings", o.at("/settings?done=saved")},
		{"not-found", empty.at("")},
		{"bad-query", o.at("?tz=Mars")},
	}
	source := axe(t)
	folder := os.Getenv("FIRSTPICK_SHOTS")
	visit := func(name string) {
		b.do(run(source))
		if strings.HasSuffix(name, "-open") {
			b.do(run(`document.querySelectorAll("details").forEach(e => e.open = true)`))
		}
		for _, l := range looks {
			b.scheme(l.scheme)
			b.size(l.width)
			got := eval[verdict](b, runAxe)
			if got.Scheme != l.scheme || !slices.Contains(got.Passed, "color-contrast") {
				t.Errorf("%s, %s, %d px: drawn %s, and no contrast was measured: %q", name, l.scheme, l.width, got.Scheme, got.Passed)
			}
			for _, v := range got.Violations {
				t.Errorf("%s, %s, %d px: %s", name, l.scheme, l.width, v)
			}
			if folder != "" {
				b.shot(filepath.Join(folder, fmt.Sprintf("%s-%d-%s.png", name, l.width, l.scheme)))
			}
		}
		for _, width := range []int64{768, 390, 320} {
			b.size(width)
			b.fits(name, width)
		}
		if found := regexp.MustCompile(`(?i)<script>|<style| style=| on[a-z]+=|javascript:`).FindString(eval[string](b, `document.documentElement.outerHTML`)); found != "" {
			t.Errorf("%s holds %q, which its policy forbids", name, found)
		}
		b.size(1280)
		b.scheme("light")
	}
	for _, p := range pages {
		b.open(p.path)
		visit(p.name)
	}
	b.open(o.at("/settings"))
	b.load(chromedp.Click(chromedp.CSS("form[action$='/settings/keys'] button")))
	visit("key")
	b.open(o.at("/settings"))
	b.load(chromedp.Click(chromedp.CSS(".items form[action$='/alerts/test'] button")))
	visit("webhook-tested")
	b.open(o.at("/settings"))
	b.load(chromedp.Click(chromedp.CSS("form[action$='/rotate'] button")))
	visit("webhook-secret")
	b.open(o.at("/settings"))
	b.do(chromedp.SendKeys(chromedp.CSS("#name"), "nobody@example.com"), chromedp.Click(chromedp.CSS("#sure")))
	b.load(chromedp.Click(chromedp.CSS("form[action$='/settings/erase'] button")))
	visit("erased")
	b = newTab(t, empty)
	newcomer := &owner{t: t, d: d, email: "frank@example.com", http: newBrowser(t)}
	newcomer.signIn()
	for _, p := range []struct{ name, path string }{{"empty", empty.at("")}, {"empty-settings", empty.at("/settings")}, {"empty-conversions", empty.at("/conversions")}} {
		b.open(p.path)
		visit(p.name)
	}
	newOwner(t, d, empty.email) // a second one
	b.open("/workspaces")
	visit("workspaces")
	b = newTab(t, newcomer)
	b.open("/workspaces")
	visit("workspaces-none")
}

// run runs a script whose value does not matter.
func run(script string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Evaluate[any]("(() => {"+script+"; return 0})()")(ctx, t)
		return chromedp.Void{}, err
	}
}

func (b *tab) shot(file string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, get(b, chromedp.FullScreenshot(100)), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// fits fails when the page is wider than the window, or a control is too small
// for a thumb. What scrolls in a region of its own may be wider.
func (b *tab) fits(name string, width int64) {
	b.t.Helper()
	got := eval[struct {
		Wide  float64  `json:"wide"`
		Wider []string `json:"wider"`
		Small []string `json:"small"`
	}](b, `(() => {
		const name = (e, box) => e.tagName + " " + (e.textContent || e.id).trim().slice(0, 40) + " " + Math.round(box.width) + "x" + Math.round(box.height);
		const boxes = s => [...document.querySelectorAll(s)].filter(e => !e.closest(".scroll, .columns, .rows thead")).map(e => [e, e.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
		return {
			wide: document.documentElement.scrollWidth - innerWidth,
			wider: boxes("main *").filter(([, box]) => box.right > innerWidth + 1).map(([e, box]) => name(e, box)),
			small: boxes("main button, main .button, main input:not([type=checkbox]), main select").filter(([, box]) => box.height < 44 || box.width < 44).map(([e, box]) => name(e, box)),
		};
	})()`)
	if got.Wide > 0 || len(got.Wider) > 0 {
		b.t.Errorf("%s at %d px scrolls sideways by %v pixels: %q", name, width, got.Wide, got.Wider)
	}
	if len(got.Small) > 0 {
		b.t.Errorf("%s at %d px has controls that are too small: %q", name, width, got.Small)
	}
}

var linkPattern = regexp.MustCompile(`(?s)<a href="(/workspaces/[^"]*/conversions/[^"?]+)[^"]*">[^<]*</a></th><td data-label="Kind">(\w+)`)

// aConversion returns the path of a conversion of some kind from the list.
func (o *owner) aConversion(show, kind string) string {
	o.t.Helper()
	_, body := o.get(o.at("/conversions?window=90d&show=" + show))
	for _, m := range linkPattern.FindAllStringSubmatch(body, -1) {
		if m[2] == kind {
			return m[1]
		}
	}
	o.t.Fatalf("there is no %s in %s", kind, body)
	return ""
}

// fill makes settings such as a workspace has after a while.
func (o *owner) fill() {
	o.t.Helper()
	for path, form := range map[string]url.Values{
		"":      {"site": {"https://acme.dev"}, "retention": {"395"}, "currency": {"usd"}},
		"/keys": {"kind": {"publishable"}, "label": {"docs site, browser"}, "origins": {"https://acme.dev https://docs.acme.dev"}},
	} {
		if status, body := o.send(path, form); status != 200 {
			o.t.Fatalf("%s: %d %s", path, status, body)
		}
	}
	for _, step := range []struct {
		path string
		form url.Values
	}{
		{"/keys", url.Values{"kind": {"secret"}, "label": {"web server"}}},
		{"/webhooks", url.Values{"url": {"https://127.0.0.1:9/firstpick"}}},
		{"/alerts/test", url.Values{"channel": {"email"}}},
	} {
		if status, body := o.send(step.path, step.form); status != 200 {
			o.t.Fatalf("%s: %d %s", step.path, status, body)
		}
	}
}

// A stop is an element that the Tab key reached.
type stop struct {
	Element string  `json:"element"`
	Outline string  `json:"outline"`
	Width   float64 `json:"width"`
	Inside  bool    `json:"inside"` // the window
	Hit     bool    `json:"hit"`    // it is the one that was looked for
}

// tabTo presses Tab until an element has the focus, which has to be seen on every
// stop of the way.
func (b *tab) tabTo(selector string) {
	b.t.Helper()
	var way []string
	for range 120 {
		b.do(chromedp.KeyEvent(kb.Tab))
		s := eval[stop](b, `(() => {
			const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
			return {
				element: e.outerHTML.slice(0, 90), outline: style.outlineStyle, width: parseFloat(style.outlineWidth),
				inside: box.top >= 0 && box.left >= 0 && box.top < innerHeight && box.right <= innerWidth,
				hit: e.matches("`+selector+`"),
			};
		})()`)
		if strings.HasPrefix(s.Element, "<body") {
			continue // around the end of the page
		}
		if s.Outline == "none" || s.Width < 2 || !s.Inside {
			b.t.Errorf("the focus is not seen: %+v", s)
		}
		if s.Hit {
			return
		}
		way = append(way, s.Element)
	}
	b.t.Fatalf("Tab does not reach %s, but %q", selector, way)
}

// TestKeyboardAlone goes from page to page on a telephone's width without a
// pointer: skip link, tabs, filter, details, a conversion, the settings.
func TestKeyboardAlone(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	o := newOwner(t, d, "dana@example.com")
	b := newTab(t, o)
	d.load(t, newSite(o.id, d.Clock.Now(), 3000).rows...)
	b.size(390)
	press := func() { b.t.Helper(); b.load(chromedp.KeyEvent(kb.Enter)) }
	title := func(want string) {
		t.Helper()
		if got := get(b, chromedp.Title()); !strings.HasPrefix(got, want) {
			t.Fatalf("at %q, want %q", got, want)
		}
	}
	b.open("/workspaces") // the only one opens by itself
	title("Overview")
	b.tabTo(".skip")
	b.tabTo(".filter summary")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.tabTo("#tz")
	b.do(chromedp.KeyEvent(kb.End), run(`document.activeElement.select()`), chromedp.KeyEvent("Europe/Berlin"))
	b.tabTo("#model")
	b.do(chromedp.KeyEvent("L")) // Last touch
	b.tabTo(".filter button")
	press()
	title("Overview")
	if text := eval[string](b, `document.querySelector(".filter summary").textContent`); !strings.Contains(text, "Europe/Berlin · Last touch") {
		t.Fatalf("the filter says %q", text)
	}
	b.tabTo(".why summary")
	b.do(chromedp.KeyEvent(kb.Enter))
	if !eval[bool](b, `document.querySelector(".why").open`) {
		t.Fatal("the details stay closed")
	}
	b.open(o.at("?model=last"))
	b.tabTo(".tabs a[href*='/conversions']")
	press()
	title("Conversions")
	b.tabTo(".rows th a")
	press()
	title("Conversion ")
	if got := get(b, chromedp.Location()); !strings.Contains(got, "model=last") {
		t.Fatalf("the model is lost on the way: %s", got)
	}
	b.open(o.at("/settings"))
	b.tabTo("#label")
	b.do(chromedp.KeyEvent("web"))
	b.tabTo("form[action$='/settings/keys'] button")
	press()
	title("Your new key")
	b.open(o.at("/settings"))
	b.tabTo(".danger summary")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.tabTo(".danger button")
	press()
	title("Settings")
	if text := eval[string](b, `document.querySelector("[role=status]").textContent`); !strings.Contains(text, "revoked") {
		t.Fatalf("after revoking: %q", text)
	}
}
