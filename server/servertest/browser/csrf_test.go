package browser_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/firstpick/firstpick/server/servertest"
)

// refusal is what the guard against other sites says, and old what a form
// without this session's token is told.
const (
	refusal = "Another site sent this request"
	old     = "This form has expired"
)

// A sender says where a request comes from, as browsers put it.
type sender struct {
	name    string
	header  map[string]string
	refused bool
}

// senders are the rows of the matrix; self is the server's own origin.
func senders(self string) []sender {
	return []sender{
		{"own page", map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": self}, false},
		{"own page of an older browser", map[string]string{"Origin": self}, false},
		{"address bar", map[string]string{"Sec-Fetch-Site": "none"}, false},
		{"no browser", nil, false},
		{"sibling host", map[string]string{"Sec-Fetch-Site": "same-site"}, true},
		{"other site", map[string]string{"Sec-Fetch-Site": "cross-site"}, true},
		{"other site with our origin", map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, true},
		{"other site of an older browser", map[string]string{"Origin": "https://evil.example"}, true},
		{"our host on another port", map[string]string{"Origin": "http://127.0.0.1:1"}, true},
		{"sandboxed frame", map[string]string{"Origin": "null"}, true},
		{"unknown relation", map[string]string{"Sec-Fetch-Site": "strange"}, true},
	}
}

// cookies returns what the browser would send to the server.
func (b *tab) cookies() []*http.Cookie {
	b.t.Helper()
	var got network.GetCookiesResult
	call(b, network.GetCookies.Method, network.GetCookiesParams{URLs: []string{b.base}}, &got)
	var out []*http.Cookie
	for _, c := range got.Cookies {
		if !c.HTTPOnly || c.SameSite != network.CookieSameSiteLax {
			b.t.Errorf("the cookie %s is %+v, want HttpOnly and SameSite=Lax", c.Name, c)
		}
		out = append(out, &http.Cookie{Name: c.Name, Value: c.Value})
	}
	return out
}

// formToken returns the token of the session's forms.
func (b *tab) formToken() string {
	b.t.Helper()
	return eval[string](b, `document.querySelector("[name=form_token]").value`)
}

// submit sends a form with a session's cookies and returns status and page.
func submit(t *testing.T, address string, cookies []*http.Cookie, header map[string]string, fields map[string]string) (int, string) {
	t.Helper()
	form := url.Values{}
	for k, v := range fields {
		form.Set(k, v)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for k, v := range header {
		req.Header.Set(k, v)
	}
	for _, c := range cookies {
		req.AddCookie(c)
	}
	resp, err := plain.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusSeeOther {
		check(t, "POST "+address, resp.Header)
	}
	return resp.StatusCode, string(body)
}

// A form is one that another site would like to send for the person. The
// harmless fields are told apart from a refusal, and change nothing.
type form struct {
	path             string
	fields, harmless map[string]string
	status           int    // of the harmless one
	says             string // the harmless one
}

func forgery(t *testing.T, chrome context.Context) {
	s := servertest.New(t, servertest.Options{})
	b := newTab(t, chrome, s.URL)
	live := anonymous(t, s, "dana@example.com")
	b.arrive(live)
	b.authorize(live.code)
	b.linked()
	token := live.redeem()
	notice := s.Mail.Link(t, "dana@example.com", "linked")
	b.open("/agents")
	id := eval[string](b, `document.querySelector("[name=registration]").value`)
	a := anonymous(t, s, "dana@example.com")
	b.open(a.link)
	b.at("/claim", http.StatusOK)
	own, cookies := b.formToken(), b.cookies()

	_, unlink, _ := strings.Cut(notice, "token=")
	forms := []form{
		{"/signin", map[string]string{"email": "victim@example.com"}, map[string]string{"email": "none"}, 422, "Invalid e-mail address"},
		{"/signout", map[string]string{"form_token": own}, nil, 403, old},
		{"/claim", map[string]string{"form_token": own, "action": "deny"}, map[string]string{"form_token": own}, 400, "Use the buttons"},
		{"/claim", map[string]string{"form_token": own, "action": "authorize", "user_code": a.code}, nil, 403, old},
		{"/agents/revoke", map[string]string{"form_token": own, "registration": id}, map[string]string{"registration": id}, 403, old},
		{"/agents/keep", map[string]string{"form_token": own, "registration": id}, map[string]string{"registration": id}, 403, old},
		{"/agents/unlink", map[string]string{"token": unlink}, map[string]string{"token": "none"}, 404, "does not work"},
	}
	for _, f := range forms {
		for _, from := range senders(s.URL) {
			fields, status, says := f.harmless, f.status, f.says
			if from.refused {
				fields, status, says = f.fields, http.StatusForbidden, refusal
			}
			if got, body := submit(t, s.URL+f.path, cookies, from.header, fields); got != status || !strings.Contains(body, says) {
				t.Errorf("POST %s from %s: %d, want %d and %q:\n%s", f.path, from.name, got, status, says, body)
			}
		}
	}
	if mails := s.Mail.All(t, "victim@example.com"); len(mails) > 0 {
		t.Errorf("another site made us mail %d links", len(mails))
	}

	// The second layer: a token that is missing, wrong, or of another session.
	stranger := newTab(t, chrome, s.URL)
	stranger.open("/signin")
	stranger.signIn(s, "somebody@example.org")
	for name, value := range map[string]string{"none": "", "a wrong one": strings.Repeat("A", len(own)), "somebody else's": stranger.formToken()} {
		for _, f := range forms {
			if f.fields["form_token"] == "" {
				continue
			}
			fields := maps.Clone(f.fields)
			fields["form_token"] = value
			if got, body := submit(t, s.URL+f.path, cookies, map[string]string{"Sec-Fetch-Site": "same-origin"}, fields); got != http.StatusForbidden || !strings.Contains(body, old) {
				t.Errorf("POST %s with %s as form_token: %d, want 403 and %q:\n%s", f.path, name, got, old, body)
			}
		}
	}

	// All of that changed nothing.
	live.works(token, http.StatusOK)
	a.told("authorization_pending")
	b.reload()
	b.at("/claim", http.StatusOK)
	b.authorize(a.code)
	b.linked()
}

// otherSite lets pages of other origins try what the matrix says, in the browser
// that is signed in.
func otherSite(t *testing.T, chrome context.Context) {
	s := servertest.New(t, servertest.Options{})
	b := newTab(t, chrome, s.URL)
	a := anonymous(t, s, "dana@example.com")
	b.arrive(a)
	own := b.formToken()
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<title>other</title><a id="link" href="%[2]s">agent</a><iframe src="%[1]s/claim"></iframe>
			<form method="post" action="%[1]s/claim"><input name="form_token" value="%[3]s"><button name="action" value="deny">win</button></form>`, s.URL, a.link, own)
	}))
	defer evil.Close()
	failed := make(chan *network.EventLoadingFailed, 100)
	if err := chromedp.Listen(b.ctx, func(ev any) {
		if e, ok := ev.(*network.EventLoadingFailed); ok && e.Type == network.ResourceTypeDocument {
			failed <- e
		}
	}); err != nil {
		t.Fatal(err)
	}
	for name, address := range map[string]string{"same site": evil.URL, "other site": strings.Replace(evil.URL, "127.0.0.1", "localhost", 1)} {
		b.open(address)
		b.says("agent")
		select {
		case e := <-failed:
			if e.ErrorText != "net::ERR_BLOCKED_BY_RESPONSE" {
				t.Errorf("%s: the frame failed by %s %s, want X-Frame-Options or the policy to block it", name, e.ErrorText, e.BlockedReason)
			}
		case <-time.After(stepTimeout):
			t.Errorf("%s: the claim page stands in a frame", name)
		}
		b.press("button")
		b.at("/claim", http.StatusForbidden)
		b.says(refusal)
		a.told("authorization_pending")

		b.open(address)
		<-failed
		b.press("#link") // as from a chat: that is how people come
		b.at("/claim", http.StatusOK)
		b.says(a.slug)
	}
	b.authorize(a.code)
	b.linked()
}
