package members_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/servertest/chrome"
	"github.com/firstpick/firstpick/server/servertest/vnu"
)

// TestPagesInARealBrowser looks at the pages as owner, viewer, invited person and stranger.
func TestPagesInARealBrowser(t *testing.T) {
	s := servertest.New(t, servertest.Options{Server: withAlerts})
	dana, kim, late := newPerson(t, s, "dana@example.com"), newPerson(t, s, "kim@example.com"), newPerson(t, s, "late-with-a-rather-long-name@department.example.com")
	slug := dana.Workspace("https://acme.dev")
	source, markup := chrome.Axe(t), map[string]string{}
	look := func(who *person, pages map[string]string) {
		t.Helper()
		b := chrome.New(t, s.URL, who.HTTP.Jar)
		for name, path := range pages {
			b.Open(path)
			b.Look(name, source)
			_, markup[name] = who.Get(path)
		}
	}
	look(dana, map[string]string{"members-alone": members(slug, ""), "log-none": "/workspaces/" + slug + "/log?member=none"})
	kim.joins(dana, slug, "viewer")
	link := dana.invites(slug, late.Email, "editor")
	for range 60 { // more than a page of the log
		s.Clock.Add(time.Second)
		if err := s.Agents.SetRole(t.Context(), caller(), dana.Account(), slug, kim.Account().ID, "editor"); err != nil {
			t.Fatal(err)
		}
		if err := s.Agents.SetRole(t.Context(), caller(), dana.Account(), slug, kim.Account().ID, "viewer"); err != nil {
			t.Fatal(err)
		}
	}
	look(dana, map[string]string{"members": members(slug, "?done=invited"), "members-open": members(slug, ""), "log": "/workspaces/" + slug + "/log"})
	look(kim, map[string]string{"members-viewer": members(slug, ""), "forbidden": "/workspaces/" + slug + "/settings", "invitation-other": link})
	look(late, map[string]string{"invitation": link})
	_, markup["problem"] = dana.Send(members(slug, "/invite"), "email", "kim", "role", "editor")
	t.Run("markup", func(t *testing.T) { vnu.Check(t, "..", markup) })
}

// TestKeyboardAlone invites, accepts and removes at a telephone's width without a pointer.
func TestKeyboardAlone(t *testing.T) {
	s := servertest.New(t, servertest.Options{})
	dana, kim := newPerson(t, s, "dana@example.com"), newPerson(t, s, "kim@example.com")
	slug := dana.Workspace("https://acme.dev")
	b := chrome.New(t, s.URL, dana.HTTP.Jar)
	b.Size(390)
	b.Open(members(slug, ""))
	b.TabTo("#invite-email")
	b.Do(chromedp.KeyEvent(kim.Email))
	b.Load(chromedp.KeyEvent(kb.Enter))
	has := func(b *chrome.Tab, want string) {
		t.Helper()
		if got := chrome.Eval[string](b, "document.querySelector('main').innerText"); !strings.Contains(got, want) {
			t.Fatalf("no %q in %s", want, got)
		}
	}
	has(b, "Invitation sent.")
	other := chrome.New(t, s.URL, kim.HTTP.Jar)
	other.Size(390)
	other.Open(strings.TrimPrefix(s.Mail.Link(t, kim.Email, subject), s.URL))
	other.TabTo("button[value=accept]")
	other.Load(chromedp.KeyEvent(kb.Enter))
	has(other, "You are a member of this workspace now.")

	b.Open(members(slug, ""))
	b.TabTo("#members .danger summary")
	b.Do(chromedp.KeyEvent(kb.Enter))
	b.TabTo("#members .danger button")
	b.Load(chromedp.KeyEvent(kb.Enter))
	has(b, "Member removed.")
	other.Open(members(slug, ""))
	has(other, "You have no such workspace.")
}
