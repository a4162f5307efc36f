package dashboard_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/servertest/chrome"
	"github.com/firstpick/firstpick/server/servertest/vnu"
)

// TestPagesInARealBrowser leads a browser to every page of a workspace.
func TestPagesInARealBrowser(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	empty := newOwner(t, d, "erin@example.com")
	o := newOwner(t, d, "dana@example.com")
	b := chrome.New(t, d.URL, o.http.Jar)
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
		{"filtered", o.at("?agent=ChatGPT-User&assistant=ChatGPT")},
		{"install", o.at("/install?stack=python")},
		{"settings", o.at("/settings?done=saved")},
		{"not-found", empty.at("")},
		{"bad-query", o.at("?tz=Mars")},
	}
	source := chrome.Axe(t)
	visit := func(name string) { t.Helper(); b.Look(name, source) }
	markup := map[string]string{}
	for _, p := range pages {
		b.Open(p.path)
		visit(p.name)
		_, markup[p.name] = o.get(p.path)
	}
	_, markup["empty"] = empty.get(empty.at(""))
	gina := &owner{t: t, d: d, email: "gina@example.com", http: newBrowser(t)}
	gina.signIn()
	_, markup["created"] = gina.post("/workspaces", url.Values{"site": {"https://gina.dev"}, "stack": {"go"}, "form_token": {gina.formToken("/workspaces")}})
	_, markup["new key"] = o.send("/keys", url.Values{"kind": {"secret"}, "label": {"another"}})
	t.Run("markup", func(t *testing.T) { vnu.Check(t, "..", markup) })
	b.Open(o.at("/settings"))
	b.Do(chromedp.Click(chromedp.CSS("#keys > .why > summary")))
	b.Load(chromedp.Click(chromedp.CSS("form[action$='/settings/keys'] button")))
	visit("key")
	b.Open(o.at("/settings"))
	b.Load(chromedp.Click(chromedp.CSS(".items form[action$='/alerts/test'] button")))
	visit("webhook-tested")
	b.Open(o.at("/settings"))
	b.Load(chromedp.Click(chromedp.CSS("form[action$='/rotate'] button")))
	visit("webhook-secret")
	b.Open(o.at("/settings"))
	b.Do(chromedp.Click(chromedp.CSS("#erase > .danger > summary")), chromedp.SendKeys(chromedp.CSS("#name"), "nobody@example.com"), chromedp.Click(chromedp.CSS("#sure")))
	b.Load(chromedp.Click(chromedp.CSS("form[action$='/settings/erase'] button")))
	visit("erased")
	b = chrome.New(t, d.URL, empty.http.Jar)
	newcomer := &owner{t: t, d: d, email: "frank@example.com", http: newBrowser(t)}
	newcomer.signIn()
	for _, p := range []struct{ name, path string }{{"empty", empty.at("")}, {"empty-settings", empty.at("/settings")}, {"empty-conversions", empty.at("/conversions")}} {
		b.Open(p.path)
		visit(p.name)
	}
	newOwner(t, d, empty.email) // a second one
	b.Open("/workspaces")
	visit("workspaces")
	b = chrome.New(t, d.URL, newcomer.http.Jar)
	b.Open("/workspaces")
	visit("workspaces-none")
}

var linkPattern = regexp.MustCompile(`(?s)<a href="(/workspaces/[^"]*/conversions/[^"?]+)[^"]*">[^<]*</a></th><td data-label="Kind">(\w+)`)

// aConversion returns the path of a conversion of some kind from the list.
func (o *owner) aConversion(show, kind string) string {
	o.t.Helper()
	for page := range 20 {
		_, body := o.get(o.at(fmt.Sprintf("/conversions?window=90d&show=%s&page=%d", show, page+1)))
		for _, m := range linkPattern.FindAllStringSubmatch(body, -1) {
			if m[2] == kind {
				return m[1]
			}
		}
	}
	o.t.Fatalf("there is no %s in the list of %s conversions", kind, show)
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

// TestKeyboardAlone goes from page to page on a telephone's width without a
// pointer: skip link, tabs, filter, details, a conversion, the settings.
func TestKeyboardAlone(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	o := newOwner(t, d, "dana@example.com")
	b := chrome.New(t, d.URL, o.http.Jar)
	d.load(t, newSite(o.id, d.Clock.Now(), 3000).rows...)
	b.Size(390)
	press := func() { t.Helper(); b.Load(chromedp.KeyEvent(kb.Enter)) }
	title := func(want string) {
		t.Helper()
		if got := chrome.Get(b, chromedp.Title()); !strings.HasPrefix(got, want) {
			t.Fatalf("at %q, want %q", got, want)
		}
	}
	b.Open("/workspaces") // the only one opens by itself
	title("Overview")
	b.TabTo(".skip")
	b.TabTo(".filter summary")
	b.Do(chromedp.KeyEvent(kb.Enter))
	b.TabTo("#tz")
	b.Script(`document.activeElement.select()`)
	b.Do(chromedp.KeyEvent("Europe/Berlin"))
	b.TabTo("#model")
	b.Do(chromedp.KeyEvent("L")) // Last touch
	b.TabTo(".filter button")
	press()
	title("Overview")
	if text := chrome.Eval[string](b, `document.querySelector(".filter summary").textContent`); !strings.Contains(text, "Europe/Berlin · Last touch") {
		t.Fatalf("the filter says %q", text)
	}
	b.TabTo(".why summary")
	b.Do(chromedp.KeyEvent(kb.Enter))
	if !chrome.Eval[bool](b, `document.querySelector(".why").open`) {
		t.Fatal("the details stay closed")
	}
	b.Open(o.at("?model=last"))
	b.TabTo(".tabs a[href*='/conversions']")
	press()
	title("Conversions")
	b.TabTo(".rows th a[href*='/conversions/']")
	press()
	title("Conversion ")
	if got := chrome.Get(b, chromedp.Location()); !strings.Contains(got, "model=last") {
		t.Fatalf("the model is lost on the way: %s", got)
	}
	b.Open(o.at("/settings"))
	b.TabTo("#label")
	b.Do(chromedp.KeyEvent("web"))
	b.TabTo("form[action$='/settings/keys'] button")
	press()
	title("Your new key")
	b.Open(o.at("/settings"))
	b.TabTo(".danger summary")
	b.Do(chromedp.KeyEvent(kb.Enter))
	b.TabTo(".danger button")
	press()
	title("Settings")
	if text := chrome.Eval[string](b, `document.querySelector("[role=status]").textContent`); !strings.Contains(text, "revoked") {
		t.Fatalf("after revoking: %q", text)
	}
}
