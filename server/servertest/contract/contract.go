// Package contract holds answers of a server to openapi.yaml: whatever a test asks, by
// whatever client, an answer that is not described fails it.
package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing" //nolint:depguard // a package of tests

	"github.com/getkin/kin-openapi/openapi3"           //nolint:depguard // a package of tests
	"github.com/getkin/kin-openapi/openapi3filter"     //nolint:depguard // a package of tests
	"github.com/getkin/kin-openapi/routers"            //nolint:depguard // a package of tests
	"github.com/getkin/kin-openapi/routers/gorillamux" //nolint:depguard // a package of tests

	"github.com/firstpick/firstpick/server/public/openapi"
)

// A Contract is the description, and what was found to break it.
type Contract struct {
	doc    *openapi3.T
	router routers.Router
	codes  []any

	mu     sync.Mutex
	broken map[string]string // by what was asked: the first that was wrong with it
}

var read = sync.OnceValues(func() (*Contract, error) {
	doc, err := openapi3.NewLoader().LoadFromData(openapi.Source())
	if err != nil {
		return nil, err
	}
	doc.Servers = nil
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, err
	}
	codes, _ := doc.Components.Schemas["Error"].Value.Properties["error"].Value.Extensions["x-extensible-enum"].([]any)
	if len(codes) == 0 {
		return nil, errors.New("the description has no codes of errors")
	}
	return &Contract{doc: doc, router: router, codes: codes}, nil
})

// New returns a contract. What breaks it is told when the test ends; servers must have
// stopped by then, so ask for it before they are started.
func New(t testing.TB) *Contract {
	t.Helper()
	all, err := read()
	if err != nil {
		t.Fatal(err)
	}
	c := &Contract{doc: all.doc, router: all.router, codes: all.codes, broken: map[string]string{}}
	t.Cleanup(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for what, why := range c.broken {
			t.Errorf("%s is not as openapi.yaml describes it: %s", what, why)
		}
	})
	return c
}

// Check takes an answer; a body of nil is not looked at.
func (c *Contract) Check(r *http.Request, status int, header http.Header, body []byte) {
	if err := c.check(r, status, header, body); err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		what := fmt.Sprintf("%s %s: the answer %d", r.Method, r.URL.Path, status)
		if _, known := c.broken[what]; !known {
			c.broken[what] = fmt.Sprintf("%v\n%.2000s", err, body)
		}
	}
}

// Personal are the beginnings of paths of people who are signed in or sign in, and of the
// files of pages. No program calls them, so they are not described.
func Personal() []string {
	return []string{"/account/", "/agents", "/assets/", "/claim", "/favicon.ico", "/invitations", "/operator", "/signin", "/signout", "/workspaces"}
}

func personal(path string) bool {
	return slices.ContainsFunc(Personal(), func(p string) bool {
		return strings.HasPrefix(path, p) && (strings.HasSuffix(p, "/") || path == p || path[len(p)] == '/')
	})
}

// filePath matches paths of files, which may have slashes; templates do not.
var filePath = regexp.MustCompile(`^(/snapshots/[^/]+|/log|/og|/leaderboards/[^/]+/prompts)/.+`)

// gone is the status of an answer that nobody waits for.
const gone = 499

func (c *Contract) check(r *http.Request, status int, header http.Header, body []byte) error {
	if status == gone || personal(r.URL.Path) {
		return nil
	}
	if err := needs(status, header); err != nil {
		return err
	}
	asked := &http.Request{Method: r.Method, URL: &url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath}, Header: r.Header}
	if strings.HasSuffix(asked.URL.Path, "/api/") { // the well-known address of a resource with a slash
		asked.URL.Path = strings.TrimSuffix(asked.URL.Path, "/")
	}
	if m := filePath.FindStringSubmatch(asked.URL.EscapedPath()); m != nil {
		asked.URL.Path, asked.URL.RawPath = m[1]+"/file", ""
	}
	if r.Method == http.MethodHead {
		asked.Method, body = http.MethodGet, nil
	}
	route, params, err := c.router.FindRoute(asked)
	if err != nil {
		return c.undescribed(asked, err, status, header, body)
	}
	response := route.Operation.Responses.Status(status)
	if response == nil {
		return fmt.Errorf("%s has no answer of this status", route.Operation.OperationID)
	}
	if len(response.Value.Content) == 0 && len(body) > 0 && (status < 300 || status >= 400) {
		return errors.New("the description has no body")
	}
	asked.Method = route.Method
	in := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: asked, PathParams: params, Route: route},
		Status:                 status, Header: header, Options: &openapi3filter.Options{IncludeResponseStatus: true, ExcludeResponseBody: true},
	}
	if kind := header.Get("Content-Type"); body != nil && len(response.Value.Content) > 0 {
		if response.Value.Content.Get(kind) == nil {
			return fmt.Errorf("the description has no body of type %s", kind)
		}
		if isJSON(kind) && status != http.StatusPartialContent {
			in.Options.ExcludeResponseBody = false
			in.SetBodyBytes(body)
			if err := c.code(status, body); err != nil {
				return err
			}
		}
	}
	return openapi3filter.ValidateResponse(context.Background(), in)
}

// undescribed judges answers of what the description does not have: they say that it is
// not there, with the body of errors.
func (c *Contract) undescribed(r *http.Request, why error, status int, header http.Header, body []byte) error {
	switch {
	case r.Method == http.MethodOptions && status < 400 || status == http.StatusPermanentRedirect:
		return nil
	case !slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusTooManyRequests, http.StatusForbidden, http.StatusUnauthorized}, status):
		return why
	case body == nil || !isJSON(header.Get("Content-Type")):
		return nil
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	if err := c.doc.Components.Schemas["Error"].Value.VisitJSON(value, openapi3.EnableJSONSchema2020()); err != nil {
		return err
	}
	return c.code(status, body)
}

// needs asks for the headers that HTTP asks for.
func needs(status int, header http.Header) error {
	for of, name := range map[int]string{
		http.StatusUnauthorized: "Www-Authenticate", http.StatusMethodNotAllowed: "Allow", http.StatusTooManyRequests: "Retry-After",
	} {
		if status == of && header.Get(name) == "" {
			return fmt.Errorf("it has no %s", name)
		}
	}
	return nil
}

// code holds the code of an error to those that are described.
func (c *Contract) code(status int, body []byte) error {
	var e struct{ Error any }
	if status < 400 {
		return nil
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return err
	}
	if code, ok := e.Error.(string); ok && !slices.Contains(c.codes, any(code)) {
		return fmt.Errorf("the code %s is not described", code)
	}
	return nil
}

func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == "application/json" || strings.HasSuffix(media, "+json"))
}

func init() { //nolint:gochecknoinits // how the library is told of media types
	for _, media := range []string{"application/mcp-server-card+json", "application/ai-catalog+json", "application/linkset+json"} {
		openapi3filter.RegisterBodyDecoder(media, openapi3filter.JSONBodyDecoder)
	}
}

// plain undoes the encoding of a body, or returns nil.
func plain(encoding string, body []byte) []byte {
	switch encoding {
	case "":
		return body
	case "gzip":
		return ungzip(bytes.NewReader(body))
	case "zstd":
		return unzstd(bytes.NewReader(body))
	}
	return nil
}
