package servertest_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/servertest"
)

// TestTextIsCompressed asks for every long text with and without gzip.
func TestTextIsCompressed(t *testing.T) {
	s := servertest.New(t, servertest.Options{Server: func(c *server.Config) {
		holder := &snapshotview.Holder{}
		holder.Set(demoSite(t, 1))
		c.Source = holder
	}})
	get := func(client *http.Client, path, accept string) (*http.Response, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", accept) // so that the client leaves the body as it is
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var body io.Reader = resp.Body
		if resp.Header.Get("Content-Encoding") == "gzip" {
			if body, err = gzip.NewReader(resp.Body); err != nil {
				t.Fatal(err)
			}
		}
		data, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(data)
	}
	for _, path := range []string{
		"/openapi.json", "/openapi.yaml", "/llms.txt", "/llms-full.txt", "/sitemap.xml", "/auth.md", "/.well-known/oauth-authorization-server", "/docs/methodology", "/", "/setup.md",
	} {
		plain, want := get(http.DefaultClient, path, "identity")
		packed, got := get(http.DefaultClient, path, "gzip")
		if plain.Header.Get("Content-Encoding") != "" || packed.Header.Get("Content-Encoding") != "gzip" || got != want || len(want) < 1000 {
			t.Errorf("%s: %q of %d bytes, then %q of %d", path, plain.Header.Get("Content-Encoding"), len(want), packed.Header.Get("Content-Encoding"), len(got))
		}
		if vary := strings.Join(packed.Header.Values("Vary"), ", "); !strings.Contains(vary, "Accept-Encoding") || plain.Header.Get("ETag") != "" && plain.Header.Get("ETag") == packed.Header.Get("ETag") {
			t.Errorf("%s: Vary %q, ETag %s and %s", path, vary, plain.Header.Get("ETag"), packed.Header.Get("ETag"))
		}
	}

	// Pages of a person are compressed too, so the secret in their forms is another in each.
	jar, _ := cookiejar.New(nil)
	person := &http.Client{Jar: jar}
	get(person, "/signin", "identity")
	if _, err := person.PostForm(s.URL+"/signin", url.Values{"email": {"dana@example.com"}}); err != nil {
		t.Fatal(err)
	}
	get(person, strings.TrimPrefix(s.Mail.Link(t, "dana@example.com", "Sign in"), s.URL), "identity")
	token := regexp.MustCompile(`name="form_token" value="([^"]+)"`)
	seen := map[string]bool{}
	for range 3 {
		resp, page := get(person, "/agents", "gzip")
		m := token.FindStringSubmatch(page)
		if resp.Header.Get("Content-Encoding") != "gzip" || m == nil || seen[m[1]] {
			t.Fatalf("a page of a person: %q, token %v, seen %v", resp.Header.Get("Content-Encoding"), m, seen)
		}
		seen[m[1]] = true
	}
	person.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	post := func(token string) int {
		t.Helper()
		resp, err := person.PostForm(s.URL+"/signout", url.Values{"form_token": {token}})
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	for _, wrong := range []string{"", ".", "mask", "mask.", "mask.bWFj"} {
		if status := post(wrong); status != http.StatusForbidden {
			t.Errorf("the token %q: %d", wrong, status)
		}
	}
	for right := range seen {
		if status := post(right); status != http.StatusSeeOther {
			t.Errorf("a token of an earlier page: %d", status)
		}
		break
	}
}
