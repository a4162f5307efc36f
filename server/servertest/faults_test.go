package servertest_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/kit/mail"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

const (
	jsonMedia = "application/json"
	formMedia = "application/x-www-form-urlencoded"
	setMedia  = "application/secevent+jwt"
)

// An answer is what a request got.
type answer struct {
	status int
	header http.Header
	text   string
	body   map[string]any
}

// code is the error that the body names.
func (a answer) code() string {
	for _, name := range []string{"error", "err"} {
		if s, ok := a.body[name].(string); ok {
			return s
		}
	}
	return ""
}

func (a answer) String() string { return fmt.Sprintf("%d %s", a.status, a.text) }

// A request is one to the server.
type request struct {
	method, path, media, bearer, body string
	chunked                           bool
}

var impatient = &http.Client{Timeout: 15 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func (q request) send(t testing.TB, s *servertest.Service) answer {
	t.Helper()
	var body io.Reader = strings.NewReader(q.body)
	if q.chunked {
		body = io.MultiReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), q.method, s.URL+q.path, body)
	if err != nil {
		t.Fatal(err)
	}
	if q.media != "" {
		req.Header.Set("Content-Type", q.media)
	}
	if q.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+q.bearer)
	}
	resp, err := impatient.Do(req)
	if err != nil {
		t.Errorf("%s %s: %v", q.method, q.path, err)
		return answer{}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Errorf("%s %s: %v", q.method, q.path, err)
	}
	a := answer{status: resp.StatusCode, header: resp.Header, text: string(data)}
	_ = json.Unmarshal(data, &a.body) // a page is none
	return a
}

func post(path, media, body string) request {
	return request{method: http.MethodPost, path: path, media: media, body: body}
}

func form(fields ...string) string {
	v := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		v.Add(fields[i], fields[i+1])
	}
	return v.Encode()
}

func present(assertion string) request {
	return post("/api/agent/identity", jsonMedia, `{"type":"identity_assertion","assertion_type":"`+registrations.AssertionType+`","assertion":"`+assertion+`"}`)
}

// A world is an agent with all that it can have: a request to every endpoint, each of
// which is right.
type world struct{ token, claim, assertion string }

func newAgent(t testing.TB, s *servertest.Service) world {
	t.Helper()
	a := post("/api/agent/identity", jsonMedia, `{"type":"anonymous"}`).send(t, s)
	var w world
	w.claim, _ = a.body["claim_token"].(string)
	w.assertion, _ = a.body["identity_assertion"].(string)
	got := w.exchange().send(t, s)
	if w.token, _ = got.body["access_token"].(string); w.token == "" || w.claim == "" {
		t.Fatalf("no agent: %s, %s", a, got)
	}
	return w
}

func (w world) exchange() request {
	return post("/api/oauth2/token", formMedia, form("grant_type", registrations.GrantJWT, "assertion", w.assertion))
}

func (w world) poll() request {
	return post("/api/oauth2/token", formMedia, form("grant_type", registrations.GrantClaim, "claim_token", w.claim))
}

func (w world) key() request {
	q := post("/api/agent/keys", jsonMedia, `{"kind":"secret","label":"a"}`)
	q.bearer = w.token
	return q
}

// endpoints are all that take a body, with the largest that each takes.
func (w world) endpoints(s *servertest.Service) map[string]struct {
	request
	limit int
} {
	type e = struct {
		request
		limit int
	}
	return map[string]e{
		"register": {post("/api/agent/identity", jsonMedia, `{"type":"anonymous"}`), 64 << 10},
		"claim":    {post("/api/agent/identity/claim", jsonMedia, `{"claim_token":"`+w.claim+`","email":"dana@example.com"}`), 64 << 10},
		"keys":     {w.key(), 64 << 10},
		"exchange": {w.exchange(), 16 << 10},
		"poll":     {w.poll(), 16 << 10},
		"revoke":   {post("/api/oauth2/revoke", formMedia, form("token", "at_nobody")), 16 << 10},
		"notify":   {post("/api/agent/event/notify", setMedia, s.IdP.Event(s.URL+"/api/", "nobody")), 16 << 10},
	}
}

// TestBodies: a body of the largest size is read, one byte more is a 413.
func TestBodies(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Options{})
	w := newAgent(t, s)
	pad := func(q request, size int) request {
		switch n := size - len(q.body); q.media {
		case jsonMedia:
			q.body += strings.Repeat(" ", n)
		case formMedia:
			q.body += "&pad=" + strings.Repeat("a", n-len("&pad="))
		default:
			q.body = strings.Repeat("a", size)
		}
		return q
	}
	for name, e := range w.endpoints(s) {
		for _, chunked := range []bool{false, true} {
			e.chunked = chunked
			if a := pad(e.request, e.limit).send(t, s); a.status == http.StatusRequestEntityTooLarge || a.status >= 500 || a.status == 0 {
				t.Errorf("%s: a body of %d bytes: %s", name, e.limit, a)
			}
			for _, size := range []int{e.limit + 1, 2 * e.limit} {
				a := pad(e.request, size).send(t, s)
				if a.status != http.StatusRequestEntityTooLarge || a.code() != "request_too_large" || a.header.Get("Cache-Control") != "no-store" {
					t.Errorf("%s: a body of %d bytes, chunked %v: %s", name, size, chunked, a)
				}
			}
		}
	}
	if a := w.exchange().send(t, s); a.status != http.StatusOK {
		t.Errorf("afterwards: %s", a)
	}
}

// TestMedia: what is sent as something else is refused, parameters of a media type are
// not.
func TestMedia(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Options{})
	w := newAgent(t, s)
	for name, e := range w.endpoints(s) {
		right := map[string]bool{e.media: true, e.media + "; charset=utf-8": true, strings.ToUpper(e.media): true}
		for _, media := range []string{e.media, e.media + "; charset=utf-8", strings.ToUpper(e.media), jsonMedia, formMedia, setMedia, "text/plain", "multipart/form-data; boundary=x", "a b", ""} {
			q := e.request
			q.media = media
			a := q.send(t, s)
			switch {
			case a.status >= 500, a.status == 0:
				t.Errorf("%s as %q: %s", name, media, a)
			case e.media == jsonMedia: // whose form is checked, not its name
			case right[media] && a.code() == "invalid_request" && strings.Contains(a.text, "Send the"), !right[media] && (a.status != http.StatusBadRequest || a.code() != "invalid_request"):
				t.Errorf("%s as %q: %s", name, media, a)
			}
		}
		if e.media == jsonMedia {
			for _, body := range []string{"", "type=anonymous", "null", "[]", `"anonymous"`, "1", `{"type":"anonymous"`, `{"type":"anonymous"}{}`, `{"type":1,"claim_token":1,"kind":1}`, "\xff\xfe{}", strings.Repeat("[", 60_000), `{"a":` + strings.Repeat("[", 60_000)} {
				q := e.request
				q.body = body
				if a := q.send(t, s); a.status != http.StatusBadRequest || a.code() != "invalid_request" || a.body["reason"] != "malformed_body" {
					t.Errorf("%s with %.30q: %s", name, body, a)
				}
			}
		}
	}
}

// TestMethods: a wrong method is told the right ones, and changes nothing.
func TestMethods(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Options{})
	w := newAgent(t, s)
	allow := map[string][]string{
		"/api/agent/identity":                     {"OPTIONS", "POST"},
		"/api/agent/identity/claim":               {"OPTIONS", "POST"},
		"/api/oauth2/token":                       {"OPTIONS", "POST"},
		"/api/oauth2/revoke":                      {"OPTIONS", "POST"},
		"/api/agent/keys":                         {"GET", "HEAD", "OPTIONS", "POST"},
		"/api/agent/workspace":                    {"GET", "HEAD", "OPTIONS"},
		"/api/agent/event/notify":                 {"POST"},
		"/.well-known/oauth-protected-resource":   {"GET", "HEAD", "OPTIONS"},
		"/.well-known/oauth-authorization-server": {"GET", "HEAD", "OPTIONS"},
		"/.well-known/jwks.json":                  {"GET", "HEAD", "OPTIONS"},
	}
	for path, right := range allow {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"} {
			a := request{method: method, path: path, bearer: w.token}.send(t, s)
			if slices.Contains(right, method) {
				if a.status == http.StatusMethodNotAllowed || a.status == http.StatusNotFound || a.status >= 500 {
					t.Errorf("%s %s: %s", method, path, a)
				}
				continue
			}
			if got := a.header.Get("Allow"); a.status != http.StatusMethodNotAllowed || got != strings.Join(right, ", ") {
				t.Errorf("%s %s: %s, Allow is %q, want %q", method, path, a, got, right)
			}
			if (a.code() == "method_not_allowed") == (method == "HEAD") || method == "HEAD" && a.text != "" {
				t.Errorf("%s %s: %s", method, path, a)
			}
		}
		if slices.Contains(right, "OPTIONS") { // a script of another page asks first
			method := right[0]
			if method == "OPTIONS" {
				method = right[1]
			}
			headers := "Authorization, Content-Type"
			if strings.HasPrefix(path, "/.well-known/") {
				headers = "*, Authorization"
			}
			a := request{method: "OPTIONS", path: path}.send(t, s)
			if a.status != http.StatusNoContent || a.text != "" || a.header.Get("Access-Control-Allow-Origin") != "*" || a.header.Get("Access-Control-Allow-Credentials") != "" ||
				!strings.Contains(a.header.Get("Access-Control-Allow-Methods"), method) || a.header.Get("Access-Control-Allow-Headers") != headers {
				t.Errorf("OPTIONS %s: %s %v", path, a, a.header)
			}
		}
		if slices.Contains(right, "HEAD") { // says what GET would
			get, head := request{method: "GET", path: path}.send(t, s), request{method: "HEAD", path: path}.send(t, s)
			if head.status != get.status || head.text != "" || head.header.Get("Content-Type") != get.header.Get("Content-Type") || head.header.Get("Cache-Control") != get.header.Get("Cache-Control") {
				t.Errorf("HEAD %s: %s %v, GET: %s", path, head, head.header, get)
			}
		}
	}
}

// TestParameters: unknown ones are ignored, those in the address do not count, and one
// that stands twice is refused whatever it is (RFC 6749, 3.2).
func TestParameters(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Options{})
	w := newAgent(t, s)
	exchange := []string{"grant_type", registrations.GrantJWT, "assertion", w.assertion}
	for name, c := range map[string]struct {
		q      request
		status int
		code   string
	}{
		"unknown members":    {post("/api/agent/identity", jsonMedia, `{"type":"anonymous","requested_credential_type":"api_key","scopes":["x"],"a":{"b":[null]}}`), 200, ""},
		"unknown parameters": {post("/api/oauth2/token", formMedia, form(append(exchange, "client_id", "any", "audience", "x")...)), 200, ""},
		"none":               {post("/api/oauth2/token", formMedia, ""), 400, "invalid_request"},
		"a grant twice":      {post("/api/oauth2/token", formMedia, form(append(exchange, "grant_type", registrations.GrantJWT)...)), 400, "invalid_request"},
		"two grants":         {post("/api/oauth2/token", formMedia, form(append(exchange, "grant_type", registrations.GrantClaim)...)), 400, "invalid_request"},
		"an assertion twice": {post("/api/oauth2/token", formMedia, form(append(exchange, "assertion", w.assertion)...)), 400, "invalid_request"},
		"a resource twice": {
			post("/api/oauth2/token", formMedia, form(append(exchange, "resource", s.URL+"/api/", "resource", s.URL+"/api/")...)), 400, "invalid_request",
		},
		"a scope twice":         {post("/api/oauth2/token", formMedia, form(append(exchange, "scope", "analytics.write", "scope", "analytics.write")...)), 400, "invalid_request"},
		"an unknown twice":      {post("/api/oauth2/token", formMedia, form(append(exchange, "x", "1", "x", "2")...)), 400, "invalid_request"},
		"a claim token twice":   {post("/api/oauth2/token", formMedia, form("grant_type", registrations.GrantClaim, "claim_token", w.claim, "claim_token", w.claim)), 400, "invalid_request"},
		"a token twice":         {post("/api/oauth2/revoke", formMedia, form("token", w.token, "token", w.token)), 400, "invalid_request"},
		"a hint twice":          {post("/api/oauth2/revoke", formMedia, form("token", w.token, "token_type_hint", "a", "token_type_hint", "b")), 400, "invalid_request"},
		"in the address":        {post("/api/oauth2/token?"+form(exchange...), formMedia, ""), 400, "invalid_request"},
		"a token in an address": {post("/api/oauth2/revoke?"+form("token", w.token), formMedia, ""), 400, "invalid_request"},
		"a bad escape":          {post("/api/oauth2/token", formMedia, "grant_type=%zz"), 400, "invalid_request"},
		"a semicolon":           {post("/api/oauth2/token", formMedia, "grant_type=a;assertion=b"), 400, "invalid_request"},
		"a bearer in the form":  {post("/api/agent/keys", formMedia, form("access_token", w.token)), 401, "unauthorized"},
		"a bearer in the address": {
			request{method: http.MethodGet, path: "/api/agent/workspace?access_token=" + w.token}, 401, "unauthorized",
		},
	} {
		if a := c.q.send(t, s); a.status != c.status || a.code() != c.code {
			t.Errorf("%s: %s, want %d %s", name, a, c.status, c.code)
		}
	}
	if a := w.key().send(t, s); a.status != http.StatusCreated {
		t.Errorf("a refused revocation revoked: %s", a)
	}
}

// raw speaks to the server by hand and returns the status of its answer, 0 where it
// hangs up without one.
func raw(t *testing.T, s *servertest.Service, text string, hangUp bool) int {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	if hangUp {
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%.40q hangs", text)
	}
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// TestHalfBodies: of a body that is cut off nothing comes, though what arrived would
// do; the server is neither held up nor does it blame itself.
func TestHalfBodies(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Options{})
	w := newAgent(t, s)
	for name, e := range w.endpoints(s) {
		head := "POST " + e.path + " HTTP/1.1\r\nHost: a\r\nContent-Type: " + e.media + "\r\nAuthorization: Bearer " + w.token + "\r\n"
		if e.path == "/api/oauth2/token" || e.path == "/api/oauth2/revoke" {
			head = strings.Replace(head, "Authorization", "X-Unused", 1)
		}
		for kind, text := range map[string]string{
			"cut":                  fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(e.body)+1, e.body),
			"a chunk without end":  fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(e.body), e.body),
			"a chunk that is none": "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
		} {
			if status := raw(t, s, head+text, true); status != 0 && status != http.StatusBadRequest {
				t.Errorf("%s, %s: %d", name, kind, status)
			}
		}
	}
	if a := w.key().send(t, s); a.status != http.StatusCreated {
		t.Errorf("a key after %s", a)
	}
	s.Stop()
	if log := s.Log.String(); strings.Contains(log, `"status":5`) || strings.Contains(log, "level=ERROR") {
		t.Errorf("the server blames itself: %s", log)
	}
}

// TestASlowClient is let go after ten seconds.
func TestASlowClient(t *testing.T) {
	if testing.Short() {
		t.Skip("waits ten seconds")
	}
	t.Parallel()
	s := servertest.New(t, servertest.Options{})
	began := time.Now()
	var all sync.WaitGroup
	for _, text := range []string{
		"POST /api/agent/identity HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{\"type\":",
		"POST /api/oauth2/token HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngran",
		"POST /api/agent/identity HTTP/1.1\r\nHost: a\r\nContent-",
	} {
		all.Go(func() {
			if status := raw(t, s, text, false); status != 0 && status != http.StatusBadRequest && status != http.StatusRequestTimeout {
				t.Errorf("%.30q: %d", text, status)
			}
		})
	}
	all.Wait()
	if d := time.Since(began); d > 15*time.Second {
		t.Errorf("it took %s", d)
	}
}

// A wire leads to a PostgreSQL and can be cut and frozen.
type wire struct {
	t    *testing.T
	dir  string // of our socket
	to   string // the socket of the store
	flow sync.RWMutex

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
}

// newWire returns a wire and the address of the store through it.
func newWire(t *testing.T, address string) (*wire, string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "fpw") //nolint:usetesting // short: socket paths have a limit
	if err != nil {
		t.Fatal(err)
	}
	const socket = ".s.PGSQL.5432"
	w := &wire{t: t, dir: dir, to: filepath.Join(u.Query().Get("host"), socket), conns: map[net.Conn]bool{}}
	w.mend()
	t.Cleanup(func() { w.cut(); _ = os.RemoveAll(dir) })
	q := u.Query()
	q.Set("host", dir)
	u.RawQuery = q.Encode()
	return w, u.String()
}

func (w *wire) mend() {
	l, err := net.Listen("unix", filepath.Join(w.dir, ".s.PGSQL.5432"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	w.listener = l
	w.mu.Unlock()
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("unix", w.to)
			if err != nil {
				_ = in.Close()
				continue
			}
			w.mu.Lock()
			w.conns[in], w.conns[out] = true, true
			w.mu.Unlock()
			go w.copy(in, out)
			go w.copy(out, in)
		}
	}()
}

func (w *wire) copy(to, from net.Conn) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		w.flow.RLock()
		_, err = to.Write(buf[:n])
		w.flow.RUnlock()
		if err != nil {
			return
		}
	}
}

// cut ends all connections; nobody listens until mend.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.listener.Close()
	for c := range w.conns {
		_ = c.Close()
	}
	clear(w.conns)
}

// outage returns requests to everything that needs the store, each of them right.
func (w world) outage(s *servertest.Service, assertion string) map[string]request {
	bearer := w.token
	return map[string]request{
		"register":     post("/api/agent/identity", jsonMedia, `{"type":"anonymous"}`),
		"service_auth": post("/api/agent/identity", jsonMedia, `{"type":"service_auth","login_hint":"dana@example.com"}`),
		"present":      present(assertion),
		"claim":        post("/api/agent/identity/claim", jsonMedia, `{"claim_token":"`+w.claim+`","email":"dana@example.com"}`),
		"poll":         w.poll(),
		"exchange":     w.exchange(),
		"revoke":       post("/api/oauth2/revoke", formMedia, form("token", "at_nobody")),
		"keys":         w.key(),
		"workspace":    {method: http.MethodGet, path: "/api/agent/workspace", bearer: bearer},
		"notify":       post("/api/agent/event/notify", setMedia, s.IdP.Event(s.URL+"/api/", "nobody")),
		"metadata":     {method: http.MethodGet, path: "/.well-known/oauth-authorization-server"},
		"auth.md":      {method: http.MethodGet, path: "/auth.md"},
	}
}

// want is what outage's requests get while the store works.
var want = map[string]int{
	"register": 200, "service_auth": 200, "present": 200, "claim": 200, "poll": 400, "exchange": 200, "revoke": 200, "keys": 201, "workspace": 403, "notify": 202,
	"metadata": 200, "auth.md": 200,
}

// all sends requests at once.
func all(t *testing.T, s *servertest.Service, requests map[string]request) map[string]answer {
	t.Helper()
	var mu sync.Mutex
	out := map[string]answer{}
	var wg sync.WaitGroup
	for name, q := range requests {
		wg.Go(func() {
			a := q.send(t, s)
			mu.Lock()
			defer mu.Unlock()
			out[name] = a
		})
	}
	wg.Wait()
	return out
}

// down fails unless everything answers 503. A store that is closed under a request, as
// at the end of the process, may make it a 500.
func (w world) down(t *testing.T, s *servertest.Service, assertion string, closed bool) {
	t.Helper()
	began := time.Now()
	for name, a := range all(t, s, w.outage(s, assertion)) {
		if closed && a.status == http.StatusInternalServerError {
			continue
		}
		if after := a.header.Get("Retry-After"); a.status != http.StatusServiceUnavailable || a.code() != "temporarily_unavailable" || after == "" || after == "0" {
			t.Errorf("%s without the store: %s, Retry-After %q", name, a, after)
		}
	}
	if a := (request{method: http.MethodGet, path: "/readyz"}).send(t, s); a.body["state"] != "down" {
		t.Errorf("/readyz says %s", a)
	}
	if a := (request{method: http.MethodGet, path: "/healthz"}).send(t, s); a.status != http.StatusOK {
		t.Errorf("/healthz says %s", a)
	}
	if a := (request{method: http.MethodGet, path: "/.well-known/jwks.json"}).send(t, s); a.status != http.StatusOK {
		t.Errorf("the keys at hand are not served: %s", a)
	}
	if a := post("/signin", formMedia, form("email", "dana@example.com")).send(t, s); a.status != http.StatusServiceUnavailable || !strings.Contains(a.text, "database does not respond") {
		t.Errorf("the sign-in page says %s", a)
	}
	if d := time.Since(began); d > 14*time.Second {
		t.Errorf("all of this took %s", d)
	}
}

func (w world) up(t *testing.T, s *servertest.Service, assertion string) {
	t.Helper()
	for name, a := range all(t, s, w.outage(s, assertion)) {
		if a.status != want[name] {
			t.Errorf("%s with the store back: %s, want %d", name, a, want[name])
		}
	}
	becomesReady(t, s)
	if a := present(assertion).send(t, s); a.body["reason"] != "replay_detected" {
		t.Errorf("an assertion for the second time: %s", a)
	}
}

// TestStoreDown: without its store the server says so, everywhere and soon, and goes
// on by itself when the store is back. Nothing was used up meanwhile.
func TestStoreDown(t *testing.T) {
	t.Parallel()
	t.Run("sqlite closed", func(t *testing.T) {
		t.Parallel()
		db, err := state.Open(t.Context(), statetest.Address(t, "sqlite"), statetest.Vault(t))
		if err != nil {
			t.Fatal(err)
		}
		s := servertest.New(t, servertest.Options{Agents: func(c *registrations.Config) { c.DB = db }})
		w := newAgent(t, s)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		w.down(t, s, s.IdP.Assertion(s.URL+"/api/", "user-1", "eve@example.com"), true)
	})
	t.Run("sqlite locked", func(t *testing.T) { // by another process
		if testing.Short() {
			t.Skip("waits ten seconds")
		}
		t.Parallel()
		address := statetest.Address(t, "sqlite")
		s := servertest.New(t, servertest.Options{State: address})
		w := newAgent(t, s)
		assertion := s.IdP.Assertion(s.URL+"/api/", "user-1", "eve@example.com")
		other, err := sql.Open("sqlite", strings.TrimPrefix(address, "sqlite://"))
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		conn, err := other.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.ExecContext(t.Context(), "begin immediate"); err != nil {
			t.Fatal(err)
		}
		writes := w.outage(s, assertion)
		maps.DeleteFunc(writes, func(name string, _ request) bool {
			return !slices.Contains([]string{"register", "exchange", "keys", "present"}, name)
		})
		for name, a := range all(t, s, writes) {
			if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
				t.Errorf("%s while the store is locked: %s", name, a)
			}
		}
		if a := w.outage(s, assertion)["workspace"].send(t, s); a.status != http.StatusForbidden {
			t.Errorf("reading: %s", a)
		}
		if err := conn.Close(); err != nil { // and with it the transaction
			t.Fatal(err)
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		w.up(t, s, assertion)
	})
	t.Run("postgres stopped", func(t *testing.T) {
		t.Parallel()
		cable, address := newWire(t, statetest.Address(t, "postgres"))
		s := servertest.New(t, servertest.Options{State: address})
		w := newAgent(t, s)
		assertion := s.IdP.Assertion(s.URL+"/api/", "user-1", "eve@example.com")
		for range 2 {
			cable.cut()
			w.down(t, s, assertion, false)
		}
		cable.mend()
		w.up(t, s, assertion)
	})
	t.Run("postgres frozen", func(t *testing.T) {
		if testing.Short() {
			t.Skip("waits ten seconds")
		}
		t.Parallel()
		cable, address := newWire(t, statetest.Address(t, "postgres"))
		s := servertest.New(t, servertest.Options{State: address})
		w := newAgent(t, s)
		assertion := s.IdP.Assertion(s.URL+"/api/", "user-1", "eve@example.com")
		cable.flow.Lock()
		for name, a := range all(t, s, w.outage(s, assertion)) {
			if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
				t.Errorf("%s while the store is silent: %s", name, a)
			}
		}
		cable.flow.Unlock()
		w.up(t, s, assertion)
	})
}

// TestIssuerDown: while the keys of an issuer cannot be had, its tokens are neither
// right nor wrong, and not used up.
func TestIssuerDown(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]http.HandlerFunc{
		"500":        func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"404":        http.NotFound,
		"hung up":    func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"no JSON":    func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		"endless":    func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) },
		"a redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
		"silent":     func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "silent" && testing.Short() {
				t.Skip("waits five seconds")
			}
			var down atomic.Bool
			var s *servertest.Service
			keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if down.Load() {
					fault(w, r)
					return
				}
				if key := s.IdP.JWK(s.IdP.Kid()); r.URL.Path == "/keys" && key != nil {
					_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{key}})
				}
			}))
			t.Cleanup(keys.Close)
			s = servertest.New(t, servertest.Options{Agents: func(c *registrations.Config) { c.Issuers[0].JWKSURI = keys.URL + "/keys" }})
			assertion := s.IdP.Assertion(s.URL+"/api/", "user-1", "eve@example.com")
			event := post("/api/agent/event/notify", setMedia, s.IdP.Event(s.URL+"/api/", "user-2"))
			for _, wait := range []time.Duration{0, 30 * time.Second, 30 * time.Second} { // as Retry-After says
				s.Clock.Add(wait)
				down.Store(true)
				for what, a := range all(t, s, map[string]request{"an assertion": present(assertion), "an event": event}) {
					if a.status != http.StatusServiceUnavailable || a.code() != "temporarily_unavailable" || a.header.Get("Retry-After") != "30" {
						t.Errorf("%s: %s, Retry-After %q", what, a, a.header.Get("Retry-After"))
					}
				}
				if name == "silent" {
					break
				}
			}
			down.Store(false)
			s.Clock.Add(30 * time.Second)
			if a := present(assertion).send(t, s); a.status != http.StatusOK {
				t.Errorf("the same assertion with the keys back: %s", a)
			}
			if a := present(assertion).send(t, s); a.status != http.StatusBadRequest || a.body["reason"] != "replay_detected" {
				t.Errorf("and once more: %s", a)
			}
			if a := event.send(t, s); a.status != http.StatusAccepted {
				t.Errorf("the same event: %s", a)
			}
			// Known keys outlast the issuer, as long as they are not a day old.
			down.Store(true)
			s.Clock.Add(time.Hour)
			if a := present(s.IdP.Assertion(s.URL+"/api/", "user-1", "eve@example.com")).send(t, s); a.status != http.StatusOK {
				t.Errorf("with known keys: %s", a)
			}
		})
	}
}

// TestAnIssuerIsNotAskedTooOften: junk in the name of an issuer does not make us a
// nuisance to it.
func TestAnIssuerIsNotAskedTooOften(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Options{})
	s.IdP.Down(true)
	for range 20 {
		if a := present(s.IdP.Assertion(s.URL+"/api/", "user-1", "eve@example.com")).send(t, s); a.status != http.StatusServiceUnavailable {
			t.Fatal(a)
		}
	}
	if n := s.IdP.Fetches(); n > 3 {
		t.Errorf("the issuer was asked %d times", n)
	}
}

// A postman fails as long as it is told to, and remembers what it delivered.
type postman struct {
	mu    sync.Mutex
	err   error
	tries []time.Time
	sent  []mail.Message
	clock *servertest.Clock
	then  func() // after each try
}

func (p *postman) Send(_ context.Context, m mail.Message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tries = append(p.tries, p.clock.Now())
	if p.err == nil {
		p.sent = append(p.sent, m)
	}
	if p.then != nil {
		p.then()
	}
	return p.err
}

// An office is an outbox without a server; mail goes out when it is flushed.
type office struct {
	*registrations.Outbox
	t   *testing.T
	man *postman
	log *servertest.Log
}

func newOffice(t *testing.T, engine string) *office {
	t.Helper()
	clock := &servertest.Clock{}
	clock.Add(servertest.Start().Sub(time.Time{}))
	man, log := &postman{clock: clock}, &servertest.Log{}
	secrets := secret.Source{Rand: rand.Reader}
	db := statetest.Open(t, statetest.Address(t, engine))
	return &office{registrations.NewOutbox(db, man, slog.New(slog.NewTextHandler(log, nil)), clock.Now, secrets), t, man, log}
}

func (o *office) put(to string) {
	o.t.Helper()
	if err := o.DB.Write(o.t.Context(), func(tx *state.Tx) error {
		return o.Put(o.t.Context(), tx, o.Now(), mail.Message{To: to, Subject: "s", Text: "t"})
	}); err != nil {
		o.t.Fatal(err)
	}
}

func (o *office) flush() {
	o.t.Helper()
	if err := o.Flush(o.t.Context()); err != nil {
		o.t.Fatal(err)
	}
}

// TestOutboxKeepsMail: a mail that cannot be sent is tried again after 10 s, twice as
// long each time, half an hour at most, and given up after twelve hours.
func TestOutboxKeepsMail(t *testing.T) {
	t.Parallel()
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, engine)
			o.man.err = errors.New("the relay is away")
			o.put("dana@example.com")
			begin := o.Now()
			var due time.Duration
			pause := 10 * time.Second
			tries := 1
			for o.flush(); due+pause <= 12*time.Hour; tries++ {
				o.man.clock.Add(pause - time.Microsecond)
				if o.flush(); len(o.man.tries) != tries {
					t.Fatalf("a mail is tried %s after it was put, early", o.Now().Sub(begin))
				}
				o.man.clock.Add(time.Microsecond)
				o.flush()
				o.flush()
				due += pause
				if len(o.man.tries) != tries+1 {
					t.Fatalf("%d tries after %s, want %d", len(o.man.tries), due, tries+1)
				}
				pause = min(2*pause, 30*time.Minute)
			}
			o.man.clock.Add(pause)
			if o.flush(); len(o.man.tries) != tries+1 || !strings.Contains(o.log.String(), "sending a mail failed for good") {
				t.Errorf("%d tries after twelve hours, want %d: %s", len(o.man.tries), tries+1, o.log)
			}
			o.man.err = nil
			o.man.clock.Add(24 * time.Hour)
			if o.flush(); len(o.man.sent) != 0 {
				t.Error("a mail that was given up is sent")
			}
			if strings.Contains(o.log.String(), "dana@") {
				t.Errorf("the log holds the address: %s", o.log)
			}
		})
	}
}

func TestOutboxSendsOnce(t *testing.T) {
	t.Parallel()
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			t.Run("when the relay is back", func(t *testing.T) {
				o := newOffice(t, engine)
				o.man.err = errors.New("away")
				o.put("dana@example.com")
				o.put("eve@example.com")
				o.flush()
				o.man.err = nil
				o.put("kim@example.com") // does not wait for those that failed
				if o.flush(); len(o.man.sent) != 1 || o.man.sent[0].To != "kim@example.com" {
					t.Errorf("sent: %v", o.man.sent)
				}
				o.man.clock.Add(10 * time.Second)
				for range 3 {
					o.flush()
					o.man.clock.Add(time.Hour)
				}
				if len(o.man.sent) != 3 {
					t.Errorf("sent: %v", o.man.sent)
				}
			})
			t.Run("by two servers", func(t *testing.T) {
				o := newOffice(t, engine)
				for i := range 20 {
					o.put(fmt.Sprintf("a%d@example.com", i))
				}
				other := registrations.NewOutbox(o.DB, o.man, o.Log, o.Now, o.Secrets)
				var both sync.WaitGroup
				for _, box := range []*registrations.Outbox{o.Outbox, other} {
					both.Go(func() {
						if err := box.Flush(t.Context()); err != nil {
							t.Error(err)
						}
					})
				}
				both.Wait()
				seen := map[string]int{}
				for _, m := range o.man.sent {
					seen[m.To]++
				}
				if len(seen) != 20 || len(o.man.sent) != 20 {
					t.Errorf("sent: %v", seen)
				}
			})
			t.Run("by a server that stops meanwhile", func(t *testing.T) {
				o := newOffice(t, engine)
				o.put("dana@example.com")
				ctx, stop := context.WithCancel(t.Context())
				o.man.then = stop
				_ = o.Flush(ctx) // it is over in any case
				o.man.then = nil
				for range 5 {
					o.man.clock.Add(time.Hour)
					o.flush()
				}
				if len(o.man.sent) != 1 {
					t.Errorf("sent %d times", len(o.man.sent))
				}
			})
			t.Run("by another, when one dies before it sends", func(t *testing.T) {
				o := newOffice(t, engine)
				o.put("dana@example.com")
				if err := o.DB.Write(t.Context(), func(tx *state.Tx) error {
					_, err := tx.TakeMail(t.Context(), o.Now(), time.Minute)
					return err
				}); err != nil {
					t.Fatal(err)
				}
				if o.flush(); len(o.man.tries) != 0 {
					t.Error("a mail that another has is sent")
				}
				o.man.clock.Add(time.Minute)
				o.flush()
				if o.flush(); len(o.man.sent) != 1 {
					t.Errorf("sent %d times", len(o.man.sent))
				}
			})
			t.Run("never, when the decision is not stored", func(t *testing.T) {
				o := newOffice(t, engine)
				no := errors.New("no")
				if err := o.DB.Write(t.Context(), func(tx *state.Tx) error {
					return errors.Join(o.Put(t.Context(), tx, o.Now(), mail.Message{To: "dana@example.com"}), no)
				}); !errors.Is(err, no) {
					t.Fatal(err)
				}
				if o.flush(); len(o.man.tries) != 0 {
					t.Error("it was sent")
				}
			})
		})
	}
}

// TestMailOfAPerson: the page does not wait for a relay that fails, the mail comes
// later, and its link works.
func TestMailOfAPerson(t *testing.T) {
	t.Parallel()
	man := &postman{err: errors.New("away")}
	s := servertest.New(t, servertest.Options{Agents: func(c *registrations.Config) { c.Mailer = man }})
	man.mu.Lock()
	man.clock = s.Clock
	man.mu.Unlock()
	if a := post("/signin", formMedia, form("email", "dana@example.com")).send(t, s); a.status != http.StatusOK {
		t.Fatal(a)
	}
	man.mu.Lock()
	man.err = nil
	man.mu.Unlock()
	s.Clock.Add(10 * time.Second)
	if err := s.Agents.Outbox.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	man.mu.Lock()
	defer man.mu.Unlock()
	if len(man.sent) != 1 || man.sent[0].To != "dana@example.com" || !strings.Contains(man.sent[0].Text, "/signin/link?token=") || len(man.tries) != 2 {
		t.Errorf("%d tries, sent: %v", len(man.tries), man.sent)
	}
	if strings.Contains(s.Log.String(), "dana@") {
		t.Errorf("the log holds the address: %s", s.Log)
	}
}
