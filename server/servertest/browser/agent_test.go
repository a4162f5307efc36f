package browser_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/servertest"
)

// agentName is the user agent that the person is to be shown.
const agentName = "example-agent/1.4 (+https://agent.example)"

// An agent is the other side of a claim: it speaks HTTP and never sees a page.
type agent struct {
	t *testing.T
	s *servertest.Service
	// what registration and claim endpoint told it
	token, email, slug, code, link string
}

// send makes a request and returns status and the JSON object of the answer.
func (a *agent) send(method, path, media, bearer, body string) (int, map[string]any) {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), method, a.s.URL+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("User-Agent", agentName)
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		a.t.Fatalf("%s %s: %d, no JSON object: %s", method, path, resp.StatusCode, data)
	}
	return resp.StatusCode, out
}

func (a *agent) json(path string, body map[string]any) (int, map[string]any) {
	a.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.send(http.MethodPost, path, "application/json", "", string(data))
}

// member walks into objects and returns a string.
func member(t *testing.T, v map[string]any, names ...string) string {
	t.Helper()
	var at any = v
	for _, name := range names {
		object, _ := at.(map[string]any)
		at = object[name]
	}
	s, ok := at.(string)
	if !ok {
		t.Fatalf("no string %s in %v", strings.Join(names, "."), v)
	}
	return s
}

// anonymous registers an agent that nobody vouches for, and starts its claim.
func anonymous(t *testing.T, s *servertest.Service, email string) *agent {
	t.Helper()
	a := &agent{t: t, s: s, email: email}
	status, v := a.json("/api/agent/identity", map[string]any{"type": "anonymous"})
	if status != http.StatusOK {
		t.Fatalf("registration: %d %v", status, v)
	}
	a.token, a.slug = member(t, v, "claim_token"), member(t, v, "workspace", "slug")
	a.claim()
	return a
}

// invited registers an agent that was given an address.
func invited(t *testing.T, s *servertest.Service, email string) *agent {
	t.Helper()
	a := &agent{t: t, s: s, email: email}
	status, v := a.json("/api/agent/identity", map[string]any{"type": "service_auth", "login_hint": email})
	if status != http.StatusOK {
		t.Fatalf("registration: %d %v", status, v)
	}
	a.token, a.code, a.link = member(t, v, "claim_token"), member(t, v, "claim", "user_code"), member(t, v, "claim", "verification_uri")
	return a
}

// vouched presents what the identity provider says, and returns the answer's
// status: 200 where it made a link, 401 where the owner is to confirm it.
func vouched(t *testing.T, s *servertest.Service, email string) (*agent, int) {
	t.Helper()
	a := &agent{t: t, s: s, email: email}
	status, v := a.json("/api/agent/identity", map[string]any{
		"type": "identity_assertion", "assertion_type": "urn:ietf:params:oauth:token-type:id-jag",
		"assertion": s.IdP.Assertion(s.URL+"/api/", "sub of "+email, email),
	})
	switch status {
	case http.StatusOK:
	case http.StatusUnauthorized:
		a.token, a.code, a.link = member(t, v, "claim_token"), member(t, v, "claim", "user_code"), member(t, v, "claim", "verification_uri")
	default:
		t.Fatalf("registration: %d %v", status, v)
	}
	return a, status
}

// claim asks for a code and a link for the person, which end those before.
func (a *agent) claim() {
	a.t.Helper()
	status, v := a.json("/api/agent/identity/claim", map[string]any{"claim_token": a.token, "email": a.email})
	if status != http.StatusOK {
		a.t.Fatalf("claim: %d %v", status, v)
	}
	a.code, a.link = member(a.t, v, "claim", "user_code"), member(a.t, v, "claim", "verification_uri")
	if strings.Contains(a.link, a.code) {
		a.t.Fatalf("the link %s holds the code", a.link)
	}
}

// wrong returns a code that is not the agent's.
func (a *agent) wrong() string {
	if a.code == "123456" {
		return "123457"
	}
	return "123456"
}

// poll asks whether the person has decided, as late as the interval demands.
func (a *agent) poll() (int, map[string]any) {
	a.t.Helper()
	a.s.Clock.Add(6 * time.Second)
	form := url.Values{"grant_type": {"urn:workos:agent-auth:grant-type:claim"}, "claim_token": {a.token}}
	return a.send(http.MethodPost, "/api/oauth2/token", "application/x-www-form-urlencoded", "", form.Encode())
}

// told fails unless polling answers this error.
func (a *agent) told(code string) {
	a.t.Helper()
	if status, v := a.poll(); status != http.StatusBadRequest || v["error"] != code {
		a.t.Fatalf("the poll answers %d %v, want 400 %s", status, v, code)
	}
}

// redeem polls for the access token.
func (a *agent) redeem() string {
	a.t.Helper()
	status, v := a.poll()
	if status != http.StatusOK {
		a.t.Fatalf("the poll answers %d %v, want tokens", status, v)
	}
	if slug := member(a.t, v, "workspace", "slug"); a.slug != "" && slug != a.slug {
		a.t.Fatalf("the agent got the workspace %s, want %s", slug, a.slug)
	}
	return member(a.t, v, "access_token")
}

// works fails unless a token reads its workspace with this status.
func (a *agent) works(token string, want int) {
	a.t.Helper()
	if status, v := a.send(http.MethodGet, "/api/agent/workspace", "", token, ""); status != want {
		a.t.Fatalf("the workspace answers %d %v, want %d", status, v, want)
	}
}
