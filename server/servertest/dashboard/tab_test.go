package dashboard_test

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// patience bounds every single step of the browser.
const patience = 30 * time.Second

// required says whether FIRSTPICK_REQUIRE names something that tests need.
func required(name string) bool {
	return slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), name)
}

// axe returns the source of axe-core, or skips.
func axe(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("FIRSTPICK_NPM")
	if folder == "" {
		folder = filepath.Join("..", "npm")
	}
	data, err := os.ReadFile(filepath.Join(folder, "node_modules", "axe-core", "axe.min.js"))
	if err != nil && required("npm") {
		t.Fatalf("FIRSTPICK_REQUIRE names npm, and axe-core is not installed: %v", err)
	}
	if err != nil {
		t.Skipf("axe-core is not installed: %v", err)
	}
	return string(data)
}

// A tab is a browser in which an owner is signed in.
type tab struct {
	t   *testing.T
	o   *owner
	ctx context.Context
}

// newTab starts a browser, or skips, with the cookies of an owner.
func newTab(t *testing.T, o *owner) *tab {
	t.Helper()
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
	alloc, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("chromium does not start: %v", err)
	}
	b := &tab{t, o, ctx}
	call(b, emulation.SetFocusEmulationEnabled.Method, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	base, err := url.Parse(o.d.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range o.http.Jar.Cookies(base) {
		call(b, network.SetCookie.Method, network.SetCookieParams{Name: c.Name, Value: c.Value, URL: o.d.URL, HTTPOnly: &c.HttpOnly})
	}
	return b
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// load runs steps that lead to another page, and waits for that.
func (b *tab) load(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if _, err := chromedp.RunResponse(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// open goes to a page of the workspace.
func (b *tab) open(path string) {
	b.t.Helper()
	b.load(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		return t.Call(ctx, page.Navigate.Method, page.NavigateParams{URL: b.o.d.URL + path}, nil)
	}))
}

// call sends a command of the browser's protocol.
func call(b *tab, method string, params any) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error { return t.Call(ctx, method, params, nil) }))
}

// get runs an action that has a value.
func get[T any](b *tab, a chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// eval returns what an expression is in the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	return get(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// size sets the width of the window; below 600 it is a telephone.
func (b *tab) size(width int64) {
	b.t.Helper()
	if width < 600 {
		b.do(chromedp.EmulateViewport(width, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
		return
	}
	b.do(chromedp.EmulateViewport(width, 900))
}

// scheme sets the colours that the person prefers: light or dark.
func (b *tab) scheme(name string) {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia.Method, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	})
}
