package servertest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/servertest"
)

// A peer sends requests from an address, with a cookie jar of its own.
type peer struct {
	t    testing.TB
	s    *servertest.Service
	from string
	http *http.Client
}

// behindProxy lets tests choose the address of a request.
func behindProxy() servertest.Options {
	return servertest.Options{Limits: true, Server: func(c *server.Config) { c.TrustedProxies = []string{"127.0.0.0/8"} }}
}

func newPeer(t testing.TB, s *servertest.Service, from string) *peer {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &peer{t, s, from, &http.Client{Jar: jar}}
}

func (p *peer) do(method, path, media, body string) (int, string) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.s.URL+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("X-Forwarded-For", p.from)
	if body != "" {
		req.Header.Set("Content-Type", media)
	}
	resp, err := p.http.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// call posts JSON and returns the members of the answer that are texts.
func (p *peer) call(path, body string) (int, map[string]any) {
	p.t.Helper()
	status, text := p.do(http.MethodPost, path, "application/json", body)
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		p.t.Fatalf("%s: %v: %s", path, err, text)
	}
	return status, out
}

// ask asks for a sign-in link.
func (p *peer) ask(email string) int {
	p.t.Helper()
	status, _ := p.do(http.MethodPost, "/signin", "application/x-www-form-urlencoded", url.Values{"email": {email}}.Encode())
	return status
}

var signInLink = regexp.MustCompile(`/signin/link\?token=\S+`)

// signIn asks for a link and follows it: among the mails of the address it is the one
// that works in this browser.
func (p *peer) signIn(email string) {
	p.t.Helper()
	if status := p.ask(email); status != http.StatusOK {
		p.t.Fatalf("a sign-in of %s from %s: %d", email, p.from, status)
	}
	tried := map[string]bool{}
	for range 200 {
		for _, mail := range p.s.Mail.All(p.t, email) {
			link := signInLink.FindString(mail.Text)
			if link == "" || tried[link] {
				continue
			}
			tried[link] = true
			if status, page := p.do(http.MethodGet, link, "", ""); status == http.StatusOK && (strings.Contains(page, "Your agents") || strings.Contains(page, "Your workspaces")) {
				return
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.t.Fatalf("none of %d links signs %s in", len(tried), email)
}

// register registers an agent that names a person, and returns its claim token and
// the status.
func (p *peer) register(email string) (string, int) {
	p.t.Helper()
	status, out := p.call("/api/agent/identity", fmt.Sprintf(`{"type":"service_auth","login_hint":%q}`, email))
	token, _ := out["claim_token"].(string)
	return token, status
}

// claim registers an agent anonymously and asks for a code for a person.
func (p *peer) claim(email string) int {
	p.t.Helper()
	status, out := p.call("/api/agent/identity", `{"type":"anonymous"}`)
	if status != http.StatusOK {
		return status
	}
	status, _ = p.call("/api/agent/identity/claim", fmt.Sprintf(`{"claim_token":%q,"email":%q}`, out["claim_token"], email))
	return status
}

// poll returns what an agent learns that polls for its claim.
func (p *peer) poll(claimToken string) string {
	p.t.Helper()
	_, text := p.do(http.MethodPost, "/api/oauth2/token", "application/x-www-form-urlencoded",
		url.Values{"grant_type": {"urn:example:agent-auth:grant-type:claim"}, "claim_token": {claimToken}}.Encode())
	var out struct{ Error string }
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		p.t.Fatal(err)
	}
	return out.Error
}

const victim = "victim@example.com"

// TestNobodyLocksAnAddressOut: requests for somebody's address use up the share of
// the network they come from. The owner of the address still signs in, registers
// agents and claims from another network.
func TestNobodyLocksAnAddressOut(t *testing.T) {
	onBothStores(t, behindProxy(), func(t *testing.T, s *servertest.Service) {
		attacker := newPeer(t, s, "198.51.100.66")
		for range 3 {
			attacker.register(victim)
		}
		for range 5 {
			attacker.claim(victim)
		}
		for range 5 {
			attacker.ask(victim)
		}
		if status := attacker.ask(victim); status != http.StatusTooManyRequests {
			t.Errorf("the attacker's sixth sign-in: %d", status)
		}
		owner := newPeer(t, s, "192.0.2.10")
		owner.signIn(victim)
		token, status := owner.register(victim)
		if status != http.StatusOK {
			t.Fatalf("the owner's agent registers: %d", status)
		}
		if got := owner.poll(token); got != "authorization_pending" {
			t.Errorf("the owner's agent polls: %s", got)
		}
		if status := owner.claim(victim); status != http.StatusOK {
			t.Errorf("the owner claims: %d", status)
		}
	})
}

// TestTheMailOfAnAddressIsBounded: an address gets 20 sign-in mails an hour and 60 a
// day, from any number of networks. A browser that signed in as the address before is
// not held up by that.
func TestTheMailOfAnAddressIsBounded(t *testing.T) {
	onBothStores(t, behindProxy(), func(t *testing.T, s *servertest.Service) {
		owner := newPeer(t, s, "192.0.2.10")
		owner.signIn(victim)
		s.Clock.Add(3 * time.Hour)
		sent := 0
		flood := func() {
			for i := range 40 {
				if newPeer(t, s, fmt.Sprintf("198.51.%d.1", i)).ask(victim) == http.StatusOK {
					sent++
				}
			}
		}
		if flood(); sent != 20 {
			t.Errorf("%d mails in an hour, want 20", sent)
		}
		if status := newPeer(t, s, "192.0.2.11").ask(victim); status != http.StatusTooManyRequests {
			t.Errorf("a browser that nobody signed in with, over the limit: %d", status)
		}
		owner.signIn(victim)
		for range 5 {
			s.Clock.Add(2 * time.Hour)
			flood()
		}
		if sent != 59 { // and the one that the owner's first sign-in took
			t.Errorf("%d mails in a day to strangers' browsers, want 59", sent)
		}
		owner.from = "198.51.7.1" // a network that used up its share
		owner.signIn(victim)
		for range 5 {
			owner.ask(victim)
		}
		if status := owner.ask(victim); status != http.StatusTooManyRequests {
			t.Errorf("a known browser asks again and again: %d", status)
		}
	})
}

// TestAKnownBrowserIsKnownForItsAddressAlone: a browser that signed in as one person
// has the common limits for the address of another.
func TestAKnownBrowserIsKnownForItsAddressAlone(t *testing.T) {
	s := servertest.New(t, behindProxy())
	b := newPeer(t, s, "198.51.100.66")
	b.signIn("mallory@example.com")
	passed := 0
	for range 10 {
		if b.ask(victim) == http.StatusOK {
			passed++
		}
	}
	if passed != 5 {
		t.Errorf("%d links for another person, want 5", passed)
	}
}

// TestTheOldestPendingRegistrationIsDropped: of one network three wait for an
// address. A fourth takes the place of the oldest, and of no other network's.
func TestTheOldestPendingRegistrationIsDropped(t *testing.T) {
	onBothStores(t, behindProxy(), func(t *testing.T, s *servertest.Service) {
		owner, attacker := newPeer(t, s, "2001:db8:1::1"), newPeer(t, s, "198.51.100.66")
		mine, _ := owner.register(victim)
		var theirs []string
		for range 5 {
			s.Clock.Add(time.Second)
			token, status := attacker.register(victim)
			if status != http.StatusOK {
				t.Fatalf("registration %d: %d", len(theirs)+1, status)
			}
			theirs = append(theirs, token)
		}
		var got []string
		for _, token := range append(theirs, mine) {
			got = append(got, owner.poll(token))
		}
		want := "expired_token expired_token authorization_pending authorization_pending authorization_pending authorization_pending"
		if strings.Join(got, " ") != want {
			t.Errorf("the polls: %q", got)
		}
		if status, out := attacker.call("/api/agent/identity/claim", fmt.Sprintf(`{"claim_token":%q,"email":%q}`, theirs[0], victim)); status != http.StatusGone || out["error"] != "claim_expired" {
			t.Errorf("a code for one that was dropped: %d %v", status, out)
		}
	})
}

// TestAFloodFromManyNetworksDropsItsOwn: of all networks 30 wait for an address;
// one more takes the place of the oldest of the network that has most.
func TestAFloodFromManyNetworksDropsItsOwn(t *testing.T) {
	onBothStores(t, behindProxy(), func(t *testing.T, s *servertest.Service) {
		owner := newPeer(t, s, "192.0.2.10")
		mine, _ := owner.register(victim)
		for i := range 20 {
			attacker := newPeer(t, s, fmt.Sprintf("2001:db8:%x::1", i+2))
			for range 3 {
				s.Clock.Add(time.Second)
				if _, status := attacker.register(victim); status != http.StatusOK {
					t.Fatalf("network %d: %d", i, status)
				}
			}
		}
		if got := owner.poll(mine); got != "authorization_pending" {
			t.Errorf("the owner's registration: %s", got)
		}
	})
}

// TestTheOwnerSeesAndDeniesPendingAgents: a signed-in person sees the agents that wait
// for their address, and denies them. Nobody else can.
func TestTheOwnerSeesAndDeniesPendingAgents(t *testing.T) {
	onBothStores(t, behindProxy(), func(t *testing.T, s *servertest.Service) {
		attacker := newPeer(t, s, "198.51.100.66")
		token, _ := attacker.register(victim)
		if status := attacker.claim(victim); status != http.StatusOK {
			t.Fatal(status)
		}
		owner, other := newPeer(t, s, "192.0.2.10"), newPeer(t, s, "192.0.2.11")
		owner.signIn(victim)
		other.signIn("other@example.com")
		page := func(p *peer) string {
			t.Helper()
			_, text := p.do(http.MethodGet, "/agents", "", "")
			return text
		}
		if text := page(other); strings.Contains(text, "198.51.100.66") {
			t.Errorf("another person sees it: %s", text)
		}
		seen := page(owner)
		if n := strings.Count(seen, `action="/agents/deny"`); n != 2 || !strings.Contains(seen, "198.51.100.66") {
			t.Fatalf("%d forms to deny, want 2: %s", n, seen)
		}
		deny := func(p *peer, id string) int {
			t.Helper()
			status, _ := p.do(http.MethodPost, "/agents/deny", "application/x-www-form-urlencoded",
				url.Values{"form_token": {formTokenOf(t, page(p))}, "registration": {id}}.Encode())
			return status
		}
		for i, part := range strings.Split(seen, `action="/agents/deny"`)[1:] {
			_, id, _ := strings.Cut(part, `name="registration" value="`)
			id, _, _ = strings.Cut(id, `"`)
			if status := deny(other, id); status != http.StatusNotFound {
				t.Errorf("another person denies %d: %d", i, status)
			}
			if status := deny(owner, id); status != http.StatusOK {
				t.Errorf("the owner denies %d: %d", i, status)
			}
		}
		if text := page(owner); strings.Contains(text, "198.51.100.66") {
			t.Errorf("a denied agent is still listed: %s", text)
		}
		if got := attacker.poll(token); got != "access_denied" {
			t.Errorf("the denied agent polls: %s", got)
		}
	})
}
