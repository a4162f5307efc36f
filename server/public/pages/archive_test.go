package pages_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/public/archive"
	"github.com/firstpick/firstpick/server/public/archive/archivetest"
	"github.com/firstpick/firstpick/server/public/pages"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
)

// serve returns the pages of a site whose trials are those of archivetest.
func serve(t *testing.T) (http.Handler, *archivetest.Source) {
	t.Helper()
	return serveTrials(t, sitetest.Hostile)
}

// serveTrials is serve with the text of every answer; a study published those without one.
func serveTrials(t *testing.T, text string) (http.Handler, *archivetest.Source) {
	t.Helper()
	site := sitetest.NewTagged(t)
	site.Trials = true
	source := archivetest.New(t, 40, text)
	errors, sender := apierr.Writer{Base: sitetest.Base}, snapshotview.NewSender("")
	past := archive.New(archive.Config{
		Source: source, Current: func() *snapshotview.Site { return site }, Sender: sender, Errors: errors, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: time.Now, BaseURL: sitetest.Base,
	})
	t.Cleanup(func() { _ = past.Close() })
	r := chi.NewRouter()
	h := &pages.Handler{Current: func() *snapshotview.Site { return site }, Sender: sender, Errors: errors, Missing: snapshotview.NewMissing(sitetest.Base, errors), Archive: past}
	h.Mount(r)
	return r, source
}

func ask(h http.Handler, path string) (int, string) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Accept", "text/html")
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// TestPagesOfTheArchive have what it holds, in both forms; what it does not hold is 404.
func TestPagesOfTheArchive(t *testing.T) {
	h, _ := serve(t)
	for path, want := range map[string]struct {
		status int
		has    []string
	}{
		"/snapshots":                               {200, []string{archivetest.Current, archivetest.Older, "retracted", "1 erratum", "6 May 2026", "800"}},
		"/snapshots/" + archivetest.Older:          {200, []string{"The wrong model.", "A typing error.", "firstpick verify " + sitetest.Base + " --snapshot " + archivetest.Older, "manifest.json"}},
		"/snapshots/" + archivetest.Unknown:        {404, nil},
		"/snapshots/x":                             {404, nil},
		"/leaderboards/webserver/history":          {200, []string{"Measured once so far", "50.0%", "30.0%", "/api/public/history?category=webserver"}},
		"/leaderboards/nope/history":               {404, nil},
		"/ai-agents/aa":                            {404, []string{"No agent of this name is measured.", `href="/ai-agents/a"`}},
		"/leaderboards/webserver?agent=a":          {200, []string{"Only A: 40 of 336 trials."}},
		"/leaderboards/webserver?tag=persona:cook": {404, []string{"founder"}},
		"/leaderboards/webserver?sort=name":        {200, []string{"By name"}},
		"/leaderboards/webserver?sort=x":           {404, []string{"shortlist"}},
		"/leaderboards/nope?agent=a":               {404, nil},
	} {
		paths := []string{path}
		if want.status == 200 {
			page, query, found := strings.Cut(path, "?")
			if paths = append(paths, page+".md"); found {
				paths[1] += "?" + query
			}
		}
		for _, path := range paths {
			status, body := ask(h, path)
			if status != want.status {
				t.Errorf("%s: %d, want %d: %.300s", path, status, want.status, body)
			}
			for _, part := range want.has {
				if !strings.Contains(body, part) && !strings.HasSuffix(path, ".md?sort=name") {
					t.Errorf("%s lacks %s:\n%s", path, part, body)
				}
			}
		}
	}
	if _, body := ask(h, "/leaderboards/webserver/history?tool=nope"); !strings.Contains(body, "/leaderboards/webserver/history?tool=flask") {
		t.Errorf("an unknown tool leads nowhere: %s", body)
	}
}

// TestComposedPagesAreKept until the archive changes.
func TestComposedPagesAreKept(t *testing.T) {
	h, source := serve(t)
	for range 3 {
		ask(h, "/leaderboards/webserver/history?tool=flask")
		ask(h, "/leaderboards/webserver/history?tool=django")
	}
	if n := source.Calls.Load(); n != 1 {
		t.Errorf("the archive was read %d times", n)
	}
}
