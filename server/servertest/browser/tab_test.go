package browser_test

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// stepTimeout bounds every single step, so that a page that never comes fails its
// test and not the whole run.
const stepTimeout = 30 * time.Second

// required says whether FIRSTPICK_REQUIRE names something that tests need.
func required(name string) bool {
	return slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), name)
}

// chromium starts the browser that all tests share. Without one they are
// skipped, or fail where FIRSTPICK_REQUIRE names it.
func chromium(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes long")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
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
		return ctx
	}
	if required("chromium") {
		t.Fatal("FIRSTPICK_REQUIRE names chromium, and it is not installed")
	}
	t.Skip("no chromium on this machine")
	return nil
}

// A tab is a browser of its own, with its own cookies, that one person uses.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string
	// keys makes the person use the keyboard alone.
	keys bool
	// loaded is called after every page that was loaded.
	loaded func()
	// last is the answer that the current page came with.
	last *network.Response
}

func newTab(t *testing.T, chrome context.Context, base string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(chrome, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx, base: base, loaded: func() {}}
	if err := chromedp.Do(ctx); err != nil { // without a limit: the tab would end with it
		t.Fatalf("no new tab: %v", err)
	}
	call(b, emulation.SetFocusEmulationEnabled.Method, emulation.SetFocusEmulationEnabledParams{Enabled: true}, nil)
	b.size(1280)
	return b
}

func (b *tab) limit() (context.Context, context.CancelFunc) {
	return context.WithTimeout(b.ctx, stepTimeout)
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := b.limit()
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("at %s: %v", b.title(), err)
	}
}

// call sends a command of the browser's protocol.
func call(b *tab, method string, params, result any) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error { return t.Call(ctx, method, params, result) }))
}

// get runs an action that has a value.
func get[T any](b *tab, a chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := b.limit()
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		b.t.Fatalf("at %s: %v", b.title(), err)
	}
	return v
}

// eval returns what an expression is in the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	return get(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// title names the current page in failures.
func (b *tab) title() string {
	ctx, cancel := context.WithTimeout(b.ctx, time.Second)
	defer cancel()
	title, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.pathname + " (" + document.title + ")"`))
	if err != nil {
		return "a page that does not answer"
	}
	return title
}

// load runs steps that lead to another page, and waits for that.
func (b *tab) load(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	from := b.title()
	ctx, cancel := b.limit()
	defer cancel()
	resp, err := chromedp.RunResponse(ctx, steps...)
	if err != nil {
		b.t.Fatalf("leaving %s: %v", from, err)
	}
	if resp != nil {
		b.last = resp
	}
	b.loaded()
}

// open goes to an address; a path is one of the server's.
func (b *tab) open(address string) {
	b.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = b.base + address
	}
	b.load(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		return t.Call(ctx, page.Navigate.Method, page.NavigateParams{URL: address}, nil)
	}))
}

func (b *tab) reload() {
	b.t.Helper()
	b.load(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		return t.Call(ctx, page.Reload.Method, page.ReloadParams{}, nil)
	}))
}

// fill types into a field that was empty.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	if b.keys {
		b.tabTo(selector)
		b.do(chromedp.KeyEvent(text))
		return
	}
	b.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// press uses a button or link that leads to another page.
func (b *tab) press(selector string) {
	b.t.Helper()
	if b.keys {
		b.tabTo(selector)
		b.load(chromedp.KeyEvent(kb.Enter))
		return
	}
	b.load(chromedp.Click(chromedp.CSS(selector)))
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
	}, nil)
}

// at fails unless the page has this path, no query, and this status.
func (b *tab) at(path string, status int64) {
	b.t.Helper()
	u, err := url.Parse(get(b, chromedp.Location()))
	if err != nil {
		b.t.Fatal(err)
	}
	if u.Path != path || u.RawQuery != "" || b.last.Status != status {
		b.t.Fatalf("at %s?%s with status %d, want %s without query and %d; it says:\n%s", u.Path, u.RawQuery, b.last.Status, path, status, b.text())
	}
}

func (b *tab) text() string {
	b.t.Helper()
	return eval[string](b, `document.body.innerText`)
}

// says fails unless the page shows all of these words.
func (b *tab) says(words ...string) {
	b.t.Helper()
	text := b.text()
	for _, w := range words {
		if !strings.Contains(text, w) {
			b.t.Fatalf("%s does not say %q, but:\n%s", b.title(), w, text)
		}
	}
}

func (b *tab) has(selector string) bool {
	b.t.Helper()
	return eval[bool](b, `document.querySelector(`+quote(selector)+`) !== null`)
}

// attribute returns an attribute of the first element that a selector finds.
func (b *tab) attribute(selector, name string) string {
	b.t.Helper()
	return eval[string](b, `document.querySelector(`+quote(selector)+`)?.getAttribute(`+quote(name)+`) ?? "absent"`)
}

func quote(s string) string { return "`" + strings.ReplaceAll(s, "`", "\\`") + "`" }

// history returns the addresses that the back button knows.
func (b *tab) history() []string {
	b.t.Helper()
	var out []string
	for _, e := range get(b, chromedp.NavigationEntries()).Entries {
		out = append(out, e.URL)
	}
	return out
}

// back presses the back button. A page that comes from the browser's memory, as it
// was left, must load itself again.
func (b *tab) back() {
	b.t.Helper()
	h := get(b, chromedp.NavigationEntries())
	if h.CurrentIndex == 0 {
		b.t.Fatalf("there is nothing to go back to: %v", b.history())
	}
	fresh := func(e page.EventFrameNavigated) bool {
		return e.Frame.ParentID == "" && e.Type != page.NavigationTypeBackForwardCacheRestore
	}
	press := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		id := h.Entries[h.CurrentIndex-1].ID
		return t.Call(ctx, page.NavigateToHistoryEntry.Method, page.NavigateToHistoryEntryParams{EntryID: id}, nil)
	})
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		loaded, stop := t.Subscribe(page.LoadEventFired.Method)
		defer stop()
		if _, err := chromedp.WaitEvent(page.FrameNavigated, fresh, press)(ctx, t); err != nil {
			return err
		}
		select {
		case <-loaded:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}))
	b.loaded()
}

// evaluate runs a script whose value does not matter.
func evaluate(script string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Evaluate[any]("("+"() => {"+script+"; return 0})()")(ctx, t)
		return chromedp.Void{}, err
	}
}
