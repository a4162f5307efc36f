package servertest_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/public/archive/archivetest"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
)

const (
	firstView = 14 << 10 // what a new connection carries at once: what is seen first, and the style sheet
	wholePage = 60 << 10 // the page with its style sheet, scripts and pictures; the font is cached
)

// TestPagesAreSmall holds pages to their sizes, compressed: those of a small board, of which all
// is counted as seen first, and of boards of 60 tools, up to the end of the first table.
func TestPagesAreSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("asks for page after page: a minute with the race detector")
	}
	small, _ := archivetest.Published(t)
	large, err := snapshotview.Build(sitetest.Large(t, 2, 60, 8, 24))
	if err != nil {
		t.Fatal(err)
	}
	for _, site := range []*snapshotview.Site{small, large} {
		srv := newServer(t, site, nil)
		size := func(path string) int {
			resp := ask(srv, "GET", path, "Accept-Encoding", "gzip")
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("%s: %d", path, resp.StatusCode)
			}
			return len(body(t, resp))
		}
		for _, path := range site.Views.Paths() {
			all, text := size(path), body(t, ask(srv, "GET", path))
			first := all
			if site == large {
				seen, _, _ := strings.Cut(text, "</table>")
				first = zipped(t, seen)
			}
			for _, u := range parse(t, text).links {
				switch {
				case strings.HasSuffix(u.Path, ".css"):
					first += size(u.Path)
					all += size(u.Path)
				case strings.HasSuffix(u.Path, ".js"), strings.HasSuffix(u.Path, ".svg"):
					all += size(u.Path)
				}
			}
			if first > firstView || all > wholePage {
				t.Errorf("%s: %d bytes to see it, %d in all", path, first, all)
			}
		}
	}
}

// zipped is how many bytes a text has when it is compressed.
func zipped(t *testing.T, text string) int {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.Len()
}
