package pages_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
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

// serveObserved returns the pages of a site with trials of webserver, and observed boards of
// webserver and orm.
func serveObserved(t *testing.T) http.Handler {
	t.Helper()
	site := sitetest.NewObserved(t)
	current, errors, sender := func() *snapshotview.Site { return site }, apierr.Writer{Base: sitetest.Base}, snapshotview.NewSender("")
	past := archive.New(archive.Config{
		Source: archivetest.New(t, 1, sitetest.Hostile), Current: current, Sender: sender, Errors: errors, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: time.Now, BaseURL: sitetest.Base,
	})
	t.Cleanup(func() { _ = past.Close() })
	r := chi.NewRouter()
	h := &pages.Handler{Current: current, Sender: sender, Errors: errors, Missing: snapshotview.NewMissing(sitetest.Base, errors), Archive: past}
	h.Mount(r)
	return r
}

// TestToolsThatWereOnlyObserved have a page, a line in each list, a badge and comparisons, in
// both forms.
func TestToolsThatWereOnlyObserved(t *testing.T) {
	h := serveObserved(t)
	for _, c := range []struct {
		path        string
		status      int
		want, never []string
	}{
		{"/tools/prisma", 200, []string{"In real work (observed, mostly on existing code), Prisma is the only listed tool that agents used in 67 pull requests.", "Not asked yet: no board of trials ranks Prisma.", "29 repositories", "May 2026"}, []string{"Pick rate"}},
		{"/tools/prisma.md", 200, []string{"In real work (observed, mostly on existing code), Prisma is the only listed tool that agents used in 67 pull requests.", "Not asked yet: no board of trials ranks Prisma.", "29 repositories", "Somebody & others"}, nil},
		{"/tools/drizzle", 404, nil, nil}, // listed, and nobody used it
		{"/tools/flask", 200, []string{"When asked", "In real work", "agents used Flask in 73.5% of the 83 pull requests that use a listed tool.", "Cite this"}, []string{"Not observed", "Not asked"}},
		{"/tools/sanic", 200, []string{"no agent used Sanic in the 83 pull requests that use a listed tool"}, nil},
		{"/tools", 200, []string{`href="/tools/prisma"`, "not asked", "67 of 67"}, nil},
		{"/observed/orm", 200, []string{`href="/tools/prisma"`}, []string{`href="/tools/drizzle"`}},
		{"/badge/prisma.svg", 200, []string{"used in 67 of 67 (observed) · ", "May 2026"}, nil},
		{"/badge/flask.svg", 200, []string{"picked in ", " · Python web frameworks · May 2026"}, nil},
		{"/search?q=prisma", 303, nil, nil},
		{"/search?q=pris+ma", 303, nil, nil},
		{"/search?q=Prism", 200, []string{`href="/tools/prisma"`}, nil},
		{"/search?q=aws", 200, []string{"not measured yet: AWS Amplify, "}, []string{"No tool, board or agent"}},
		{"/search?q=postgres", 200, []string{"In the catalogue, but not measured yet: Prisma Postgres."}, nil},
		{"/search?q=web+framework", 200, []string{`href="/leaderboards/webserver"`, `href="/observed/webserver"`, "in their name, address or language."}, nil},
		{"/search?q=webserver", 200, []string{`href="/leaderboards/webserver"`, `href="/observed/webserver"`, "in their name, address or language"}, nil}, // their address
		{"/search?q=python+web+framework+PYTHON", 200, []string{`href="/observed/webserver"`, "python web framework PYTHON"}, []string{"Is it yours"}},
		{"/search?q=python", 200, []string{`href="/observed/orm"`, "in their name, address or language", "67 of 67"}, nil}, // their language
		{"/search?q=python+mappers", 200, []string{`href="/observed/orm"`, "67 of 67"}, []string{`href="/observed/webserver"`}},
		{"/search?q=prismo", 200, []string{`href="/tools/prisma"`}, []string{`id="observed"`}}, // the table of tools leads there
		{"/search?q=python", 200, []string{`href="/observed/webserver"`, "in their name, address or language"}, []string{"Is it yours"}},
		{"/search?q=prisma-postgres", 200, []string{"itself is in the catalogue. No trials measure it yet. Others of its category: "}, []string{"none of its categories"}},
		{"/compare/flask-vs-prisma", 404, []string{`href="/compare/fastapi-vs-flask"`, `href="/tools/prisma"`}, nil},
		{"/compare/django-vs-flask", 200, []string{"When asked", "agents used Flask in 73.5% of the 83 pull requests that use a listed tool", "Cite the answers", "Cite the use in real work", "format=csv"}, nil},
		{"/compare/django-vs-flask.md", 200, []string{"In real work, agents used Flask in 73.5% (62.6%–82.1%) of the 83 pull requests that use a listed tool, and Django in 26.5% (17.9%–37.4%).", "format=csv"}, nil},
		{"/compare?a=flask&b=prisma", 200, []string{"No board has both Flask and Prisma.", `href="/compare/django-vs-flask"`, `list="names" value="Flask"`}, nil},
		{"/compare?a=Flask&b=flsk", 200, []string{"No tool here is called &#34;flsk&#34;.", `<option value="django">`}, nil},
		{"/compare?a=flask&b=django", 303, nil, nil},
		{"/search?q=Flask+vs.+django", 303, nil, nil},
		{"/search?q=flask+or+nothing-known", 200, []string{"No tool here is called <q>nothing-known</q>.", `href="/tools/flask"`}, []string{"No tool is exactly"}},
		{"/search?q=flask+or+stripe", 303, nil, nil},
		{"/search?q=stripe+or+nothing", 200, []string{"No tool here is called <q>nothing</q>.", "not measured yet: Stripe."}, nil},
		{"/search?q=nothing+or+none", 200, []string{"No tool here is called <q>nothing</q> or <q>none</q>."}, []string{"<table"}},
		{"/compare?a=flask", 200, []string{"Compare Flask", `<option value="django">`}, []string{"No board"}},
		{"/compare?a=nope", 303, nil, nil},
	} {
		status, body := ask(h, c.path)
		if status != c.status {
			t.Errorf("%s: %d, want %d: %.300s", c.path, status, c.status, body)
		}
		for _, w := range c.want {
			if !strings.Contains(body, w) {
				t.Errorf("%s lacks %s:\n%s", c.path, w, body)
			}
		}
		for _, w := range c.never {
			if strings.Contains(body, w) {
				t.Errorf("%s has %s:\n%s", c.path, w, body)
			}
		}
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/search?q=prisma", nil)
	r.Header.Set("Accept", "application/json")
	if h.ServeHTTP(w, r); !strings.Contains(w.Body.String(), `"tool":null`) || !strings.Contains(w.Body.String(), `"observedTool":{"name":"Prisma","slug":"prisma","observed":true,"url":"`+sitetest.Base+`/tools/prisma"}`) {
		t.Errorf("as JSON: %s", w.Body)
	}
}

// TestSearchSuggestsPages: what is typed so far leads to pages of each kind, the best match first, and a
// package or a misspelt name to its tool.
func TestSearchSuggestsPages(t *testing.T) {
	h := serveObserved(t)
	for query, want := range map[string]string{
		"fla":             "tool Flask (Python web frameworks, asked 30%, observed 73% (63–82%)), comparison ",
		"flsk":            "tool Flask (Python web frameworks, asked 30%, observed 73% (63–82%)), ",
		"pypi:flask":      "tool Flask (Python web frameworks, asked 30%, observed 73% (63–82%)), ",
		"flask vs djan":   "comparison Flask or Django, ",
		"codex":           "agent Codex (observed), ",
		"prism":           "tool Prisma (Object-relational mappers, observed 67 of 67), ",
		"frameworks":      "board Python web frameworks (asked), ",
		"stripe":          "tool Stripe (no trials yet), ",
		"seaor":           "tool SeaORM (no trials yet), ",
		"zzzz":            "",
		"":                "",
		"or":              "",
		"\x00<script> fl": "",
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/search?q="+url.QueryEscape(query), nil)
		r.Header.Set("Accept", "application/json")
		h.ServeHTTP(w, r)
		var got struct {
			Pages []struct{ Name, Kind, Note, URL string }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.Pages) > 8 {
			t.Fatalf("%q: %v %s", query, err, w.Body)
		}
		var b strings.Builder
		for _, p := range got.Pages {
			b.WriteString(p.Kind + " " + p.Name)
			if p.Note != "" {
				b.WriteString(" (" + p.Note + ")")
			}
			b.WriteString(", ")
			path, _, _ := strings.Cut(strings.TrimPrefix(p.URL, sitetest.Base), "#")
			if status, _ := ask(h, path); status != http.StatusOK {
				t.Errorf("%q: %s answers %d", query, p.URL, status)
			}
		}
		if list := b.String(); !strings.HasPrefix(list, want) || want == "" && list != "" {
			t.Errorf("%q suggests %q, want %q first", query, list, want)
		}
	}
}
