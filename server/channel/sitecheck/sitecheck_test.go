package sitecheck

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/kit/safehttp"
)

// A site answers by path; a text that begins with a number is a status.
type site map[string]string

func (s site) start(t *testing.T) string {
	t.Helper()
	var self string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.UserAgent() != "check/1" {
			t.Errorf("%s was asked by %q", r.URL, r.UserAgent())
		}
		text, known := s[r.URL.Path]
		if md, ok := s["markdown "+r.URL.Path]; ok && strings.HasPrefix(r.Header.Get("Accept"), "text/markdown") {
			w.Header().Set("Content-Type", "text/markdown")
			text, known = md, true
		}
		if !known {
			w.WriteHeader(404)
			return
		}
		if strings.HasPrefix(text, "<html") {
			w.Header().Set("Content-Type", "text/html")
		} else if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", "text/plain")
		}
		text = strings.ReplaceAll(text, "SELF", self)
		if strings.HasSuffix(r.URL.Path, ".gz") {
			z := gzip.NewWriter(w)
			_, _ = z.Write([]byte(text))
			_ = z.Close()
			return
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(srv.Close)
	self = srv.URL
	return self
}

func check(t *testing.T, at string, private bool) *Result {
	t.Helper()
	c := &Checker{
		Client: safehttp.NewClient(safehttp.Limits{Timeout: 5 * time.Second, Redirects: 3, Private: private}), UserAgent: "check/1",
		Now: func() time.Time { return time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC) },
	}
	r, err := c.Check(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func paths(r *Result) []string {
	var out []string
	for _, p := range r.Pages {
		out = append(out, p.Path)
	}
	return out
}

const urlset = `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`

func TestCheck(t *testing.T) {
	whole := site{
		"/robots.txt": "User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /private\nSitemap: SELF/index.xml\nSitemap: https://elsewhere.example/sitemap.xml\n",
		"/index.xml":  `<sitemapindex><sitemap><loc>SELF/one.xml</loc></sitemap><sitemap><loc>SELF/two.xml.gz</loc></sitemap><sitemap><loc>SELF/one.xml</loc></sitemap></sitemapindex>`,
		"/one.xml": urlset + `<url><loc>SELF/</loc></url><url><loc> SELF/docs?x=1#y </loc><image:image xmlns:image="i"><image:loc>SELF/a.png</image:loc></image:image></url>` +
			`<url><loc>https://elsewhere.example/x</loc></url></urlset>`,
		"/two.xml.gz":    urlset + `<url><loc>/pricing</loc></url></urlset>`,
		"/llms.txt":      "# Acme\n",
		"markdown /docs": "# Docs",
	}
	for name, c := range map[string]struct {
		site           site
		pages          []string
		llms, markdown bool
		problem        string // in one of the problems; empty without one
	}{
		"all of it":           {whole, []string{"/", "/docs", "/pricing"}, true, true, "another host"},
		"nothing":             {site{}, nil, false, false, "/sitemap.xml answers 404"},
		"a page for all":      {site{"/robots.txt": "<html>x", "/sitemap.xml": "<html><body>x", "/llms.txt": "<html>x"}, nil, false, false, "not a sitemap"},
		"a text sitemap":      {site{"/sitemap.xml": "SELF/a\n\nSELF/b\nnonsense\n"}, []string{"/a", "/b"}, false, false, ""},
		"an .md beside pages": {site{"/sitemap.xml": "SELF/a\n", "/a.md": "# A"}, []string{"/a"}, false, true, ""},
		"an .md that is html": {site{"/sitemap.xml": "SELF/a\n", "/a.md": "<html>A"}, []string{"/a"}, false, false, ""},
		"broken XML":          {site{"/sitemap.xml": urlset + `<url><loc>/a</loc></url><url><loc>/b`}, []string{"/a"}, false, false, "broken"},
		"an index of itself":  {site{"/sitemap.xml": `<sitemapindex><sitemap><loc>/sitemap.xml</loc></sitemap></sitemapindex>`}, nil, false, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := check(t, c.site.start(t), true)
			if r.Unreachable() {
				t.Error("it was reached")
			}
			if !slices.Equal(paths(r), c.pages) || r.LLMs != c.llms || r.Markdown != c.markdown {
				t.Errorf("%+v", r)
			}
			if all := strings.Join(r.Problems, "; "); (all == "") != (c.problem == "") || !strings.Contains(all, c.problem) {
				t.Errorf("problems: %q, want %q", all, c.problem)
			}
		})
	}
	rules := check(t, whole.start(t), true).Rules()
	for path, want := range map[string][]string{"/docs": {"GPTBot"}, "/private/x": {"GPTBot", "ClaudeBot"}} {
		if got := rules.Forbidden(t.Context(), []string{"GPTBot", "ClaudeBot"}, path); !slices.Equal(got, want) {
			t.Errorf("%s is forbidden to %v", path, got)
		}
	}
}

// TestUnreachable: where nothing answers, nothing is known of the texts.
func TestUnreachable(t *testing.T) {
	if r := check(t, site{"/llms.txt": "# Acme"}.start(t), false); !r.Unreachable() || r.LLMs {
		t.Errorf("%+v", r)
	}
	if r := check(t, site{"/robots.txt": strings.Repeat("# x\n", maxRobots)}.start(t), true); r.Unreachable() {
		t.Errorf("a large robots.txt: %+v", r)
	}
}

func TestCheckIsBounded(t *testing.T) {
	long := site{"/robots.txt": strings.Repeat("# x\n", maxRobots), "/sitemap.xml": "<sitemapindex>"}
	for i := range 40 {
		name := fmt.Sprintf("/%d.xml", i)
		long["/sitemap.xml"] += "<sitemap><loc>" + name + "</loc></sitemap>"
		long[name] = strings.Repeat("SELF"+name+"-page\n", 10)
	}
	long["/sitemap.xml"] += "</sitemapindex>"
	r := check(t, long.start(t), true)
	all := strings.Join(r.Problems, "; ")
	if len(r.Pages) != maxSitemaps-1 || !strings.Contains(all, "robots.txt: it is too large") || !strings.Contains(all, "more than 20 sitemaps") {
		t.Errorf("%d pages; %s", len(r.Pages), all)
	}
	bomb := site{"/sitemap.xml": "SELF/bomb.gz\n", "/robots.txt": "Sitemap: SELF/bomb.gz", "/bomb.gz": strings.Repeat("a", maxSitemap+2)}
	if r := check(t, bomb.start(t), true); !strings.Contains(strings.Join(r.Problems, "; "), "too large") {
		t.Errorf("a bomb: %v", r.Problems)
	}
	if r := check(t, (site{"/sitemap.xml": "SELF/a\n"}).start(t), false); len(r.Pages) != 0 || !strings.Contains(strings.Join(r.Problems, "; "), "could not connect") {
		t.Errorf("a private address: %+v", r)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	c := &Checker{Client: http.DefaultClient, Now: time.Now}
	if _, err := c.Check(ctx, "http://127.0.0.1:1"); err == nil {
		t.Error("it went on after its end")
	}
}

// TestWhatIsStoredIsBounded reads sitemaps with addresses of megabytes, and with
// more than can be kept: a result is a row of the store, and of its backups.
func TestWhatIsStoredIsBounded(t *testing.T) {
	huge := site{"/sitemap.xml": urlset + `<url><loc>SELF/` + strings.Repeat("%3C", 1<<20) + `</loc></url><url><loc>SELF/a</loc></url></urlset>`}
	if r := check(t, huge.start(t), true); !slices.Equal(paths(r), []string{"/a"}) {
		t.Errorf("%d pages", len(r.Pages))
	}
	lines := site{"/sitemap.xml": "SELF/a\nSELF/" + strings.Repeat("x", 100<<10) + "\nSELF/b\n"}
	if r := check(t, lines.start(t), true); !strings.Contains(strings.Join(r.Problems, "; "), "a line is too long") {
		t.Errorf("%v %v", paths(r), r.Problems)
	}
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "SELF/%d/%s\n", i, strings.Repeat("&", 1000)) // six bytes each in JSON
	}
	many := site{"/sitemap.xml": text.String()}
	r := check(t, many.start(t), true)
	body, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Pages) == 0 || len(body) > maxListing+1000 || !strings.Contains(strings.Join(r.Problems, "; "), "more than can be kept") {
		t.Errorf("%d pages, %d bytes: %v", len(r.Pages), len(body), r.Problems)
	}
}

// TestPathsAreAsInRequests: events have escaped paths, and what is compared with
// them must have too.
func TestPathsAreAsInRequests(t *testing.T) {
	r := check(t, (site{"/sitemap.xml": "SELF/caf%C3%A9\nSELF/a%20b\n", "markdown /a b": "# A"}).start(t), true)
	if !slices.Equal(paths(r), []string{"/caf%C3%A9", "/a%20b"}) || !r.Markdown {
		t.Errorf("%q %v", paths(r), r.Markdown)
	}
}

// TestProblemsTellNothingOfTheNetwork: they are shown to whoever named the site.
func TestProblemsTellNothingOfTheNetwork(t *testing.T) {
	const same = "could not connect: the address must be of a site on the public internet"
	want := "robots.txt: " + same + "; /sitemap.xml: " + same
	for name, got := range map[string]string{
		"a private address":          strings.Join(check(t, "http://localhost:1", false).Problems, "; "),
		"a closed port":              strings.Join(check(t, "http://127.0.0.1:1", true).Problems, "; "),
		"a service that is not HTTP": strings.Join(check(t, "http://"+banner(t), true).Problems, "; "),
	} {
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for name, err := range map[string]error{
		"an unknown name":          &url.Error{Op: "Get", Err: &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "acme.dev", Server: "10.0.0.53:53"}}},
		"a connection that is cut": &net.OpError{Op: "read", Source: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 5)}, Err: errors.New("connection reset by peer")},
	} {
		if got := reason(err); got != same {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := reason(&url.Error{Op: "Get", Err: &net.OpError{Op: "dial", Err: safehttp.ErrPort}}); got != "the port is not one at which sites are looked at: use 443" {
		t.Error(got)
	}
}

// banner starts a service that greets like SSH, and returns its address.
func banner(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("SSH-2.0-hush\r\n"))
			_ = conn.Close()
		}
	}()
	return ln.Addr().String()
}

func FuzzSitemap(f *testing.F) {
	for _, s := range []string{urlset + `<url><loc>/a</loc></url></urlset>`, "<sitemapindex><sitemap><loc>x", "https://a/b\n", "\xef\xbb\xbf<html>", "<loc>"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		found, err := parseSitemap(body)
		if err == nil && len(found.pages)+len(found.sitemaps) == 0 {
			t.Error("nothing was found, and nothing is wrong")
		}
		for _, loc := range append(found.pages, found.sitemaps...) {
			if strings.TrimSpace(loc) != loc || loc == "" {
				t.Errorf("%q", loc)
			}
		}
	})
}

func FuzzRobots(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /a*b$\nAllow: /\n"), "/a/b")
	f.Fuzz(func(_ *testing.T, body []byte, path string) {
		r := Result{Robots: string(bytes.ToValidUTF8(body, []byte("?")))}
		rules := r.Rules()
		rules.Allows("GPTBot", path) // must come back
	})
}

func TestRules(t *testing.T) {
	for name, c := range map[string]struct {
		robots, agent, path string
		want                bool
	}{
		"no robots.txt":                     {"", "GPTBot", "/", true},
		"all is forbidden":                  {"User-agent: *\nDisallow: /", "GPTBot", "/a", false},
		"an empty rule forbids nothing":     {"User-agent: *\nDisallow:", "GPTBot", "/a", true},
		"a group of one's own":              {"User-agent: *\nDisallow: /\nUser-agent: GPTBot\nDisallow: /x", "gptbot", "/a", true},
		"names in a row":                    {"User-agent: ClaudeBot\nUser-agent: GPTBot\n\nDisallow: /x", "GPTBot", "/x/y", false},
		"another's group":                   {"User-agent: ClaudeBot\nDisallow: /", "GPTBot", "/a", true},
		"groups of one name are one":        {"User-agent: GPTBot\nDisallow: /a\nUser-agent: x\nDisallow: /\nUser-agent: GPTBot\nDisallow: /b", "GPTBot", "/b", false},
		"the longest decides":               {"User-agent: *\nDisallow: /a\nAllow: /a/b", "GPTBot", "/a/b/c", true},
		"of equals the kinder one":          {"User-agent: *\nDisallow: /a\nAllow: /a", "GPTBot", "/a", true},
		"a star":                            {"User-agent: *\nDisallow: /*/secret", "GPTBot", "/x/y/secret/z", false},
		"a star and the end":                {"User-agent: *\nDisallow: /*.pdf$", "GPTBot", "/x.pdf", false},
		"behind the end":                    {"User-agent: *\nDisallow: /*.pdf$", "GPTBot", "/x.pdf?y", true},
		"the end without a star":            {"User-agent: *\nDisallow: /$", "GPTBot", "/a", true},
		"parts may not overlap":             {"User-agent: *\nDisallow: /ab*ba$", "GPTBot", "/aba", true},
		"two parts in a row":                {"User-agent: *\nDisallow: /a*b*c", "GPTBot", "/a-c-b", true},
		"comments and odd lines":            {"# x\nnonsense\nUser-agent: * # all\nDisallow: /a # b\n", "GPTBot", "/a", false},
		"a rule before any group":           {"Disallow: /\nUser-agent: x\nDisallow: /", "GPTBot", "/a", true},
		"the name is no part of a name":     {"User-agent: GPT\nDisallow: /", "GPTBot", "/a", true},
		"a byte order mark before the text": {"\xef\xbb\xbfUser-agent: *\nDisallow: /", "GPTBot", "/a", false},
	} {
		t.Run(name, func(t *testing.T) {
			rules := parseRules(c.robots)
			if got := rules.Allows(c.agent, c.path); got != c.want {
				t.Errorf("%v", got)
			}
		})
	}
}

// BenchmarkHostileRobots asks what a stranger made as dear as it can be.
func BenchmarkHostileRobots(b *testing.B) {
	var text strings.Builder
	text.WriteString("User-agent: *\n")
	for i := range 20_000 {
		fmt.Fprintf(&text, "Disallow: /*%d%s*c$\n", i, strings.Repeat("*a*b", 40))
	}
	path := "/" + strings.Repeat("ab", 900)
	rules := parseRules(text.String())
	for b.Loop() {
		rules.Allows("GPTBot", path)
	}
}
