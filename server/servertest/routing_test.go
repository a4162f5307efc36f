package servertest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/kit/apierr"
)

const browserAccept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

// TestNotFoundComesInTheFormThatWasAskedFor: people get a page that leads on, agents
// what they read, and programs the body of all errors.
func TestNotFoundComesInTheFormThatWasAskedFor(t *testing.T) {
	srv := newServer(t, demoSite(t, 1), nil)
	const html, markdown, asJSON = "text/html", "text/markdown", "application/json"
	for name, tt := range map[string]struct{ path, accept, want, text string }{
		"a browser at a path of nothing":          {"/nowhere", browserAccept, html, `action="/search"`},
		"a browser at a page of no tool":          {"/tools/nope", browserAccept, html, `action="/search"`},
		"a near name is a link":                   {"/tools/strpe", browserAccept, html, `href="/tools/stripe"`},
		"a near category is a link":               {"/leaderboards/webservr", browserAccept, html, `href="/leaderboards/webserver"`},
		"a browser at a page of no agent":         {"/ai-agents/nope", browserAccept, html, `href="/ai-agents">All agents`},
		"a browser at a document":                 {"/docs/nope", browserAccept, html, `docs`},
		"an agent that reads markdown":            {"/tools/nope", "text/markdown", markdown, base + "/llms.txt"},
		"an agent at a path of nothing":           {"/nowhere", "text/markdown, text/html;q=0.5", markdown, base + "/docs.md"},
		"a near name for an agent":                {"/tools/strpe.md", "*/*", markdown, base + "/tools/stripe.md"},
		"the address of markdown":                 {"/tools/nope.md", "", markdown, "# Not found"},
		"the address of markdown in a browser":    {"/tools/nope.md", browserAccept, markdown, "# Not found"},
		"the address of a markdown document":      {"/docs/nope.md", "", markdown, "# Not found"},
		"the address of markdown at nothing":      {"/nowhere.md", "", markdown, "# Not found"},
		"JSON is asked for":                       {"/tools/nope", "application/json", asJSON, `"error":"tool_not_found"`},
		"JSON is asked for at markdown's address": {"/tools/strpe.md", "application/json", asJSON, `"suggestions":["stripe"`},
		"JSON of a category":                      {"/leaderboards/webservr", "application/json", asJSON, `"suggestions":["webserver"]`},
		"a program that takes anything":           {"/nowhere", "*/*", asJSON, `"error":"not_found"`},
		"a page and a program takes anything":     {"/tools/nope", "*/*", html, "<h1>Not found</h1>"},
		"a browser at a path of the API":          {"/api/nowhere", browserAccept, asJSON, `"error":"not_found"`},
		"bytes that are no text":                  {"/tools/%FF", browserAccept, html, "<h1>Not found</h1>"},
	} {
		resp := ask(srv, "GET", tt.path, "Accept", tt.accept)
		text := body(t, resp)
		if resp.StatusCode != http.StatusNotFound || !strings.HasPrefix(resp.Header.Get("Content-Type"), tt.want) || !strings.Contains(text, tt.text) {
			t.Errorf("%s: %d %s, want %s with %q\n%s", name, resp.StatusCode, resp.Header.Get("Content-Type"), tt.want, tt.text, text)
		}
		if !strings.HasPrefix(tt.path, "/api/") && resp.Header.Get("Vary") != "Accept" {
			t.Errorf("%s: caches may keep it for who asks for another form", name)
		}
		if tt.want == html && resp.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: no policy", name)
		}
		if head := ask(srv, "HEAD", tt.path, "Accept", tt.accept); head.StatusCode != http.StatusNotFound || head.Header.Get("Content-Type") != resp.Header.Get("Content-Type") || body(t, head) != "" {
			t.Errorf("%s: HEAD %d %s", name, head.StatusCode, head.Header.Get("Content-Type"))
		}
	}
}

// TestPathsThatLeadElsewhere: a slash too many leads to the page without it, and the
// folders of lists to the list.
func TestPathsThatLeadElsewhere(t *testing.T) {
	srv := newServer(t, demoSite(t, 1), nil)
	for path, want := range map[string]struct {
		status int
		to     string
	}{
		"/setup/":                                {308, "/setup"},
		"/docs/":                                 {308, "/docs"},
		"/docs/api/":                             {308, "/docs/api"},
		"/tools/stripe/":                         {308, "/tools/stripe"},
		"/tools/stripe//?x=1":                    {308, "/tools/stripe?x=1"},
		"/leaderboards/":                         {308, "/leaderboards"},
		"/search/?q=stripe":                      {308, "/search?q=stripe"},
		"/claim/":                                {308, "/claim"},
		"/workspaces/acme/":                      {308, "/workspaces/acme"},
		"/api/public/report/?q=flask":            {308, "/api/public/report?q=flask"},
		"/healthz/":                              {308, "/healthz"},
		"/observed":                              {302, "/leaderboards#observed"},
		"/compare?a=PyPI:flask&b=django":         {303, "/compare/django-vs-flask"},
		"/compare/flask-vs-django":               {301, "/compare/django-vs-flask"},
		"/compare/flask-vs-django.md":            {301, "/compare/django-vs-flask.md"},
		"/":                                      {200, ""},
		"/nowhere/":                              {404, ""},
		"//evil.example/":                        {404, ""},
		"//evil.example/..//":                    {404, ""},
		apierr.MetadataPath + "/api/":            {200, ""},
		"/api/public%2Freport/?q=flask":          {404, ""},
		"/.well-known/oauth-protected-resource/": {308, apierr.MetadataPath},
	} {
		resp := ask(srv, "GET", base+path)
		if resp.StatusCode != want.status || resp.Header.Get("Location") != want.to {
			t.Errorf("%s: %d to %q, want %d to %q", path, resp.StatusCode, resp.Header.Get("Location"), want.status, want.to)
		}
		if head := ask(srv, "HEAD", base+path); head.StatusCode != want.status {
			t.Errorf("HEAD %s: %d, want %d", path, head.StatusCode, want.status)
		}
	}
	if resp := ask(srv, "POST", "/api/agent/keys/"); resp.StatusCode != 308 || resp.Header.Get("Location") != "/api/agent/keys" {
		t.Errorf("POST: %d to %q", resp.StatusCode, resp.Header.Get("Location"))
	}
}

// TestHeadAnswersWhereGetDoes, but where GET uses up what a person was sent.
func TestHeadAnswersWhereGetDoes(t *testing.T) {
	srv := newServer(t, demoSite(t, 1), nil)
	for _, path := range []string{"/healthz", "/readyz", "/signin", "/claim", "/agents", "/workspaces", "/", "/docs", "/llms.txt", "/openapi.json", "/auth.md", "/.well-known/jwks.json", "/api/public/report?q=flask"} {
		get, head := ask(srv, "GET", path), ask(srv, "HEAD", path)
		if head.StatusCode != get.StatusCode || head.StatusCode == http.StatusMethodNotAllowed || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") {
			t.Errorf("%s: GET %d %s, HEAD %d %s", path, get.StatusCode, get.Header.Get("Content-Type"), head.StatusCode, head.Header.Get("Content-Type"))
		}
	}
	for _, path := range []string{"/signin/link?token=x", "/signin/oidc/x", "/signin/oidc/x/callback"} {
		if resp := ask(srv, "HEAD", path); resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "GET" {
			t.Errorf("%s: HEAD %d, Allow %q", path, resp.StatusCode, resp.Header.Get("Allow"))
		}
	}
}

// TestEscapedPathsAreOnePath: an escaped slash separates nothing, whatever the method.
func TestEscapedPathsAreOnePath(t *testing.T) {
	srv := newServer(t, demoSite(t, 1), nil)
	for path, want := range map[string]int{
		"/api/public/report?q=flask": 200, "/api/public%2Freport?q=flask": 404, "/api%2Fpublic%2Freport?q=flask": 404, "/tools%2Fstripe": 404, "/tools/stri%70e": 200,
		"/api%2Fcollect": 404, "/healthz%2F": 404,
	} {
		for _, method := range []string{"GET", "HEAD"} {
			if resp := ask(srv, method, path); resp.StatusCode != want {
				t.Errorf("%s %s: %d, want %d", method, path, resp.StatusCode, want)
			}
		}
	}
}

func TestAQueryThatCannotBeRead(t *testing.T) {
	srv := newServer(t, demoSite(t, 1), nil)
	for _, query := range []string{"q=%zz", "q=%", "q=flask;x=1", "q=a&category=%2"} {
		resp := ask(srv, "GET", "/api/public/report?"+query)
		var e struct {
			Description string `json:"error_description"`
		}
		if err := json.Unmarshal([]byte(body(t, resp)), &e); err != nil || resp.StatusCode != http.StatusBadRequest || !strings.Contains(e.Description, "not well-formed") {
			t.Errorf("%s: %d %q %v", query, resp.StatusCode, e.Description, err)
		}
	}
}

// TestEveryPublicDocumentMayBeReadByScripts: what may be read from any origin answers
// the preflight of a request with headers of its own.
func TestEveryPublicDocumentMayBeReadByScripts(t *testing.T) {
	srv := newServer(t, demoSite(t, 1), nil)
	n := 0
	for _, path := range srv.Paths() {
		if strings.Contains(path, "{") || path == "/api/mcp" {
			path = strings.NewReplacer("{category}", "webserver", "{tool}", "stripe", "{stack}", "express").Replace(path)
		}
		if strings.ContainsAny(path, "{*") {
			continue
		}
		get := ask(srv, "GET", base+path, "Origin", "https://agent.example")
		if get.StatusCode != http.StatusOK || get.Header.Get("Access-Control-Allow-Origin") != "*" {
			continue
		}
		n++
		resp := ask(srv, "OPTIONS", base+path, "Origin", "https://agent.example", "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "if-none-match")
		if resp.StatusCode != http.StatusNoContent || resp.Header.Get("Access-Control-Allow-Origin") != "*" || resp.Header.Get("Access-Control-Max-Age") == "" ||
			!strings.Contains(resp.Header.Get("Access-Control-Allow-Methods"), "GET") {
			t.Errorf("%s: %d %v", path, resp.StatusCode, resp.Header)
		}
	}
	if n < 30 {
		t.Errorf("only %d documents were asked for", n)
	}
}
