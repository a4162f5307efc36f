package servertest_test

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// chromium returns the browser, or skips; where FIRSTPICK_REQUIRE names it, a
// machine without it fails.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), "chromium") {
		t.Fatal("FIRSTPICK_REQUIRE names chromium, and it is not installed")
	}
	t.Skip("no chromium on this machine")
	return ""
}

// TestPagesInARealBrowser lays every kind of page out at two widths: nothing
// sticks out sideways, there is one h1, every bar has a name that a screen
// reader can say, and no text is smaller than 12 pixels.
func TestPagesInARealBrowser(t *testing.T) {
	path := chromium(t)
	srv := httptest.NewServer(newServer(t, demoSite(t, 1), nil))
	defer srv.Close()
	opts := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-quic", true))
	alloc, stop := chromedp.NewExecAllocator(t.Context(), opts...)
	defer stop()
	ctx, cancel := chromedp.NewContext(alloc)
	defer cancel()
	for _, width := range []int64{1280, 390} {
		for _, page := range []string{"/", "/leaderboards/webserver", "/tools/bottle", "/docs/methodology", "/docs/errors", "/tools/nothing"} {
			if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate(srv.URL+page)); err != nil {
				t.Fatal(err)
			}
			got, err := chromedp.Run(ctx, chromedp.Evaluate[map[string]float64](`({
				over: document.documentElement.scrollWidth - window.innerWidth,
				h1: document.querySelectorAll("h1").length,
				unnamed: [...document.querySelectorAll("svg.bar")].filter(s => !s.getAttribute("aria-label")).length,
				small: [...document.querySelectorAll("body *")].filter(e => e.innerText && parseFloat(getComputedStyle(e).fontSize) < 12).length,
				styled: getComputedStyle(document.body).margin === "0px" ? 1 : 0,
			})`))
			if err != nil {
				t.Fatal(err)
			}
			if got["over"] > 0 || got["h1"] != 1 || got["unnamed"] != 0 || got["small"] != 0 || got["styled"] != 1 {
				t.Errorf("%s at %d px: %v", page, width, got)
			}
		}
	}
}
