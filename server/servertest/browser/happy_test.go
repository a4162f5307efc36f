package browser_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/servertest"
)

// signIn signs in from the page that asks for it, by mail.
func (b *tab) signIn(s *servertest.Service, email string) {
	b.t.Helper()
	b.at("/signin", http.StatusOK)
	b.fill("#email", email)
	b.press("main form button")
	b.at("/signin", http.StatusOK)
	b.says("Check your inbox", email)
	b.open(s.Mail.Link(b.t, email, "Sign in"))
}

// arrive opens an agent's link and signs in.
func (b *tab) arrive(a *agent) {
	b.t.Helper()
	b.open(a.link)
	b.signIn(a.s, a.email)
	b.at("/claim", http.StatusOK)
}

// authorize types a code and presses Authorize.
func (b *tab) authorize(code string) {
	b.t.Helper()
	b.fill("#user_code", code)
	b.press("button[value=authorize]")
}

// linked fails unless the page says that it is done.
func (b *tab) linked() {
	b.t.Helper()
	b.at("/claim", http.StatusOK)
	b.says("The agent is linked", "link to revoke it")
	if b.has("#user_code") {
		b.t.Fatal("the end still asks for a code")
	}
}

// secretless fails when the browser's history holds a secret.
func (b *tab) secretless() {
	b.t.Helper()
	for _, address := range b.history() {
		if strings.Contains(address, "token=") {
			b.t.Errorf("the history holds %s", address)
		}
	}
}

// walk is the whole way: an agent registers, a person links it, looks at it and
// revokes it by the link of the notice.
func walk(b *tab, s *servertest.Service) {
	b.t.Helper()
	a := anonymous(b.t, s, "dana@example.com")
	b.open(a.link)
	b.says("Sign in to see the agent that requests access")
	if strings.Contains(b.text(), a.slug) {
		b.t.Fatal("the workspace is shown before anybody signed in")
	}
	b.signIn(s, a.email)
	b.at("/claim", http.StatusOK)
	b.says("Link an agent to your account?", a.slug, "127.0.0.1", agentName, "registered by itself", "21 November 2026",
		"Only type a code that an agent you started showed you just now", "Signed in as dana@example.com", "No other agent is linked")
	b.secretless()
	if strings.Contains(b.text(), a.code) || b.attribute("#user_code", "value") != "absent" {
		b.t.Fatal("the page gives the code away")
	}
	a.told("authorization_pending")
	b.authorize(a.code[:3] + " " + a.code[3:])
	b.linked()
	token := a.redeem()
	a.works(token, http.StatusOK)

	b.press("main a[href='/agents']")
	b.at("/agents", http.StatusOK)
	b.says("Agent that registered by itself", a.slug, "127.0.0.1")
	b.secretless()

	b.open(s.Mail.Link(b.t, a.email, "linked"))
	b.says("Revoke this agent?")
	a.works(token, http.StatusOK) // looking at the link changes nothing
	b.press("main form button")
	b.at("/agents/unlink", http.StatusOK)
	b.says("The agent is revoked")
	a.works(token, http.StatusUnauthorized)
	b.open("/agents")
	b.says(a.slug, "revoked")
	if b.has("form[action='/agents/revoke']") {
		b.t.Error("a revoked agent can be revoked again")
	}
	b.press("form[action='/signout'] button")
	b.at("/signin", http.StatusOK)
}

func happy(t *testing.T, chrome context.Context) {
	s := servertest.New(t, servertest.Options{})
	walk(newTab(t, chrome, s.URL), s)
}
