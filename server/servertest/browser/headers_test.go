package browser_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/servertest"
)

// wanted are the headers of every page that belongs to a person.
var wanted = map[string]string{
	"X-Frame-Options":            "DENY",
	"Referrer-Policy":            "no-referrer",
	"Cache-Control":              "no-store",
	"X-Content-Type-Options":     "nosniff",
	"Cross-Origin-Opener-Policy": "same-origin",
	"Content-Type":               "text/html; charset=utf-8",
}

// policies are directives that the content security policy must have.
var policies = []string{"default-src 'none'", "style-src 'self'", "script-src 'self'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"}

func headers(t *testing.T, chrome context.Context) {
	tour(t, chrome, func(b *tab, name string) {
		t.Helper()
		got := http.Header{}
		for k, v := range b.last.Headers {
			text, _ := v.(string)
			got.Set(k, text)
		}
		check(t, name, got)
		page := eval[string](b, `document.documentElement.outerHTML`)
		if found := regexp.MustCompile(`(?i)<script>|<style| style=| on[a-z]+=|javascript:`).FindString(page); found != "" {
			t.Errorf("%s holds %q, which its policy forbids", name, found)
		}
		if eval[string](b, `getComputedStyle(document.body).marginTop`) != "0px" {
			t.Errorf("%s has no style", name)
		}
	})
}

func check(t *testing.T, name string, got http.Header) {
	t.Helper()
	for k, want := range wanted {
		if v := got.Get(k); v != want {
			t.Errorf("%s: %s is %q, want %q", name, k, v, want)
		}
	}
	var have []string
	for _, d := range strings.Split(got.Get("Content-Security-Policy"), ";") {
		have = append(have, strings.TrimSpace(d))
	}
	for _, d := range policies {
		if !strings.Contains(strings.Join(have, ";")+";", d+";") {
			t.Errorf("%s: the policy %q lacks %q", name, have, d)
		}
	}
	for _, d := range have {
		if strings.HasPrefix(d, "script-src") && d != "script-src 'self'" || strings.Contains(d, "unsafe") || strings.Contains(d, "*") {
			t.Errorf("%s: the policy has %q", name, d)
		}
	}
}

// plain is a client that follows no redirect.
var plain = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// redirects looks at the answers that a browser does not show.
func redirects(t *testing.T, _ context.Context) {
	for _, base := range []string{"", "https://firstpick.example"} {
		s := servertest.New(t, servertest.Options{Server: func(c *server.Config) {
			if base != "" {
				c.BaseURL = base
			}
		}})
		resp, err := plain.Get(s.URL + "/claim?claim_attempt_token=cvt_secret")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/claim" {
			t.Errorf("the link answers %d to %q, want 303 to /claim", resp.StatusCode, resp.Header.Get("Location"))
		}
		for k, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"} {
			if v := resp.Header.Get(k); v != want {
				t.Errorf("the redirect of the link: %s is %q, want %q", k, v, want)
			}
		}
		cookies := resp.Cookies()
		if len(cookies) != 1 {
			t.Fatalf("the link sets %d cookies, want one", len(cookies))
		}
		c := cookies[0]
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || strings.Contains(c.Value, "cvt_secret") {
			t.Errorf("the cookie is %s", c)
		}
		if secure := base != ""; c.Secure != secure || strings.HasPrefix(c.Name, "__Host-") != secure {
			t.Errorf("served at %q the cookie is %s", base, c)
		}
	}
}
