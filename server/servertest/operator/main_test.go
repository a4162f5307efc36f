// Package operator_test uses the pages of operators over HTTP as browsers without script do,
// on both stores.
package operator_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

// onBoth runs a test with a server on each store.
func onBoth(t *testing.T, run func(t *testing.T, s *servertest.Service)) {
	t.Helper()
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) { run(t, servertest.New(t, servertest.Options{State: statetest.Address(t, engine)})) })
	}
}

// A person has a browser.
type person struct {
	t     *testing.T
	s     *servertest.Service
	email string
	http  *http.Client
}

// newPerson returns a person who is signed in.
func newPerson(t *testing.T, s *servertest.Service, email string) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, s: s, email: email, http: &http.Client{Jar: jar}}
	p.signIn()
	return p
}

func (p *person) signIn() {
	p.t.Helper()
	if status, body := p.post("/signin", "email", p.email); status != http.StatusOK {
		p.t.Fatalf("sign in: %d %s", status, body)
	}
	if status, body := p.get(strings.TrimPrefix(p.s.Mail.Link(p.t, p.email, "Sign in"), p.s.URL)); status >= 500 && !strings.Contains(body, "No reports on this server") {
		p.t.Fatalf("sign in: %d %s", status, body)
	}
}

func (p *person) get(path string) (int, string) {
	p.t.Helper()
	resp, err := p.http.Get(p.s.URL + path)
	return p.read(resp, err)
}

// post sends a form as it is.
func (p *person) post(path string, form ...string) (int, string) {
	p.t.Helper()
	values := url.Values{}
	for i := 0; i < len(form); i += 2 {
		values.Add(form[i], form[i+1])
	}
	resp, err := p.http.PostForm(p.s.URL+path, values)
	return p.read(resp, err)
}

func (p *person) read(resp *http.Response, err error) (int, string) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

var tokenPattern = regexp.MustCompile(`name="form_token" value="([^"]+)"`)

// send posts a form with the token of the person's session.
func (p *person) send(path string, form ...string) (int, string) {
	p.t.Helper()
	return p.post(path, append(form, "form_token", p.formToken())...)
}

func (p *person) formToken() string {
	p.t.Helper()
	status, body := p.get("/agents")
	m := tokenPattern.FindStringSubmatch(body)
	if m == nil {
		p.t.Fatalf("no form: %d %s", status, body)
	}
	return m[1]
}

// must sends a form whose answer must hold a text.
func (p *person) must(want, path string, form ...string) {
	p.t.Helper()
	if status, body := p.send(path, form...); status != http.StatusOK || !strings.Contains(body, want) {
		p.t.Fatalf("%s: %d, no %q: %s", path, status, want, body)
	}
}

// workspace creates a workspace, and returns its slug.
func (p *person) workspace(site string) string {
	p.t.Helper()
	p.must("sk_live_", "/workspaces", "site", site)
	list := p.memberships()
	return list[len(list)-1].Slug
}

func (p *person) memberships() []*state.Membership {
	p.t.Helper()
	list, err := p.s.Agents.Memberships(p.t.Context(), p.account())
	if err != nil {
		p.t.Fatal(err)
	}
	return list
}

func (p *person) account() *state.Account {
	p.t.Helper()
	a, err := p.s.Agents.DB.Read().VerifiedAccount(p.t.Context(), p.email)
	if err != nil {
		p.t.Fatal(err)
	}
	return a
}

// newOperator returns an operator who is signed in by the link of the command line.
func newOperator(t *testing.T, s *servertest.Service) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, s: s, email: "ops@example.com", http: &http.Client{Jar: jar}}
	link, err := s.Agents.OperatorLink(t.Context(), p.email, true)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := p.get(strings.TrimPrefix(link, s.URL)); status != http.StatusOK {
		t.Fatalf("sign in: %d %s", status, body)
	}
	return p
}

// foreign sends a form with the token of the session as a page of another site would, and
// returns the status.
func (p *person) foreign(path string, form ...string) int {
	p.t.Helper()
	values := url.Values{"form_token": {p.formToken()}}
	for i := 0; i < len(form); i += 2 {
		values.Add(form[i], form[i+1])
	}
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.s.URL+path, strings.NewReader(values.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", "https://evil.example")
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	resp, err := p.http.Do(req)
	status, _ := p.read(resp, err)
	return status
}
