package contract

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestWhatBreaksTheContract answers in ways that are not described.
func TestWhatBreaksTheContract(t *testing.T) {
	const fine = `{"error":"invalid_request","error_description":"x","request_id":"1"}`
	for name, tt := range map[string]struct {
		method, path string
		status       int
		headers      []string
		body         string
		want         string // part of what is wrong; empty for nothing
	}{
		"an error that is described":       {"GET", "/api/public/report", 400, []string{"Content-Type", "application/json"}, fine, ""},
		"a status that is not":             {"GET", "/api/public/report", 418, []string{"Content-Type", "application/json"}, fine, "no answer of this status"},
		"a type that is not":               {"GET", "/api/public/report", 400, []string{"Content-Type", "text/plain"}, "no", "no body of type"},
		"a code that is not":               {"GET", "/api/public/report", 400, []string{"Content-Type", "application/json"}, strings.ReplaceAll(fine, "invalid_request", "nonsense"), "the code nonsense"},
		"a shape that is not":              {"GET", "/api/public/report", 400, []string{"Content-Type", "application/json"}, `{"error":"invalid_request"}`, "request_id"},
		"a report without a rate":          {"GET", "/api/public/report", 200, []string{"Content-Type", "application/json"}, `{"tool":"x"}`, "schema"},
		"a body where there is none":       {"DELETE", "/api/v1/provider-keys/A_KEY", 204, nil, "x", "has no body"},
		"a path that is not":               {"GET", "/api/secret", 200, []string{"Content-Type", "application/json"}, `{}`, "no matching operation"},
		"one that is told not to be":       {"GET", "/api/secret", 404, []string{"Content-Type", "application/json"}, strings.ReplaceAll(fine, "invalid_request", "not_found"), ""},
		"a method without Allow":           {"DELETE", "/api/public/report", 405, []string{"Content-Type", "application/json"}, strings.ReplaceAll(fine, "invalid_request", "method_not_allowed"), "no Allow"},
		"a method that is not":             {"DELETE", "/api/public/report", 200, []string{"Content-Type", "application/json"}, `{}`, "method not allowed"},
		"401 without a challenge":          {"GET", "/api/agent/keys", 401, []string{"Content-Type", "application/json"}, strings.ReplaceAll(fine, "invalid_request", "unauthorized"), "no Www-Authenticate"},
		"429 without a time":               {"GET", "/api/public/report", 429, []string{"Content-Type", "application/json"}, strings.ReplaceAll(fine, "invalid_request", "rate_limited"), "no Retry-After"},
		"a page of people":                 {"GET", "/workspaces/a", 418, nil, "x", ""},
		"what only begins like their path": {"GET", "/workspaces-of-all", 200, nil, "x", "no matching operation"},
		"HEAD of what is described":        {"HEAD", "/api/public/report", 400, []string{"Content-Type", "application/json"}, "", ""},
		"HEAD with another status":         {"HEAD", "/api/public/report", 418, nil, "", "no answer of this status"},
	} {
		t.Run(name, func(t *testing.T) {
			c := New(&quiet{TB: t})
			h := c.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for i := 0; i < len(tt.headers); i += 2 {
					w.Header().Set(tt.headers[i], tt.headers[i+1])
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(tt.method, tt.path, nil))
			var got string
			for _, why := range c.broken {
				got += why
			}
			if (got != "") != (tt.want != "") || !strings.Contains(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

// quiet is a test that does not hear of what is found.
type quiet struct{ testing.TB }

func (*quiet) Cleanup(func()) {}
