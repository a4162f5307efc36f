// Package chrome drives a real Chromium through pages, for tests: it goes where a
// person would, looks at every page in two colours and widths, and lets axe-core
// judge it.
package chrome

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing" //nolint:depguard // a package of tests
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp" //nolint:depguard // a package of tests
)

// stepTimeout bounds every single step of the browser.
const stepTimeout = 30 * time.Second

// required says whether FIRSTPICK_REQUIRE names something that tests need.
func required(name string) bool {
	return slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), name) //nolint:forbidigo // a package of tests
}

// A Tab is a browser at one server. Its methods fail the test that it was made for.
type Tab struct {
	t    testing.TB
	base string
	ctx  context.Context //nolint:containedctx // the browser's life
	// console returns the next message that a page wrote.
	console func() (chromedp.ConsoleMessage, error, bool)
}

// New starts a browser, or skips with -short and where there is none, with the cookies that a client
// has for a server, and with the features that are named on. It ends with the test.
func New(t testing.TB, base string, jar http.CookieJar, features ...string) *Tab {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes long")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" && required("chromium") {
		t.Fatal("FIRSTPICK_REQUIRE names chromium, and it is not installed")
	}
	if path == "" {
		t.Skip("no chromium on this machine")
	}
	opts := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-quic", true))
	if len(features) > 0 {
		opts = append(opts, chromedp.Flag("enable-features", strings.Join(features, ",")))
	}
	alloc, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("chromium does not start: %v", err)
	}
	console, done := iter.Pull2(chromedp.Console(ctx))
	t.Cleanup(done)
	b := &Tab{t, base, ctx, console}
	b.Call(emulation.SetFocusEmulationEnabled.Method, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	at, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range jar.Cookies(at) {
		b.Call(network.SetCookie.Method, network.SetCookieParams{Name: c.Name, Value: c.Value, URL: base, HTTPOnly: &c.HttpOnly})
	}
	return b
}

// Do runs steps.
func (b *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, stepTimeout)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// Load runs steps that lead to another page, and waits for that.
func (b *Tab) Load(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, stepTimeout)
	defer cancel()
	if _, err := chromedp.RunResponse(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// Open goes to a path of the server.
func (b *Tab) Open(path string) {
	b.t.Helper()
	b.Load(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		return t.Call(ctx, page.Navigate.Method, page.NavigateParams{URL: b.base + path}, nil)
	}))
}

// Call sends a command of the browser's protocol.
func (b *Tab) Call(method string, params any) {
	b.t.Helper()
	b.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error { return t.Call(ctx, method, params, nil) }))
}

// Get runs an action that has a value.
func Get[T any](b *Tab, a chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, stepTimeout)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// Eval returns what an expression is in the page.
func Eval[T any](b *Tab, expression string) T {
	b.t.Helper()
	return Get(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Script runs statements in the page.
func (b *Tab) Script(text string) {
	b.t.Helper()
	Eval[int](b, "(() => {"+text+"; return 0})()")
}

// Errors returns the errors that pages wrote to the console since the last call, but for a
// page whose own status is one.
func (b *Tab) Errors() (out []string) {
	b.t.Helper()
	const end = "last message"
	b.Script(`console.debug("` + end + `")`)
	here := Get(b, chromedp.Location())
	for {
		m, err, ok := b.console()
		if err != nil || !ok {
			b.t.Fatalf("the console ended: %v", err)
		}
		if m.Text == end {
			return out
		}
		if (m.Type == chromedp.ConsoleError || m.IsException()) && m.URL != here {
			out = append(out, m.URL+": "+m.String())
		}
	}
}

// Until waits until an expression holds in the page, also in one that it leads to.
func (b *Tab) Until(what, expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, stepTimeout)
	defer cancel()
	look := chromedp.Evaluate[bool](`new Promise(done => {
		const until = Date.now() + 500, look = () => (`+expression+`) ? done(true) : Date.now() > until ? done(false) : setTimeout(look, 20);
		look();
	})`, chromedp.EvalAwaitPromise)
	var err error
	for ctx.Err() == nil {
		var held bool
		// It fails while another page is loaded.
		if held, err = chromedp.Run(ctx, look); err == nil && held {
			return
		}
	}
	b.t.Fatalf("%s: that does not become true: %v", what, err)
}

// Size sets the width of the window; below 600 it is a telephone.
func (b *Tab) Size(width int64) {
	b.t.Helper()
	if width < 600 {
		b.Do(chromedp.EmulateViewport(width, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
		return
	}
	b.Do(chromedp.EmulateViewport(width, 900))
}

// Scheme sets the colours that the person prefers: light or dark.
func (b *Tab) Scheme(name string) {
	b.t.Helper()
	b.Call(emulation.SetEmulatedMedia.Method, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	})
}

// Print shows pages as they are printed, until Scheme is called.
func (b *Tab) Print() {
	b.t.Helper()
	b.Call(emulation.SetEmulatedMedia.Method, emulation.SetEmulatedMediaParams{Media: "print"})
}

// NoScript stops the scripts of pages that are opened from then on.
func (b *Tab) NoScript(off bool) {
	b.t.Helper()
	b.Call(emulation.SetScriptExecutionDisabled.Method, emulation.SetScriptExecutionDisabledParams{Value: off})
}
