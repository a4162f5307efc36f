package servertest

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing" //nolint:depguard // a package of tests

	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// OnBoth runs a test with a server on each store.
func OnBoth(t *testing.T, run func(t *testing.T, s *Service)) {
	t.Helper()
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) { run(t, New(t, Options{State: statetest.Address(t, engine)})) })
	}
}

// A Person uses the pages of a server as a browser without script does. Its methods fail the
// test that it was made for.
type Person struct {
	T     *testing.T
	S     *Service
	Email string
	HTTP  *http.Client
}

// NewVisitor returns a person who is not signed in.
func NewVisitor(t *testing.T, s *Service, email string) *Person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Person{T: t, S: s, Email: email, HTTP: &http.Client{Jar: jar}}
}

// NewPerson returns a person who is signed in.
func NewPerson(t *testing.T, s *Service, email string) *Person {
	t.Helper()
	p := NewVisitor(t, s, email)
	p.SignIn()
	return p
}

// SignIn signs in by the link in a mail.
func (p *Person) SignIn() {
	p.T.Helper()
	if status, body := p.Post("/signin", "email", p.Email); status != http.StatusOK {
		p.T.Fatalf("sign in: %d %s", status, body)
	}
	if status, body := p.Get(strings.TrimPrefix(p.S.Mail.Link(p.T, p.Email, "Sign in"), p.S.URL)); status >= 500 && !strings.Contains(body, "No reports on this server") {
		p.T.Fatalf("sign in: %d %s", status, body)
	}
}

// Get returns the status and the body of a page.
func (p *Person) Get(path string) (int, string) {
	p.T.Helper()
	return p.Do(p.Request(http.MethodGet, path, nil))
}

// Post sends a form as it is.
func (p *Person) Post(path string, form ...string) (int, string) {
	p.T.Helper()
	values := url.Values{}
	for i := 0; i < len(form); i += 2 {
		values.Add(form[i], form[i+1])
	}
	return p.Do(p.Request(http.MethodPost, path, values))
}

// Request makes a request with a form, which may be nil.
func (p *Person) Request(method, path string, form url.Values) *http.Request {
	p.T.Helper()
	req, err := http.NewRequestWithContext(p.T.Context(), method, p.S.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		p.T.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return req
}

// Do sends a request, and returns the status and the body of the response.
func (p *Person) Do(req *http.Request) (int, string) {
	p.T.Helper()
	resp, err := p.HTTP.Do(req)
	if err != nil {
		p.T.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		p.T.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

var tokenPattern = regexp.MustCompile(`name="form_token" value="([^"]+)"`)

// Send posts a form with the token of the person's session.
func (p *Person) Send(path string, form ...string) (int, string) {
	p.T.Helper()
	return p.Post(path, append(form, "form_token", p.FormToken())...)
}

// FormToken returns the token of the person's forms.
func (p *Person) FormToken() string {
	p.T.Helper()
	status, body := p.Get("/agents")
	m := tokenPattern.FindStringSubmatch(body)
	if m == nil {
		p.T.Fatalf("no form: %d %s", status, body)
	}
	return m[1]
}

// Must sends a form whose answer must hold a text.
func (p *Person) Must(want, path string, form ...string) {
	p.T.Helper()
	if status, body := p.Send(path, form...); status != http.StatusOK || !strings.Contains(body, want) {
		p.T.Fatalf("%s: %d, no %q: %s", path, status, want, body)
	}
}

// Workspace creates a workspace, and returns its slug.
func (p *Person) Workspace(site string) string {
	p.T.Helper()
	p.Must("sk_live_", "/workspaces", "site", site)
	list := p.Memberships()
	return list[len(list)-1].Slug
}

// Memberships lists the person's workspaces.
func (p *Person) Memberships() []*state.Membership {
	p.T.Helper()
	list, err := p.S.Agents.Memberships(p.T.Context(), p.Account())
	if err != nil {
		p.T.Fatal(err)
	}
	return list
}

// Account is the person's account.
func (p *Person) Account() *state.Account {
	p.T.Helper()
	a, err := p.S.Agents.DB.Read().VerifiedAccount(p.T.Context(), p.Email)
	if err != nil {
		p.T.Fatal(err)
	}
	return a
}
