package agentcollecttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/firstpick/firstpick/cmd/agentcollect"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

// newKey registers an agent with a server and returns a secret key.
func newKey(t *testing.T, s *servertest.Service) string {
	t.Helper()
	ask := func(path, bearer, contentType, body string) (out map[string]any) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", contentType)
		req.Header.Set("Authorization", "Bearer "+bearer)
		if bearer == "" {
			req.Header.Del("Authorization")
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if err := json.NewDecoder(resp.Body).Decode(&out); err != nil || resp.StatusCode >= 300 {
			t.Fatal(resp.Status, out, err)
		}
		return out
	}
	a := ask("/api/agent/identity", "", "application/json", `{"type":"anonymous"}`)
	form := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {a["identity_assertion"].(string)}}
	token := ask("/api/oauth2/token", "", "application/x-www-form-urlencoded", form.Encode())
	return ask("/api/agent/keys", token["access_token"].(string), "application/json", `{"kind":"secret","label":"test"}`)["key"].(string)
}

// stored returns the events that a server has, in order.
func stored(t *testing.T, s *servertest.Service) (out []event.Record) {
	t.Helper()
	list, err := s.Agents.DB.Read().EventsAfter(t.Context(), 0, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		var r event.Record
		if err := json.Unmarshal(e.Body, &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// visit asks a site as an agent or a person would.
func visit(t *testing.T, site, method, target string, header map[string]string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, site+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp.StatusCode
}

func site() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<h1>Acme</h1>") })
	mux.HandleFunc("GET /docs/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/markdown; charset=utf-8")
		fmt.Fprint(w, "# Docs")
	})
	mux.HandleFunc("GET /app.js", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /broken", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	return mux
}

// TestRealServer sends real requests through a wrapped site into a real service.
func TestRealServer(t *testing.T) {
	s := servertest.New(t, servertest.Options{})
	c := agentcollect.New(agentcollect.Config{
		URL: s.URL, Key: newKey(t, s), TrustedProxies: 1,
		Visitor: func(r *http.Request) string { return r.Header.Get("X-Session") },
	})
	web := httptest.NewServer(c.Wrap(site()))
	defer web.Close()
	host := strings.TrimPrefix(web.URL, "http://")
	const gpt = "Mozilla/5.0 (compatible; GPTBot/1.3; +https://openai.com/gptbot)"
	for _, v := range []struct {
		target string
		header map[string]string
	}{
		{"/docs/start.md?token=secret", map[string]string{"User-Agent": gpt, "X-Forwarded-For": "192.0.2.1, 203.0.113.7"}},
		{"/", map[string]string{"User-Agent": browser}},        // a person
		{"/app.js", map[string]string{"User-Agent": gpt}},      // no page
		{"/llms.txt", map[string]string{"User-Agent": gpt}},    // 404
		{"/broken", map[string]string{"User-Agent": "curl/8"}}, // 500
		{"/?via=llms-txt", map[string]string{"User-Agent": browser, "X-Session": "v1"}},
		{"/docs/a", map[string]string{"User-Agent": browser, "Referer": "https://chatgpt.com/"}},
		{"/docs/b", map[string]string{"User-Agent": "axios/1.8.4", "Accept": "text/markdown, text/html;q=0.9"}},
	} {
		visit(t, web.URL, "GET", v.target, v.header)
	}
	c.Identify("v1", agentcollect.Person{Email: "Buyer@Example.org"})
	order := agentcollect.Conversion{Kind: "paid", Email: "buyer@example.org", Value: "49.00", Currency: "USD", OrderID: "in_1"}
	c.Convert(order)
	c.Convert(order) // webhooks come twice
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range stored(t, s) {
		if r.Type == event.Touch && r.Host != host {
			t.Errorf("host %q", r.Host)
		}
		got = append(got, fmt.Sprintf("%s %s %s %d %s via=%s ref=%s net=%s md=%t v=%t id=%t %s %d%s %s", r.Type, r.Method, r.Path, r.Status, r.ContentType,
			r.Via, r.Referrer, r.Network, r.Markdown, r.Visitor != "", r.Identity != "", r.Kind, r.Value, r.Currency, r.OrderID))
	}
	want := []string{
		"touch GET /docs/start.md 200 text/markdown via= ref= net=203.0.113.0/24 md=false v=false id=false  0 ",
		"touch GET /llms.txt 404 text/plain via= ref= net= md=false v=false id=false  0 ",
		"touch GET /broken 500  via= ref= net= md=false v=false id=false  0 ",
		"touch GET / 200  via=llms-txt ref= net= md=false v=true id=false  0 ",
		"touch GET /docs/a 200 text/markdown via= ref=chatgpt.com net= md=false v=false id=false  0 ",
		"touch GET /docs/b 200 text/markdown via= ref= net= md=true v=false id=false  0 ",
		"identify   0  via= ref= net= md=false v=true id=true  0 ",
		"convert   0  via= ref= net= md=false v=false id=true paid 4900USD in_1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n := c.Stats(); n.Sent != 9 || n.Failed+n.Dropped+n.Queued != 0 {
		t.Errorf("%+v", n)
	}
}

// TestPagesDoNotWait for a service that hangs: it answers only after every page
// was served.
func TestPagesDoNotWait(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	asked, served := make(chan struct{}, 100), make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- struct{}{}
		<-served
		w.WriteHeader(http.StatusAccepted)
	}))
	defer hangs.Close()
	c := agentcollect.New(agentcollect.Config{URL: hangs.URL, Key: "sk"})
	web := httptest.NewServer(c.Wrap(site()))
	defer web.Close()
	get := func() {
		if status := visit(t, web.URL, "GET", "/", map[string]string{"User-Agent": "ClaudeBot/1.0"}); status != 200 {
			t.Fatal(status)
		}
	}
	for range 100 {
		get()
	}
	<-asked // a batch is with the service, which does not answer
	for range 200 {
		get()
	}
	close(served)
	if err := c.Close(t.Context()); err != nil || c.Stats().Sent != 300 {
		t.Error(err, c.Stats())
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// TestServiceDownAndUp puts a gate before a real service. What came while it was
// closed arrives, each once, also what it took and could not acknowledge.
func TestServiceDownAndUp(t *testing.T) {
	s := servertest.New(t, servertest.Options{})
	target, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	var requests atomic.Int64
	failed := make(chan struct{}, 10)
	proxy := httputil.NewSingleHostReverseProxy(target)
	gate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch requests.Add(1) {
		case 1: // is taken, and nobody learns of it
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			failed <- struct{}{}
			panic(http.ErrAbortHandler)
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
			failed <- struct{}{}
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	defer gate.Close()
	c := agentcollect.New(agentcollect.Config{URL: gate.URL, Key: newKey(t, s)})
	web := httptest.NewServer(c.Wrap(site()))
	defer web.Close()
	const pages = 321
	for i := range pages {
		visit(t, web.URL, "GET", fmt.Sprintf("/docs/%d", i), map[string]string{"User-Agent": "ClaudeBot/1.0"})
	}
	<-failed
	<-failed
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, r := range stored(t, s) {
		seen[r.Path]++
	}
	for i := range pages {
		if n := seen[fmt.Sprintf("/docs/%d", i)]; n != 1 {
			t.Errorf("page %d is there %d times", i, n)
		}
	}
	if n := c.Stats(); n.Sent != pages || n.Retries != 2 {
		t.Errorf("%+v", n)
	}
}
