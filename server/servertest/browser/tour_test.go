package browser_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/servertest"
)

// tour leads a browser to every page that a person can meet, and calls visit on
// each. The page may be resized and recoloured, but not left.
func tour(t *testing.T, chrome context.Context, visit func(b *tab, name string)) {
	s := servertest.New(t, servertest.Options{})
	b := newTab(t, chrome, s.URL)
	see := func(name string, status int64, words ...string) {
		t.Helper()
		if b.last.Status != status {
			t.Fatalf("%s came with %d, want %d: %s", name, b.last.Status, status, b.text())
		}
		b.says(words...)
		visit(b, name)
	}
	b.open("/claim")
	see("claim without link", 404, "Open the link from your agent")
	b.open("/signin")
	see("signin", 200, "Sign in")
	b.fill("#email", "dana@example")
	b.press("main form button")
	see("signin error", 422, "Invalid e-mail address")
	b.open("/signin/link?token=none")
	see("signin link dead", 410, "This link no longer works")

	stranger := anonymous(t, s, "erin@example.net")
	b.open(stranger.link)
	see("signin for a claim", 200, "Sign in to see which agent")
	b.fill("#email", "dana@example.com")
	b.press("main form button")
	see("signin sent", 200, "Check your inbox")
	link := s.Mail.Link(t, "dana@example.com", "Sign in")
	other := newTab(t, chrome, s.URL)
	other.open(link)
	if other.last.Status != http.StatusForbidden {
		t.Fatalf("the other browser is answered %d", other.last.Status)
	}
	visit(other, "signin link in another browser")
	b.open(link)
	see("claim mismatch", 403, "Wrong account")

	b.open("/agents")
	see("agents none", 200, "No agent is linked")
	a := anonymous(t, s, "dana@example.com")
	b.open(a.link)
	see("claim", 200, a.slug)
	b.authorize(a.wrong())
	see("claim error", 422, "Four tries are left")
	b.post("/claim", map[string]string{"form_token": "old", "action": "deny"})
	see("claim form old", 403, "This form has expired")
	b.open("/claim")
	b.authorize(a.code)
	see("claim done", 200, "The agent is linked")
	notice := s.Mail.Link(t, "dana@example.com", "linked")

	a = invited(t, s, "dana@example.com")
	b.open(a.link)
	see("claim with a choice", 200, "gave your address", "you choose below")
	b.press("button[value=deny]")
	see("claim denied", 200, "Denied")
	a, status := vouched(t, s, "dana@example.com")
	if status != http.StatusUnauthorized {
		t.Fatalf("the owner is not asked, but %d answered", status)
	}
	b.open(a.link)
	see("claim of a provider", 200, "vouches for", "has not vouched")
	b.authorize(a.code)
	b.linked()
	a = anonymous(t, s, "dana@example.com")
	b.open(a.link)
	for range 5 {
		b.authorize(a.wrong())
	}
	see("claim locked", 410, "Too many wrong codes")
	a.claim()
	old := a.link
	b.open(old)
	s.Clock.Add(11 * time.Minute)
	b.reload()
	see("claim expired", 410, "The code is no longer valid")
	a.claim()
	b.open(old)
	see("claim superseded", 404, "This link does not work")

	b.open("/agents")
	see("agents", 200, "Agent that registered by itself")
	b.open(notice)
	see("unlink", 200, "Revoke this agent?")
	b.press("main form button")
	see("unlinked", 200, "The agent is revoked")
	b.open("/agents/unlink?token=none")
	see("unlink dead", 404, "This link does not work")
	b.open("/agents")
	see("agents with a revoked one", 200, "revoked")

	if _, status := vouched(t, s, "frank@example.com"); status != http.StatusOK {
		t.Fatalf("no account was made, but %d answered", status)
	}
	b = newTab(t, chrome, s.URL)
	b.open("/signin")
	b.signIn(s, "frank@example.com")
	see("agents to review", 200, "Say which of them to keep")
	if !b.has("form[action='/agents/keep']") {
		t.Error("there is nothing to keep the agent with")
	}
	b.press("form[action='/agents/keep'] button")
	if strings.Contains(b.text(), "Keep it or revoke it") {
		t.Error("the agent was kept, and is asked about still")
	}
	a = anonymous(t, s, "frank@example.com")
	s.Clock.Add(61 * time.Minute)
	a.claim()
	b.open(a.link)
	see("signin again", 200, "It is a while since you signed in")
}
