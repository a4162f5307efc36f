package chrome

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing" //nolint:depguard // a package of tests

	"github.com/chromedp/chromedp"    //nolint:depguard // a package of tests
	"github.com/chromedp/chromedp/kb" //nolint:depguard // a package of tests
)

// Axe returns the source of axe-core, or skips. It lies in servertest/npm, beside the
// folder of the test, or where FIRSTPICK_NPM says.
func Axe(t testing.TB) string {
	t.Helper()
	folder := os.Getenv("FIRSTPICK_NPM") //nolint:forbidigo // a package of tests
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

// A verdict is what axe-core says of a page. Passed are the rules that some element
// keeps; they show that it looked.
type verdict struct {
	Scheme     string   `json:"scheme"`
	Passed     []string `json:"passed"`
	Violations []string `json:"violations"`
}

const runAxe = `axe.run(document, %s).then(r => ({
	scheme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
	passed: r.passes.map(v => v.id),
	violations: r.violations.map(v => v.id + ": " + v.help + "\n" + v.nodes.map(n => n.html.slice(0, 160) + "\n" + n.failureSummary).join("\n")),
}))`

// What axe-core looks for: everything, and what a dark scheme may change.
const (
	allRules   = `{}`
	colorRules = `{runOnly: {type: "rule", values: ["color-contrast", "link-in-text-block"]}}`
)

// Look judges the page that is open, light and dark, wide and narrow: axe-core finds
// nothing, the console has no error, it is never wider than the window, controls are large enough for a thumb,
// and it holds no script, style or handler of its own. FIRSTPICK_SHOTS names a folder
// for pictures.
func (b *Tab) Look(name, axe string) {
	b.t.Helper()
	b.Script(axe)
	if strings.HasSuffix(name, "-open") {
		b.Script(`document.querySelectorAll("details").forEach(e => e.open = true)`)
	}
	for _, l := range []struct {
		scheme string
		width  int64
		rules  string
	}{{"light", 1280, allRules}, {"dark", 1280, colorRules}, {"light", 390, allRules}, {"dark", 390, colorRules}} {
		b.Scheme(l.scheme)
		b.Size(l.width)
		got := Eval[verdict](b, fmt.Sprintf(runAxe, l.rules))
		if got.Scheme != l.scheme || !slices.Contains(got.Passed, "color-contrast") {
			b.t.Errorf("%s, %s, %d px: drawn %s, and no contrast was measured: %q", name, l.scheme, l.width, got.Scheme, got.Passed)
		}
		for _, v := range got.Violations {
			b.t.Errorf("%s, %s, %d px: %s", name, l.scheme, l.width, v)
		}
		if folder := os.Getenv("FIRSTPICK_SHOTS"); folder != "" { //nolint:forbidigo // a package of tests
			b.shot(filepath.Join(folder, fmt.Sprintf("%s-%d-%s.png", name, l.width, l.scheme)))
		}
	}
	for _, width := range []int64{768, 390, 320} {
		b.Size(width)
		b.fits(name, width)
	}
	if found := regexp.MustCompile(`(?i)<script>|<style| style=| on[a-z]+=|javascript:`).FindString(Eval[string](b, ownMarkup)); found != "" {
		b.t.Errorf("%s holds %q, which its policy forbids", name, found)
	}
	for _, message := range b.Errors() {
		b.t.Errorf("%s: %s", name, message)
	}
	b.Size(1280)
	b.Scheme("light")
}

// ownMarkup is every tag of the page with its attributes, without the texts between
// and the values of what is shown of others.
const ownMarkup = `(() => {
	const own = ["style", "href", "src", "action", "formaction", "srcdoc"];
	return [...document.querySelectorAll("*")].map(e => "<" + e.tagName + [...e.attributes].map(a =>
		" " + a.name + "=" + (own.includes(a.name) ? a.value : "")).join("") + (e.tagName === "SCRIPT" && !e.src ? ">" : " >")).join("\n");
})()`

func (b *Tab) shot(file string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, Get(b, chromedp.FullScreenshot(100)), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// fits fails when the page is wider than the window, or a control is too small for a
// thumb. What scrolls in a region of its own may be wider.
func (b *Tab) fits(name string, width int64) {
	b.t.Helper()
	got := Eval[struct {
		Wide  float64  `json:"wide"`
		Wider []string `json:"wider"`
		Small []string `json:"small"`
	}](b, `(() => {
		const name = (e, box) => e.tagName + " " + (e.textContent || e.id).trim().slice(0, 40) + " " + Math.round(box.width) + "x" + Math.round(box.height);
		const boxes = s => [...document.querySelectorAll(s)].filter(e => !e.closest(".scroll, .tabs, .chips, .columns, .rows thead")).map(e => [e, e.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
		return {
			wide: document.documentElement.scrollWidth - innerWidth,
			wider: boxes("main *").filter(([, box]) => box.right > innerWidth + 1).map(([e, box]) => name(e, box)),
			small: boxes("main button, main .button, main input:not([type=checkbox], [type=radio]), main select, main textarea").filter(([, box]) => box.height < 44 || box.width < 44).map(([e, box]) => name(e, box)),
		};
	})()`)
	if got.Wide > 0 || len(got.Wider) > 0 {
		b.t.Errorf("%s at %d px scrolls sideways by %v pixels: %q", name, width, got.Wide, got.Wider)
	}
	if len(got.Small) > 0 {
		b.t.Errorf("%s at %d px has controls that are too small: %q", name, width, got.Small)
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

// TabTo presses Tab until an element has the focus, which has to be seen on every stop
// of the way.
func (b *Tab) TabTo(selector string) {
	b.t.Helper()
	var way []string
	for range 120 {
		b.Do(chromedp.KeyEvent(kb.Tab))
		s := Eval[stop](b, `(() => {
			const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
			return {
				element: e.outerHTML.slice(0, 90), outline: style.outlineStyle, width: parseFloat(style.outlineWidth),
				inside: box.bottom > 0 && box.left >= 0 && box.top < innerHeight && box.left + Math.min(box.width, 44) <= innerWidth,
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
