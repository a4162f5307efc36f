package browser_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// axe returns the source of axe-core. Without it the test is skipped, or fails
// where FIRSTPICK_REQUIRE names npm.
func axe(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("FIRSTPICK_NPM")
	if folder == "" {
		folder = filepath.Join("..", "npm")
	}
	data, err := os.ReadFile(filepath.Join(folder, "node_modules", "axe-core", "axe.min.js"))
	if err == nil {
		return string(data)
	}
	if required("npm") {
		t.Fatalf("FIRSTPICK_REQUIRE names npm, and axe-core is not installed: %v", err)
	}
	t.Skipf("axe-core is not installed: %v", err)
	return ""
}

// looks are how every page is looked at.
var looks = []struct {
	scheme string
	width  int64
}{{"light", 1280}, {"dark", 1280}, {"light", 390}, {"dark", 390}}

// A report is what axe-core says of a page. Passed are the rules that some
// element keeps; they show that it looked.
type report struct {
	Scheme     string   `json:"scheme"`
	Passed     []string `json:"passed"`
	Violations []string `json:"violations"`
}

const run = `axe.run(document).then(r => ({
	scheme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
	passed: r.passes.map(v => v.id),
	violations: r.violations.map(v => v.id + ": " + v.help + "\n" + v.nodes.map(n => n.html.slice(0, 160) + "\n" + n.failureSummary).join("\n")),
}))`

// accessible holds every page to all rules of axe-core, in both colour schemes,
// on a desk and on a telephone.
func accessible(t *testing.T, chrome context.Context) {
	source := axe(t)
	tour(t, chrome, func(b *tab, name string) {
		b.do(evaluate(source))
		for _, l := range looks {
			b.scheme(l.scheme)
			b.size(l.width)
			got := eval[report](b, run)
			if got.Scheme != l.scheme || !slices.Contains(got.Passed, "color-contrast") {
				t.Errorf("%s, %s, %d px: drawn %s, and no contrast was measured: %q", name, l.scheme, l.width, got.Scheme, got.Passed)
			}
			for _, v := range got.Violations {
				t.Errorf("%s, %s, %d px: %s", name, l.scheme, l.width, v)
			}
		}
		b.scheme("light")
		b.size(1280)
	})
}

// narrow looks for sideways scrolling and small controls at the widths of
// telephones, and at the width that a desk shows when zoomed to 400 %.
func narrow(t *testing.T, chrome context.Context) {
	tour(t, chrome, func(b *tab, _ string) {
		for _, width := range []int64{390, 320} {
			b.size(width)
			b.fits()
		}
		b.size(1280)
	})
}
