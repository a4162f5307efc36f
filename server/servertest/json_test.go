package servertest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state"
)

// TestMistakesInJSONAreExplained names the member, what it must be and what it is.
func TestMistakesInJSONAreExplained(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Options{})
	w := newAgent(t, s)
	evalKey := s.EvalKey(t, s.Workspace(t, "acme", state.PlanPaid))
	for name, tt := range map[string]struct{ method, path, bearer, body, want string }{
		"origins that are a string": {"POST", "/api/agent/keys", w.token, `{"kind":"publishable","origins":"x"}`, "origins must be a list of strings; it is a string."},
		"an origin that is none":    {"POST", "/api/agent/keys", w.token, `{"kind":"publishable","origins":["x",7]}`, "origins must be a list of strings; one of its entries is a number."},
		"a type that is a number":   {"POST", "/api/agent/identity", "", `{"type":7}`, "type must be a string; it is a number."},
		"a claim that is a list":    {"POST", "/api/agent/identity/claim", "", `[]`, "The request body must be a JSON object; it is a list."},
		"a budget in words":         {"POST", "/api/v1/evals/x/runs", evalKey, `{"budgetUsd":"5"}`, "budgetUsd must be a number; it is a string."},
		"a budget of another name":  {"POST", "/api/v1/evals/x/runs", evalKey, `{"budget":5}`, "The request body has a member that this path does not take. It takes budgetUsd and version."},
		"a key that is a number":    {"PUT", "/api/v1/provider-keys/OPENAI_API_KEY", evalKey, `{"value":12345678}`, "value must be a string; it is a number."},
	} {
		a := request{method: tt.method, path: tt.path, media: jsonMedia, bearer: tt.bearer, body: tt.body}.send(t, s)
		if got, _ := a.body["error_description"].(string); a.status != http.StatusBadRequest || a.body["reason"] != "malformed_body" || got != tt.want {
			t.Errorf("%s: %s, want %q", name, a, tt.want)
		}
	}
}

// TestCompressedBodies: where a path does not unpack a body, it says so, instead of
// calling it malformed. The collector unpacks.
func TestCompressedBodies(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Options{Server: func(c *server.Config) { c.BillingKeys = []string{"whsec_of_tests"} }})
	w := newAgent(t, s)
	evalKey := s.EvalKey(t, s.Workspace(t, "acme", state.PlanPaid))
	send := func(q request, encoding string) answer {
		req, err := http.NewRequestWithContext(t.Context(), q.method, s.URL+q.path, strings.NewReader(q.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", q.media)
		req.Header.Set("Content-Encoding", encoding)
		if q.bearer != "" {
			req.Header.Set("Authorization", "Bearer "+q.bearer)
		}
		resp, err := impatient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		return answer{status: resp.StatusCode, header: resp.Header, text: text(t, resp)}
	}
	requests := map[string]request{
		"a run":          {method: "POST", path: "/api/v1/evals/x/runs", media: jsonMedia, bearer: evalKey, body: `{"budgetUsd":5}`},
		"an eval":        {method: "POST", path: "/api/v1/evals", media: "application/yaml", bearer: evalKey, body: "a: b"},
		"a provider key": {method: "PUT", path: "/api/v1/provider-keys/OPENAI_API_KEY", media: jsonMedia, bearer: evalKey, body: `{"value":"sk-12345678"}`},
		"MCP":            post("/api/mcp", jsonMedia, `{"jsonrpc":"2.0","id":1,"method":"ping"}`),
		"a bill":         post("/api/billing/webhook", jsonMedia, `{}`),
	}
	for name, e := range w.endpoints(s) {
		requests[name] = e.request
	}
	for name, q := range requests {
		if a := send(q, "gzip"); a.status != http.StatusUnsupportedMediaType || !strings.Contains(a.text, "unsupported_media_type") || !strings.Contains(a.text, "Content-Encoding") {
			t.Errorf("%s: %s", name, a)
		}
		if a := send(q, "identity"); a.status == http.StatusUnsupportedMediaType {
			t.Errorf("%s as it is: %s", name, a)
		}
	}
}
