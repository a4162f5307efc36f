package evals_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/firstpick/firstpick/server/servertest"
)

const ownCatalog = "category: {slug: web}\ntools:\n  - {slug: ours, name: Ours}\n"

// TestEditorsOfACatalogue do not overwrite each other.
func TestEditorsOfACatalogue(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		a := newAPI(t, s, s.EvalKey(t, s.Workspace(t, "dana", paid)))
		const path = "/api/v1/catalog"
		empty := a.get(path).is(200)
		if o := empty.object(); o["version"] != 0.0 || o["source"] != "" || o["createdAt"] != nil {
			t.Errorf("%s", empty.body)
		}
		first := a.do("PUT", path, ownCatalog, "If-Match", empty.header.Get("ETag")).is(200)
		one := a.get(path)
		if first.header.Get("ETag") != one.header.Get("ETag") || one.text("source") != ownCatalog || one.object()["version"] != 1.0 {
			t.Errorf("%s %s, then %s %s", first.header.Get("ETag"), first.body, one.header.Get("ETag"), one.body)
		}
		a.get(path, "If-None-Match", one.header.Get("ETag")).is(304)
		long := ownCatalog + "# " + strings.Repeat("words ", 500) + "\n"
		a.do("PUT", path, long).refused(428, "precondition_required")
		a.do("PUT", path, long, "If-Match", empty.header.Get("ETag")).refused(412, "catalog_changed")
		a.do("PUT", path, long, "If-Match", `"nothing"`).refused(412, "catalog_changed")
		a.do("PUT", path, long, "If-Match", `"nothing", `+one.header.Get("ETag")).is(200)
		a.do("PUT", path, long, "If-Match", one.header.Get("ETag")).is(200) // a repeated request
		packed := a.get(path, "Accept-Encoding", "gzip")
		if packed.header.Get("Content-Encoding") != "gzip" {
			t.Fatalf("%v", packed.header)
		}
		a.do("PUT", path, ownCatalog+"#\n", "If-Match", packed.header.Get("ETag")).is(200)
		if third := a.do("PUT", path, "# nothing\n", "If-Match", "*").is(200); third.object()["version"] != 4.0 {
			t.Errorf("%s", third.body)
		}
		if old := a.get(path + "/versions/1").is(200); old.text("source") != ownCatalog || !strings.HasSuffix(old.text("url"), path+"/versions/1") {
			t.Errorf("%s", old.body)
		}
		for _, n := range []string{"0", "5", "-1", "x", "99999999999999999999"} {
			a.get(path+"/versions/"+n).refused(404, "catalog_not_found")
		}

		// Of many that change one version, one does.
		tag := a.get(path).header.Get("ETag")
		var done sync.WaitGroup
		var mu sync.Mutex
		counts := map[int]int{}
		for i := range 6 {
			done.Go(func() {
				got := a.do("PUT", path, fmt.Sprintf("%s# %d\n", ownCatalog, i), "If-Match", tag)
				mu.Lock()
				counts[got.status]++
				mu.Unlock()
			})
		}
		done.Wait()
		if counts[200] != 1 || counts[412] != 5 {
			t.Errorf("%v", counts)
		}
	})
}

// TestHostileCatalogues are refused with the line, and nothing is stored.
func TestHostileCatalogues(t *testing.T) {
	s := servertest.New(t, servertest.Options{})
	a := newAPI(t, s, s.EvalKey(t, s.Workspace(t, "dana", paid)))
	const path, head = "/api/v1/catalog", "category: {slug: web}\ntools:\n"
	for name, c := range map[string]struct {
		body string
		line float64
		want string
	}{
		"a typo":            {head + "  - {slug: x, nam: X}", 3, "unknown key"},
		"a known slug":      {head + "  - {slug: x, name: X, packages: {pypi: [flask]}}", 3, "is claimed by flask too"},
		"a bomb":            {"a: &a [1,1]\nb: &b [*a,*a]\nc: &c [*b,*b]\n", 1, "unknown key"},
		"an alias":          {head + "  - &x {slug: x, name: X}\n  - *x", 4, "anchors and aliases"},
		"right to left":     {head + "  - {slug: x, name: \"\u202eX\"}", 3, "invisible character U+202E"},
		"an escape":         {head + "  - {slug: x, name: \"\x1b[2J\"}", 3, "invisible character U+001B"},
		"a NUL":             {head + "  - {slug: x, name: \"\x00\"}", 3, "invisible character U+0000"},
		"not UTF-8":         {"category: \xff\xfe", 0, "not UTF-8"},
		"a huge pattern":    {head + "  - {slug: x, name: X, aliases: [{text: X, require: '((a{9}){9}){9}'}]}", 3, "the pattern is too large"},
		"nested":            {"category: " + strings.Repeat("{a: ", 30_000), 0, "not YAML"},
		"a tool twice":      {head + strings.Repeat("  - {slug: x, name: X}\n", 2), 4, "duplicate slug"},
		"tools without end": {head + strings.Repeat("  - {slug: x, name: X}\n", 5_000), 0, "at most 500"},
	} {
		got := a.do("PUT", path, c.body)
		got.refused(400, "invalid_catalog")
		if !slices.ContainsFunc(got.list("issues"), func(issue map[string]any) bool {
			message, _ := issue["message"].(string)
			return strings.Contains(message, c.want) && (c.line == 0 || issue["line"] == c.line)
		}) {
			t.Errorf("%s: %.500s", name, got.body)
		}
	}
	a.do("PUT", path, head+"#"+strings.Repeat("x", 256<<10)).refused(413, "request_too_large")
	a.do("PUT", path, ownCatalog, "Content-Type", "image/png").refused(415, "unsupported_media_type")
	a.do("PUT", path+"?x=1", ownCatalog).refused(400, "invalid_request")
	if got := a.get(path).is(200); got.object()["version"] != 0.0 {
		t.Errorf("%s", got.body)
	}
	// Markup is a name like any other.
	a.do("PUT", path, head+"  - {slug: x, name: '<script>alert(1)</script>'}\n").is(200)
}
