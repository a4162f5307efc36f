package servertest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/public/archive/archivetest"
	"github.com/firstpick/firstpick/server/public/docs/docstest"
)

// documented is a server with figures, a command line in its documents, and the paths
// of all of them.
func documented(t testing.TB) (*server.Server, []string) {
	t.Helper()
	srv := newServer(t, demoSite(t, 1), func(c *server.Config) { c.CLI = docstest.CLI })
	var paths []string
	for _, p := range docstest.New(t).Pages {
		paths = append(paths, p.Path)
	}
	return srv, paths
}

// ours are our scripts: tools for an agent in the browser, and what pages do without.
var ours = regexp.MustCompile(`<script src="/assets/(?:webmcp|page)-[0-9a-f]+\.js" defer></script>|<script type="application/ld\+json">[^<]*</script>`)

func TestEveryDocumentIsServedThreeWays(t *testing.T) {
	srv, paths := documented(t)
	for _, path := range append(paths, "/", "/leaderboards/webserver", "/tools/bottle", "/leaderboards", "/tools", "/compare", "/ai-agents", "/changes", "/for-vendors", "/snapshots", "/ai-agents/m", "/compare/bottle-vs-django") {
		asMarkdown := path + ".md"
		if path == "/" {
			asMarkdown = "/index.md"
		}
		page := ask(srv, "GET", path)
		direct := ask(srv, "GET", asMarkdown)
		negotiated := ask(srv, "GET", path, "Accept", "text/markdown")
		text, words := body(t, page), body(t, direct)
		if page.StatusCode != 200 || page.Header.Get("Content-Type") != "text/html; charset=utf-8" || page.Header.Get("Content-Security-Policy") == "" || strings.Contains(ours.ReplaceAllString(text, ""), "<script") {
			t.Errorf("%s: %d %v", path, page.StatusCode, page.Header)
		}
		if direct.StatusCode != 200 || direct.Header.Get("Content-Type") != "text/markdown; charset=utf-8" || !strings.HasPrefix(words, "# ") {
			t.Errorf("%s: %d %v", asMarkdown, direct.StatusCode, direct.Header)
		}
		if body(t, negotiated) != words || negotiated.Header.Get("ETag") != direct.Header.Get("ETag") || direct.Header.Get("ETag") == page.Header.Get("ETag") {
			t.Errorf("%s: Accept: text/markdown gets something else than %s", path, asMarkdown)
		}
		link := "<" + base + asMarkdown + `>; rel="alternate"; type="text/markdown"`
		if page.Header.Get("Vary") != "Accept, Accept-Encoding" || !slices.Contains(page.Header.Values("Link"), link) || !strings.Contains(text, `<link rel="alternate" type="text/markdown" href="`+asMarkdown+`">`) {
			t.Errorf("%s does not lead to %s: %v", path, asMarkdown, page.Header)
		}
		if canonical := "<" + base + path + `>; rel="canonical"`; !slices.Contains(direct.Header.Values("Link"), canonical) {
			t.Errorf("%s does not lead to its page: %v", asMarkdown, direct.Header)
		}
		for _, resp := range []*http.Response{page, direct} {
			target := path
			if resp == direct {
				target = asMarkdown
			}
			again, head := ask(srv, "GET", target, "If-None-Match", resp.Header.Get("ETag")), ask(srv, "HEAD", target)
			if again.StatusCode != 304 || body(t, again) != "" || again.Header.Get("Vary") != resp.Header.Get("Vary") {
				t.Errorf("%s with its tag: %d", target, again.StatusCode)
			}
			if head.StatusCode != 200 || body(t, head) != "" || head.Header.Get("Content-Length") != resp.Header.Get("Content-Length") {
				t.Errorf("HEAD %s: %d %v", target, head.StatusCode, head.Header)
			}
			if small := ask(srv, "GET", target, "Accept-Encoding", "gzip"); small.Header.Get("Content-Encoding") != "gzip" || small.Header.Get("ETag") == resp.Header.Get("ETag") {
				t.Errorf("%s under gzip: %v", target, small.Header)
			}
		}
	}
}

func TestAcceptChoosesTheForm(t *testing.T) {
	srv, _ := documented(t)
	for accept, markdown := range map[string]bool{
		"": false, "*/*": false, "text/html": false, "text/*": false, "text/markdown": true, "text/markdown, text/html, */*": true, "text/html, text/markdown;q=0.9": false,
		"text/html;q=0.8, text/markdown;q=0.9": true, "text/markdown;q=0.5, */*": false, "text/markdown;q=0": false, "text/markdown;q=0, */*": false, "TEXT/Markdown": true,
		"text/markdown; variant=GFM; q=0.9, text/html; q=0.1": true, "application/json": false, "image/png": false, "text/markdown;q=high": true, ",;=,": false, "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": false,
		"text/html;q=0.4, text/*;q=0.9, text/markdown;q=0.3": false,
	} {
		for _, path := range []string{"/docs/limits", "/leaderboards/webserver"} {
			resp := ask(srv, "GET", path, "Accept", accept)
			if got := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/markdown"); got != markdown || resp.StatusCode != 200 {
				t.Errorf("%s of %q: %d %s", path, accept, resp.StatusCode, resp.Header.Get("Content-Type"))
			}
		}
	}
}

// A hyperlink is an address in a page.
var (
	inMarkdown = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	bare       = regexp.MustCompile(`https?://[^\s)\]"'<>\x60|]+`)
)

// TestEveryLinkLeadsSomewhere follows all links of all documents, in both forms: ours to
// an answer of this very server, with the anchor in it; others must be https.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("asks for page after page: a minute with the race detector")
	}
	srv, paths := documented(t)
	ids := map[string]map[string]bool{} // of pages that were asked for; nil if absent
	look := func(path string) map[string]bool {
		found, known := ids[path]
		if known {
			return found
		}
		resp := ask(srv, "GET", strings.Replace(path, "/snapshots/abc", "/snapshots/"+archivetest.Current, 1)) // the archive has another id than the site
		text := body(t, resp)
		if resp.StatusCode == 200 {
			found = map[string]bool{}
			for _, m := range regexp.MustCompile(`\bid="([^"]+)"`).FindAllStringSubmatch(text, -1) {
				found[m[1]] = true
			}
		}
		ids[path] = found
		return found
	}
	n := 0
	check := func(from, link string) {
		n++
		u, err := url.Parse(link)
		if err != nil {
			t.Errorf("%s leads to %q: %v", from, link, err)
			return
		}
		if at, ours := strings.CutPrefix(link, base); ours && (at == "" || strings.ContainsAny(at[:1], "/#?")) || u.Host == "" {
			path := cmpOr(u.EscapedPath(), strings.TrimSuffix(from, ".md"))
			if u.Host != "" {
				path = cmpOr(u.EscapedPath(), "/")
			}
			found := look(strings.TrimSuffix(path+"?"+u.RawQuery, "?"))
			if u.Fragment != "" && strings.HasSuffix(path, ".md") {
				found = look(strings.TrimSuffix(path, ".md")) // where anchors have their ids
			}
			if found == nil {
				t.Errorf("%s leads to %s, which is nowhere", from, link)
			} else if u.Fragment != "" && !found[u.Fragment] {
				t.Errorf("%s leads to %s, which has no such anchor", from, link)
			}
			return
		}
		if u.Scheme != "https" || !strings.Contains(u.Host, ".") {
			t.Errorf("%s leads to %s, which is not https", from, link)
		}
	}
	for _, path := range append(paths, "/leaderboards/webserver", "/tools/bottle", "/", "/leaderboards", "/tools", "/compare", "/ai-agents", "/changes", "/for-vendors", "/snapshots", "/ai-agents/m", "/observed/webserver", "/compare/bottle-vs-django", "/leaderboards/webserver/history", "/leaderboards/webserver/trials") {
		doc, err := html.Parse(strings.NewReader(body(t, ask(srv, "GET", path))))
		if err != nil {
			t.Fatal(err)
		}
		for n := range doc.Descendants() {
			for _, a := range n.Attr {
				if (a.Key == "href" || a.Key == "action") && !strings.HasPrefix(a.Val, "data:") && !needsSession(a.Val) {
					check(path, a.Val)
				}
			}
		}
		asMarkdown := cmpOr(strings.TrimSuffix(path, "/"), "/index") + ".md"
		for _, m := range inMarkdown.FindAllStringSubmatch(withoutCode(body(t, ask(srv, "GET", asMarkdown))), -1) {
			check(asMarkdown, m[1])
		}
	}
	if n < 1000 {
		t.Errorf("only %d links were followed", n)
	}
}

func needsSession(link string) bool {
	path, _, _ := strings.Cut(link, "?")
	return path == "/agents" || path == "/workspaces"
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

var codeBlock = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")

func withoutCode(s string) string { return codeBlock.ReplaceAllString(s, "`code`") }

// TestAddressesInCodeAreRoutes holds the addresses of ours that stand in code, which
// nobody follows, to what is routed.
func TestAddressesInCodeAreRoutes(t *testing.T) {
	srv, paths := documented(t)
	routed := func(path string) bool {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
			if resp := ask(srv, method, path); resp.StatusCode != 404 && resp.StatusCode != 405 || strings.Contains(resp.Header.Get("Allow"), method) {
				return true
			}
			if e := body(t, ask(srv, method, path)); strings.Contains(e, "_not_found") {
				return true // the route is there, and has no such thing
			}
		}
		return false
	}
	later := []string{"/api/v2/evals", "/claim", "/api/"} // mounted apart, an example, or the name of the whole
	for _, path := range paths {
		text := body(t, ask(srv, "GET", path+".md"))
		for _, address := range bare.FindAllString(text, -1) {
			at, ours := strings.CutPrefix(strings.TrimRight(address, ".,;:"), base+"/")
			if !ours {
				continue
			}
			at = "/" + strings.NewReplacer("$EVAL", "evl_1", "$RUN", "run_1", "$BASE_RUN", "run_2").Replace(at)
			if u, err := url.Parse(at); err != nil || !slices.Contains(later, u.Path) && !routed(u.Path) && !strings.Contains(at, "{") {
				t.Errorf("%s names %s, which is not routed (%v)", path, address, err)
			}
		}
	}
}

// TestCurlExamplesWork runs the commands of the API's reference and of the guides that
// need no credential, with curl itself, against this server.
func TestCurlExamplesWork(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl on this machine")
	}
	srv, paths := documented(t)
	listener := httptest.NewServer(inContract(srv))
	defer listener.Close()
	folder := t.TempDir()
	run := 0
	for _, path := range paths {
		for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(body(t, ask(srv, "GET", path+".md")), -1) {
			command := m[1]
			if !strings.HasPrefix(command, "curl ") || strings.Contains(command, "$") || strings.Contains(command, "clm_") || strings.Contains(command, "at_Z") ||
				strings.Contains(command, "/api/billing") || strings.Contains(command, "event/notify") || strings.Contains(command, "127.0.0.1:8080") || strings.HasPrefix(path, "/setup") {
				continue
			}
			run++
			out := filepath.Join(folder, fmt.Sprint(run))
			command, _, _ = strings.Cut(command, "\npython3 ") // what comes after a download
			cmd := exec.Command("bash", "-c", strings.ReplaceAll(strings.TrimRight(command, "\n"), base, listener.URL)+` -sL -o "$0" -w '%{http_code}'`, out)
			cmd.Dir = folder // of curl -O
			status, err := cmd.Output()
			if err != nil || status[0] != '2' {
				t.Errorf("%s: %s %v\n%s", path, status, err, command)
			}
		}
	}
	if run < 12 {
		t.Errorf("only %d commands were run", run)
	}
}

func TestSearchAnswersInThreeForms(t *testing.T) {
	srv, _ := documented(t)
	var found struct {
		Query   string
		Results []struct{ Title, Heading, Path, Markdown, Excerpt string }
	}
	resp := ask(srv, "GET", "/docs/search?q=rate_limited", "Accept", "application/json")
	if err := json.Unmarshal([]byte(body(t, resp)), &found); err != nil {
		t.Fatal(err)
	}
	if found.Query != "rate_limited" || len(found.Results) == 0 || found.Results[0].Path != base+"/docs/errors#rate_limited" || found.Results[0].Markdown != base+"/docs/errors.md#rate_limited" {
		t.Errorf("%+v", found)
	}
	if resp.Header.Get("Vary") != "Accept" {
		t.Errorf("%v", resp.Header)
	}
	if text := body(t, ask(srv, "GET", "/docs/search?q=rate_limited")); !strings.Contains(text, `<a href="/docs/errors#rate_limited">`) || !strings.Contains(text, `value="rate_limited"`) {
		t.Error("the page of results lacks the best one, or the query")
	}
	if text := body(t, ask(srv, "GET", "/docs/search?q=rate_limited", "Accept", "text/markdown")); !strings.HasPrefix(text, "# Search\n") || !strings.Contains(text, base+"/docs/errors.md#rate_limited") {
		t.Errorf("%s", text)
	}
	for _, q := range []string{"", "%00", "%ff%fe", `"><script>alert(1)</script>`, "{{.}}", strings.Repeat("a", 60_000), "a;b&q=c", "%zz", strings.Repeat("%C3%A9", 150)} {
		for _, accept := range []string{"text/html", "application/json", "text/markdown"} {
			r := httptest.NewRequest("GET", "/docs/search", nil)
			r.URL.RawQuery = "q=" + q
			r.Header.Set("Accept", accept)
			w := httptest.NewRecorder()
			inContract(srv).ServeHTTP(w, r)
			text := w.Body.String()
			if w.Code != 200 || len(text) > 40_000 || strings.Contains(ours.ReplaceAllString(text, ""), "<script") {
				t.Errorf("%.40q as %s: %d, %d bytes", q, accept, w.Code, len(text))
			}
			if accept == "application/json" && !json.Valid(w.Body.Bytes()) {
				t.Errorf("%.40q: no JSON", q)
			}
		}
	}
	if resp := ask(srv, "POST", "/docs/search?q=x"); resp.StatusCode != 405 {
		t.Errorf("POST: %d", resp.StatusCode)
	}
}

func TestDocumentsThatAreNot(t *testing.T) {
	srv, _ := documented(t)
	for path, suggestion := range map[string]string{"/docs/nowhere.md": "", "/setup/cobol.md": "express", "/docs/../secret": "", "/docs/api/nothing": "", "/docs/quickstart.md.md": ""} {
		resp := ask(srv, "GET", path, "Accept", "application/json")
		text := body(t, resp)
		if resp.StatusCode != 404 || !strings.Contains(text, `"error":"not_found"`) || !strings.Contains(text, suggestion) {
			t.Errorf("%s: %d %s", path, resp.StatusCode, text)
		}
	}
	page := ask(srv, "GET", "/docs/nowhere", "Accept", "text/html,*/*;q=0.8")
	if text := body(t, page); page.StatusCode != 404 || !strings.Contains(text, "<h1>Not found</h1>") || page.Header.Get("Content-Security-Policy") == "" {
		t.Errorf("for people: %d", page.StatusCode)
	}
	if forPrograms := ask(srv, "GET", "/docs/nowhere"); page.Header.Get("Vary") != "Accept" || forPrograms.Header.Get("Vary") != "Accept" {
		t.Errorf("caches may give people what is for programs: %q, %q", page.Header, forPrograms.Header)
	}
	moved := ask(srv, "GET", "/docs/limits/")
	if _, err := io.Copy(io.Discard, moved.Body); err != nil || moved.StatusCode != 308 || moved.Header.Get("Location") != "/docs/limits" {
		t.Errorf("a slash too many: %d %v", moved.StatusCode, moved.Header)
	}
}

// TestDocumentsAreThereWithoutASnapshot: they say how to make one.
func TestDocumentsAreThereWithoutASnapshot(t *testing.T) {
	srv := newServer(t, nil, nil)
	for _, path := range []string{"/docs", "/docs/methodology", "/docs/self-hosting.md", "/docs/search?q=snapshot"} {
		if resp := ask(srv, "GET", path); resp.StatusCode != 200 {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
}
