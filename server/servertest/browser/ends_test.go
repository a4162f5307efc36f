package browser_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/firstpick/firstpick/server/servertest"
)

// refusedCode fails unless the page says that a code was wrong, to eyes and to
// screen readers.
func (b *tab) refusedCode(message string) {
	b.t.Helper()
	b.at("/claim", http.StatusUnprocessableEntity)
	b.says(message)
	if v := b.attribute("#user_code", "aria-invalid"); v != "true" {
		b.t.Errorf("aria-invalid of the field is %q", v)
	}
	if b.attribute("#user_code", "aria-describedby") == "absent" {
		b.t.Fatal("the field has no aria-describedby")
	}
	told := eval[string](b, `document.querySelector("#user_code").getAttribute("aria-describedby").split(" ").map(id => document.getElementById(id)?.innerText).join(" ")`)
	if !strings.Contains(told, message) {
		b.t.Errorf("the field is described by %q, want %q", told, message)
	}
	if v := eval[string](b, `document.querySelector("#user_code").value`); v != "" {
		b.t.Errorf("the field is filled with %q", v)
	}
}

// over fails unless the page says that the claim has ended and asks for nothing.
func (b *tab) over(status int64, title string) {
	b.t.Helper()
	b.at("/claim", status)
	b.says(title)
	if b.has("main form") {
		b.t.Errorf("%s still has a form", b.title())
	}
}

func wrongCodes(t *testing.T, chrome context.Context) {
	s := servertest.New(t, servertest.Options{})
	b := newTab(t, chrome, s.URL)
	a := anonymous(t, s, "dana@example.com")
	b.arrive(a)
	b.authorize("12345")
	b.refusedCode("Enter the six digits") // and costs no try
	for _, left := range []string{"Four tries", "Three tries", "Two tries", "One try"} {
		b.authorize(a.wrong())
		b.refusedCode("Wrong code. " + left + " left.")
		a.told("authorization_pending")
	}
	b.authorize(a.wrong())
	b.over(http.StatusGone, "Too many wrong codes")
	a.told("expired_token")

	link, code := a.link, a.code
	b.open(link)
	b.over(http.StatusGone, "Too many wrong codes")
	for a.claim(); a.code == code; a.claim() {
	}
	b.open(link)
	if b.last.Status != http.StatusGone && b.last.Status != http.StatusNotFound || b.has("main form") {
		t.Errorf("the locked link answers %d: %s", b.last.Status, b.text())
	}
	b.open(a.link)
	b.at("/claim", http.StatusOK)
	b.authorize(code)
	b.refusedCode("Wrong code. Four tries left.")

	// A link that was good is void once there is a newer one.
	link = a.link
	a.claim()
	b.open(link)
	b.over(http.StatusNotFound, "This link does not work")
	b.open(a.link)
	b.authorize(a.code)
	b.linked()
	a.works(a.redeem(), http.StatusOK)
}

func wrongAccount(t *testing.T, chrome context.Context) {
	s := servertest.New(t, servertest.Options{})
	b := newTab(t, chrome, s.URL)
	b.open("/signin")
	b.signIn(s, "somebody@example.org")
	b.at("/workspaces", http.StatusOK)
	b.says("Create a workspace")
	a := anonymous(t, s, "dana@example.com")
	b.open(a.link)
	b.at("/claim", http.StatusForbidden)
	b.says("Wrong account", "d***@example.com", "somebody@example.org")
	for _, secret := range []string{"dana@", a.slug, agentName, a.code} {
		if strings.Contains(eval[string](b, `document.documentElement.outerHTML`), secret) {
			t.Errorf("the page tells a stranger %q", secret)
		}
	}
	b.press("form[action='/signout'] button")
	b.signIn(s, a.email)
	b.at("/claim", http.StatusOK)
	b.says(a.slug)
	b.authorize(a.code)
	b.linked()
	a.works(a.redeem(), http.StatusOK)
}

func deny(t *testing.T, chrome context.Context) {
	s := servertest.New(t, servertest.Options{})
	b := newTab(t, chrome, s.URL)
	a := anonymous(t, s, "dana@example.com")
	b.arrive(a)
	b.press("button[value=deny]") // with an empty field
	b.over(http.StatusOK, "Denied")
	a.told("access_denied")
	b.reload()
	b.over(http.StatusOK, "Denied")
	b.open("/agents")
	b.says("No agent is linked")
	if status, v := a.json("/api/agent/identity/claim", map[string]any{"claim_token": a.token, "email": a.email}); status != http.StatusForbidden {
		t.Errorf("asking the same person again answers %d %v, want 403", status, v)
	}
}

func expired(t *testing.T, chrome context.Context) {
	s := servertest.New(t, servertest.Options{})
	b := newTab(t, chrome, s.URL)
	a := anonymous(t, s, "dana@example.com")
	b.arrive(a)
	s.Clock.Add(11 * time.Minute)
	b.authorize(a.code) // right, but late
	b.over(http.StatusGone, "The code is no longer valid")
	a.told("expired_token")
	b.open("/claim")
	b.over(http.StatusGone, "The code is no longer valid")
	b.open(a.link)
	b.over(http.StatusGone, "The code is no longer valid")
	a.claim()
	b.open(a.link)
	b.authorize(a.code)
	b.linked()
	a.works(a.redeem(), http.StatusOK)
}

func back(t *testing.T, chrome context.Context) {
	s := servertest.New(t, servertest.Options{})
	b := newTab(t, chrome, s.URL)
	a := anonymous(t, s, "dana@example.com")
	b.arrive(a)
	form := eval[string](b, `document.querySelector("[name=form_token]").value`)
	b.authorize(a.code)
	b.linked()
	token := a.redeem()
	b.reload()
	b.linked()
	if b.back(); b.has("#user_code") {
		t.Errorf("back shows %s, want the end", b.title())
	}
	b.open("/claim")
	b.linked()
	b.open(a.link)
	b.linked()

	// The form that was sent before, as a browser would send it again.
	for _, action := range []string{"authorize", "deny"} {
		b.post("/claim", map[string]string{"form_token": form, "user_code": a.code, "action": action})
		b.linked()
	}
	a.works(token, http.StatusOK)
	notices := 0
	for _, m := range s.Mail.All(t, a.email) {
		if strings.Contains(m.Subject, "linked") {
			notices++
		}
	}
	if notices != 1 {
		t.Errorf("%d notices were mailed, want one", notices)
	}
	b.open("/agents")
	if n := eval[int](b, `document.querySelectorAll(".agents > li").length`); n != 1 {
		t.Errorf("%d agents are listed, want one", n)
	}
}

// signedOut goes back through what a person saw before signing out, on a machine
// that somebody else may use next.
func signedOut(t *testing.T, chrome context.Context) {
	s := servertest.New(t, servertest.Options{})
	b := newTab(t, chrome, s.URL)
	a := anonymous(t, s, "dana@example.com")
	b.arrive(a)
	b.open("/agents")
	b.press("form[action='/signout'] button")
	b.at("/signin", http.StatusOK)
	for get(b, chromedp.NavigationEntries()).CurrentIndex > 1 {
		b.back()
		for _, private := range []string{a.email, a.slug, agentName} {
			if strings.Contains(b.text(), private) {
				t.Errorf("after signing out, back shows %s with %q", b.title(), private)
			}
		}
	}
}

// post sends a form that stood on a page of ours, though it does not now.
func (b *tab) post(path string, fields map[string]string) {
	b.t.Helper()
	script := fmt.Sprintf(`const f = document.createElement("form"); f.method = "post"; f.action = %s;`, quote(path))
	for name, value := range fields {
		script += fmt.Sprintf(`{ const i = document.createElement("input"); i.name = %s; i.value = %s; f.append(i); }`, quote(name), quote(value))
	}
	b.do(evaluate(`{ ` + script + ` const go = document.createElement("button"); go.id = "sent-by-test"; f.append(go); document.querySelector("main").append(f); }`))
	b.press("#sent-by-test")
}

func otherBrowser(t *testing.T, chrome context.Context) {
	s := servertest.New(t, servertest.Options{})
	mine, other := newTab(t, chrome, s.URL), newTab(t, chrome, s.URL)
	a := anonymous(t, s, "dana@example.com")
	mine.open(a.link)
	mine.fill("#email", a.email)
	mine.press("main form button")
	link := s.Mail.Link(t, a.email, "Sign in")

	resp, err := http.Get(link) // a scanner of mails
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("a scanner that follows the link is answered %d, want 403", resp.StatusCode)
	}
	for range 2 {
		other.open(link)
		if other.last.Status != http.StatusForbidden {
			t.Fatalf("the other browser is answered %d: %s", other.last.Status, other.text())
		}
		other.says("Open the link in the other browser")
	}
	other.open("/agents")
	other.at("/signin", http.StatusOK)

	mine.open(link)
	mine.at("/claim", http.StatusOK)
	mine.authorize(a.code)
	mine.linked()
	mine.open(link) // it works once
	if mine.last.Status != http.StatusGone {
		t.Errorf("the link answers %d the second time, want 410: %s", mine.last.Status, mine.text())
	}
}
