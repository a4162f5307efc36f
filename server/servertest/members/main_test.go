// Package members_test invites people to workspaces, changes their roles and removes them,
// over HTTP as browsers without script do, on both stores.
package members_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/channel/alert"
	"github.com/firstpick/firstpick/server/kit/safehttp"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/identity"
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

// withAlerts gives a server the routes of alerts.
func withAlerts(c *server.Config) {
	c.Alerts = alert.New(alert.Config{
		DB: c.Agents.DB, Secrets: c.Agents.Secrets, Log: c.Log, Now: c.Now, BaseURL: c.BaseURL, Mail: c.Agents.Outbox.Put, Kick: c.Agents.Outbox.Kick,
		HTTP: safehttp.NewClient(safehttp.Limits{Timeout: alert.CallTimeout, Private: true}), Private: true, Jitter: func() float64 { return 0 },
	})
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

// role returns a person's role in a workspace, or "".
func (p *person) role(slug string) identity.Role {
	p.t.Helper()
	for _, m := range p.memberships() {
		if m.Slug == slug {
			return m.Role
		}
	}
	return ""
}

const subject = "You are invited"

// invites mails an invitation, and returns the path of its link.
func (p *person) invites(slug, email, role string) string {
	p.t.Helper()
	p.must("Invitation sent.", members(slug, "/invite"), "email", email, "role", role)
	return strings.TrimPrefix(p.s.Mail.Link(p.t, email, subject), p.s.URL)
}

// accept follows a link and presses the button.
func (p *person) accept(link string) (int, string) {
	p.t.Helper()
	_, token, _ := strings.Cut(link, "token=")
	return p.send("/invitations", "token", token, "do", "accept")
}

// joins accepts an invitation into a workspace.
func (p *person) joins(owner *person, slug, role string) {
	p.t.Helper()
	if status, body := p.accept(owner.invites(slug, p.email, role)); status != http.StatusOK || !strings.Contains(body, "You are a member of this workspace now.") {
		p.t.Fatalf("accept: %d %s", status, body)
	}
}

func members(slug, form string) string { return "/workspaces/" + slug + "/settings/members" + form }

func caller() *registrations.Caller { return &registrations.Caller{} }
