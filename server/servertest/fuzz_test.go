package servertest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server"
)

// send gives a body to a route and fails on what no caller may bring about: a
// panic, or an answer of 500 and above.
func send(t *testing.T, srv http.Handler, path, contentType, body string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	w := httptest.NewRecorder()
	inContract(srv).ServeHTTP(w, r)
	if w.Code >= 500 {
		t.Errorf("%s answers %d to %q: %s", path, w.Code, body, w.Body)
	}
}

// FuzzForms sends forms to the token and revocation endpoints.
func FuzzForms(f *testing.F) {
	for _, seed := range []string{
		"grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=a.b.c", "grant_type=urn:example:agent-auth:grant-type:claim&claim_token=clm_x",
		"token=at_x&token_type_hint=access_token", "a=%zz", "a=1&a=2", "grant_type=%00", ";", "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=eyJhbGciOiJub25lIn0.e30.",
	} {
		f.Add(seed)
	}
	srv := newServer(f, nil, func(c *server.Config) { c.LimitsOff = true; c.Agents.Limits.Off = true })
	f.Fuzz(func(t *testing.T, body string) {
		send(t, srv, "/api/oauth2/token", "application/x-www-form-urlencoded", body)
		send(t, srv, "/api/oauth2/revoke", "application/x-www-form-urlencoded", body)
		send(t, srv, "/claim", "application/x-www-form-urlencoded", body)
		send(t, srv, "/agents/unlink", "application/x-www-form-urlencoded", body)
	})
}

// FuzzJSON sends bodies to the registration and key endpoints.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"type":"anonymous"}`, `{"type":"service_auth","login_hint":"a@b.example"}`, `{"claim_token":"clm_x","email":"a@b.example"}`,
		`{"type":"identity_assertion","assertion_type":"urn:ietf:params:oauth:token-type:id-jag","assertion":"a.b.c"}`, `[]`, `null`, `{"type":null}`, "{\"type\":\"\xff\"}",
	} {
		f.Add(seed)
	}
	srv := newServer(f, nil, func(c *server.Config) { c.LimitsOff = true; c.Agents.Limits.Off = true })
	f.Fuzz(func(t *testing.T, body string) {
		send(t, srv, "/api/agent/identity", "application/json", body)
		send(t, srv, "/api/agent/identity/claim", "application/json", body)
		send(t, srv, "/api/agent/event/notify", "application/secevent+jwt", body)
	})
}
