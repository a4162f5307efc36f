// Package members_test invites people to workspaces, changes their roles and removes them,
// over HTTP as browsers without script do, on both stores.
package members_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/channel/alert"
	"github.com/firstpick/firstpick/server/kit/safehttp"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

// withAlerts gives a server the routes of alerts.
func withAlerts(c *server.Config) {
	c.Alerts = alert.New(alert.Config{
		DB: c.Agents.DB, Secrets: c.Agents.Secrets, Log: c.Log, Now: c.Now, BaseURL: c.BaseURL, Mail: c.Agents.Outbox.Put, Kick: c.Agents.Outbox.Kick,
		HTTP: safehttp.NewClient(safehttp.Limits{Timeout: alert.CallTimeout, Private: true}), Private: true, Jitter: func() float64 { return 0 },
	})
}

// A person uses the pages of a server.
type person struct{ *servertest.Person }

func newPerson(t *testing.T, s *servertest.Service, email string) *person {
	t.Helper()
	return &person{servertest.NewPerson(t, s, email)}
}

// role returns a person's role in a workspace, or "".
func (p *person) role(slug string) identity.Role {
	p.T.Helper()
	for _, m := range p.Memberships() {
		if m.Slug == slug {
			return m.Role
		}
	}
	return ""
}

const subject = "You are invited"

// invites mails an invitation, and returns the path of its link.
func (p *person) invites(slug, email, role string) string {
	p.T.Helper()
	p.Must("Invitation sent.", members(slug, "/invite"), "email", email, "role", role)
	return strings.TrimPrefix(p.S.Mail.Link(p.T, email, subject), p.S.URL)
}

// accept follows a link and presses the button.
func (p *person) accept(link string) (int, string) {
	p.T.Helper()
	_, token, _ := strings.Cut(link, "token=")
	return p.Send("/invitations", "token", token, "do", "accept")
}

// joins accepts an invitation into a workspace.
func (p *person) joins(owner *person, slug, role string) {
	p.T.Helper()
	if status, body := p.accept(owner.invites(slug, p.Email, role)); status != http.StatusOK || !strings.Contains(body, "You are a member of this workspace now.") {
		p.T.Fatalf("accept: %d %s", status, body)
	}
}

func members(slug, form string) string { return "/workspaces/" + slug + "/settings/members" + form }

func caller() *registrations.Caller { return &registrations.Caller{} }
