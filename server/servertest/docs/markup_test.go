package docs_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/public/docs/docstest"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/servertest/vnu"
)

// TestMarkup has the Nu checker read all public pages.
func TestMarkup(t *testing.T) {
	s := servertest.New(t, servertest.Options{Server: func(c *server.Config) {
		holder := &snapshotview.Holder{}
		holder.Set(sitetest.New(t, 1))
		c.Source, c.CLI = holder, docstest.CLI
	}})
	paths := []string{"/", "/signin", "/docs/search", "/docs/search?q=rate+limit", "/docs/search?q=zebra"}
	snapshot := sitetest.New(t, 1)
	for _, b := range snapshot.Boards {
		paths = append(paths, "/leaderboards/"+b.Category)
		for _, tool := range b.Tools {
			paths = append(paths, "/tools/"+tool.Slug)
		}
	}
	for _, p := range docstest.New(t).Pages {
		paths = append(paths, p.Path)
	}
	pages := map[string]string{}
	for _, path := range paths {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "text/html")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(path, resp.Status, err)
		}
		pages[path] = string(body)
	}
	if len(pages) < 20 {
		t.Fatal("too few pages:", fmt.Sprint(len(pages)))
	}
	vnu.Check(t, "..", pages)
}
