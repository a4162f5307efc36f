package agentauth

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

const claimGrant = "urn:example:agent-auth:grant-type:claim"

// A fake is a service that speaks the wire shape of the protocol and plays a
// script: replies holds, per path, the answers in order; the last one stays.
type fake struct {
	*httptest.Server
	t       *testing.T
	replies map[string][]reply
	// log is the transcript: method, path and body of each request.
	log []string
	// edit changes the metadata documents.
	edit func(pr, as, agent map[string]any)
}

type reply struct {
	status int
	body   string
	header map[string]string
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{t: t, replies: map[string][]reply{}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

// on scripts the answers of a path; BASE in a body is the service's address.
func (f *fake) on(path string, replies ...reply) {
	for i := range replies {
		replies[i].body = strings.ReplaceAll(replies[i].body, "BASE", f.URL)
	}
	f.replies[path] = append(f.replies[path], replies...)
}

func ok(body string) reply { return reply{status: http.StatusOK, body: body} }

func refuse(status int, code string) reply {
	return reply{status: status, body: fmt.Sprintf(`{"error":%q,"error_description":"why %s"}`, code, code)}
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		f.t.Error(err)
	}
	if r.Header.Get("User-Agent") != "firstpick/test" {
		f.t.Errorf("User-Agent is %q", r.Header.Get("User-Agent"))
	}
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case resourcePath, serverPath:
		if f.replies[r.URL.Path] == nil {
			f.metadata(w, r.URL.Path)
			return
		}
	}
	want := map[bool]string{true: "application/x-www-form-urlencoded", false: "application/json"}[strings.HasPrefix(r.URL.Path, "/api/oauth2/")]
	if r.Method == http.MethodPost && r.Header.Get("Content-Type") != want {
		f.t.Errorf("%s has Content-Type %q", r.URL.Path, r.Header.Get("Content-Type"))
	}
	line := r.Method + " " + r.URL.Path + " " + string(body)
	if auth := r.Header.Get("Authorization"); auth != "" {
		line += " (" + auth + ")"
	}
	f.log = append(f.log, strings.TrimSpace(line))
	script := f.replies[r.URL.Path]
	if len(script) == 0 {
		http.NotFound(w, r)
		return
	}
	if len(script) > 1 {
		f.replies[r.URL.Path] = script[1:]
	}
	for k, v := range script[0].header {
		w.Header().Set(k, v)
	}
	w.WriteHeader(script[0].status)
	_, _ = io.WriteString(w, script[0].body)
}

func (f *fake) metadata(w io.Writer, path string) {
	pr := map[string]any{"resource": f.URL + "/api/", "authorization_servers": []string{f.URL}}
	agent := map[string]any{
		"identity_endpoint": f.URL + "/api/agent/identity", "claim_endpoint": f.URL + "/api/agent/identity/claim",
		"identity_types_supported": []string{Anonymous, ServiceAuth, IdentityAssertion},
		"identity_assertion":       map[string]any{"trusted_issuers": []string{"https://idp.example"}},
	}
	as := map[string]any{
		"issuer": f.URL, "token_endpoint": f.URL + "/api/oauth2/token", "revocation_endpoint": f.URL + "/api/oauth2/revoke",
		"grant_types_supported": []string{jwtBearerGrant, claimGrant}, "agent_auth": agent,
	}
	if f.edit != nil {
		f.edit(pr, as, agent)
	}
	doc := pr
	if path == serverPath {
		doc = as
	}
	if err := json.NewEncoder(w).Encode(doc); err != nil {
		f.t.Error(err)
	}
}

// transcript checks the requests beyond discovery.
func (f *fake) transcript(want ...string) {
	f.t.Helper()
	if !slices.Equal(f.log, want) {
		f.t.Errorf("requests:\n%s\nwant:\n%s", strings.Join(f.log, "\n"), strings.Join(want, "\n"))
	}
}

// A clock moves only when somebody sleeps.
type clock struct {
	now   time.Time
	slept []time.Duration
}

func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	c.now, c.slept = c.now.Add(d), append(c.slept, d)
	return ctx.Err()
}

func (c *clock) seconds() []int {
	var s []int
	for _, d := range c.slept {
		s = append(s, int(d/time.Second))
	}
	return s
}

func newClient(f *fake) (*Client, *clock) {
	c := &clock{now: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)}
	return &Client{
		HTTP: f.Client(), Sleep: c.sleep, Now: func() time.Time { return c.now }, UserAgent: "firstpick/test",
	}, c
}

func discover(t *testing.T, c *Client, f *fake) Service {
	t.Helper()
	s, err := c.Discover(t.Context(), f.URL+"/")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func form(pairs ...string) string {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v.Encode()
}
