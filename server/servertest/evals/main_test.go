// Package evals_test holds the eval API, as a whole server serves it on either store,
// to its description, to the walls between workspaces, and to hostile callers.
package evals_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

const (
	free = state.PlanFree
	paid = state.PlanPaid
	// bundles holds the bundle that runs of servertest.EvalText end with.
	bundles = "testdata/bundles"
)

func TestMain(m *testing.M) { statetest.Main(m) }

func described(t testing.TB) (*openapi3.T, routers.Router) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile("../../public/openapi/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return doc, router
}

// onBoth runs a test with a server on each store.
func onBoth(t *testing.T, run func(t *testing.T, s *servertest.Service)) {
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			run(t, servertest.New(t, servertest.Options{State: statetest.Address(t, engine)}))
		})
	}
}

// An api is a program with a key.
type api struct {
	t      testing.TB
	base   string
	key    string
	router routers.Router
}

func newAPI(t testing.TB, s *servertest.Service, key string) *api {
	t.Helper()
	_, router := described(t)
	return &api{t, s.URL, key, router}
}

// with is the same program with another key.
func (a *api) with(key string) *api {
	other := *a
	other.key = key
	return &other
}

// An answer is what came back, whole.
type answer struct {
	t      testing.TB
	status int
	header http.Header
	body   string
}

// do sends a request with headers given by name and value, and holds the answer to
// the description.
func (a *api) do(method, path, body string, headers ...string) *answer {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), method, a.base+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	if a.key != "" {
		req.Header.Set("Authorization", "Bearer "+a.key)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
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
	out := &answer{a.t, resp.StatusCode, resp.Header, string(data)}
	a.fits(req, out)
	return out
}

func (a *api) get(path string, headers ...string) *answer {
	a.t.Helper()
	return a.do(http.MethodGet, path, "", headers...)
}

// fits holds an answer of a described path to its description.
func (a *api) fits(req *http.Request, got *answer) {
	a.t.Helper()
	if req.Method == http.MethodHead || req.Method == http.MethodOptions {
		return
	}
	r := req.Clone(a.t.Context())
	r.URL = &url.URL{Path: req.URL.Path, RawPath: req.URL.RawPath}
	route, params, err := a.router.FindRoute(r)
	if err != nil {
		if got.status != http.StatusNotFound && got.status != http.StatusMethodNotAllowed {
			a.t.Errorf("%s %s: answered %d, and is not described: %v", req.Method, req.URL, got.status, err)
		}
		return
	}
	in := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route},
		Status:                 got.status, Header: got.header, Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}
	if got.header.Get("Content-Encoding") != "" || !strings.HasPrefix(got.header.Get("Content-Type"), "application/json") {
		in.Options.ExcludeResponseBody = true
	}
	in.SetBodyBytes([]byte(got.body))
	if err := openapi3filter.ValidateResponse(a.t.Context(), in); err != nil {
		a.t.Errorf("%s %s: %d %s: %v", req.Method, req.URL, got.status, got.body, err)
	}
}

// is fails unless an answer has a status.
func (a *answer) is(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("answered %d, not %d: %s", a.status, status, a.body)
	}
	return a
}

// refused fails unless an answer is an error of a status and code.
func (a *answer) refused(status int, code string) *answer {
	a.t.Helper()
	if got := a.object()["error"]; a.status != status || got != code {
		a.t.Errorf("answered %d %v, not %d %s: %s", a.status, got, status, code, a.body)
	}
	return a
}

func (a *answer) object() map[string]any {
	a.t.Helper()
	out := map[string]any{}
	if err := json.Unmarshal([]byte(a.body), &out); err != nil {
		a.t.Fatalf("no JSON object: %d %q", a.status, a.body)
	}
	return out
}

// list returns a member that is a list of objects.
func (a *answer) list(name string) []map[string]any {
	a.t.Helper()
	var out map[string]json.RawMessage
	var list []map[string]any
	if err := json.NewDecoder(bytes.NewReader([]byte(a.body))).Decode(&out); err != nil {
		a.t.Fatal(err)
	}
	if err := json.Unmarshal(out[name], &list); err != nil {
		a.t.Fatalf("%s: %v in %s", name, err, a.body)
	}
	return list
}

func (a *answer) text(name string) string {
	a.t.Helper()
	text, _ := a.object()[name].(string)
	return text
}
