package interop_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/servertest"
)

// A browser is a person's, and keeps them signed in.
type browser struct {
	t      *testing.T
	s      *servertest.Service
	email  string
	client *http.Client
}

func newBrowser(t *testing.T, s *servertest.Service, email string) *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	t.Cleanup(client.CloseIdleConnections)
	return &browser{t, s, email, client}
}

var formToken = regexp.MustCompile(`name="form_token" value="([^"]+)"`)

// decide opens the agent's link, signs in by mail if need be, and answers.
func (b *browser) decide(o order) {
	b.t.Helper()
	at, page := b.read(b.client.Get(o.VerificationURI))
	if at == "/signin" {
		b.read(b.client.PostForm(b.s.URL+"/signin", url.Values{"email": {b.email}}))
		at, page = b.read(b.client.Get(b.s.Mail.Link(b.t, b.email, "Sign in")))
	}
	token := formToken.FindStringSubmatch(page)
	if at != "/claim" || token == nil {
		b.t.Fatalf("%s stands at %s without a form:\n%s", b.email, at, page)
	}
	_, page = b.read(b.client.PostForm(b.s.URL+"/claim", url.Values{"form_token": {token[1]}, "user_code": {o.UserCode}, "action": {o.Action}}))
	if want := map[string]string{"authorize": "The agent is linked", "deny": "The agent got no access"}[o.Action]; want == "" || !strings.Contains(page, want) {
		b.t.Fatalf("%s, %s:\n%s", b.email, o.Action, page)
	}
}

// read returns where redirects led, and the page there.
func (b *browser) read(resp *http.Response, err error) (at, page string) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		b.t.Fatalf("%s: %s, %v:\n%s", resp.Request.URL, resp.Status, err, data)
	}
	return resp.Request.URL.Path, string(data)
}
