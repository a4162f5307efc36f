package browser_test

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/firstpick/firstpick/server/servertest"
)

// A stop is an element that the Tab key reached.
type stop struct {
	Element string  `json:"element"`
	Outline string  `json:"outline"`
	Width   float64 `json:"width"`
	Inside  bool    `json:"inside"` // the window
	Hit     bool    `json:"hit"`    // it is the one that was looked for
}

// tabTo presses Tab until an element has the focus, which has to be seen on
// every stop of the way.
func (b *tab) tabTo(selector string) {
	b.t.Helper()
	var way []string
	for range 40 {
		b.do(chromedp.KeyEvent(kb.Tab))
		s := eval[stop](b, `(() => {
			const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
			return {
				element: e.outerHTML.slice(0, 90), outline: style.outlineStyle, width: parseFloat(style.outlineWidth),
				inside: box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth,
				hit: e.matches(`+quote(selector)+`),
			};
		})()`)
		if strings.HasPrefix(s.Element, "<body") {
			continue // around the end of the page
		}
		if s.Outline == "none" || s.Width < 2 || !s.Inside {
			b.t.Errorf("%s: the focus is not seen: %+v", b.title(), s)
		}
		if s.Hit {
			return
		}
		way = append(way, s.Element)
	}
	b.t.Fatalf("%s: Tab does not reach %s, but %q", b.title(), selector, way)
}

// fits fails when a page is wider than the window, or a control is too small for
// a thumb (44 pixels).
func (b *tab) fits() {
	b.t.Helper()
	got := eval[struct {
		Wide  float64  `json:"wide"`
		Wider []string `json:"wider"`
		Small []string `json:"small"`
	}](b, `(() => {
		const name = (e, box) => e.tagName + " " + (e.textContent || e.id).trim().slice(0, 40) + " " + Math.round(box.width) + "x" + Math.round(box.height);
		const boxes = s => [...document.querySelectorAll(s)].map(e => [e, e.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
		return {
			wide: document.documentElement.scrollWidth - screen.width,
			wider: boxes("main *").filter(([, box]) => box.right > screen.width + 1).map(([e, box]) => name(e, box)),
			small: boxes("main button, main .button, main input, main select").filter(([, box]) => box.height < 44 || box.width < 44).map(([e, box]) => name(e, box)),
		};
	})()`)
	if got.Wide > 0 || len(got.Wider) > 0 {
		b.t.Errorf("%s scrolls sideways by %v pixels: %q", b.title(), got.Wide, got.Wider)
	}
	if len(got.Small) > 0 {
		b.t.Errorf("%s has controls that are too small: %q", b.title(), got.Small)
	}
}

// keyboard goes the whole way on a telephone's width without a pointer.
func keyboard(t *testing.T, chrome context.Context) {
	s := servertest.New(t, servertest.Options{})
	b := newTab(t, chrome, s.URL)
	b.size(390)
	b.keys, b.loaded = true, b.fits
	walk(b, s)
}

// noScript goes the whole way in a browser that runs no script.
func noScript(t *testing.T, chrome context.Context) {
	s := servertest.New(t, servertest.Options{})
	b := newTab(t, chrome, s.URL)
	call(b, emulation.SetScriptExecutionDisabled.Method, emulation.SetScriptExecutionDisabledParams{Value: true}, nil)
	b.do(chromedp.Navigate("data:text/html,<title>off</title><script>document.title='on'</script>"))
	if title := get(b, chromedp.Title()); title != "off" {
		t.Fatalf("scripts run: the title is %q", title)
	}
	walk(b, s)
}
