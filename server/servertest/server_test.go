package servertest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/channel/collect"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/public/archive/archivetest"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
	"github.com/firstpick/firstpick/server/servertest/contract"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

const base = sitetest.Base

var asOf = time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)

// demoSite is a small site at base.
func demoSite(t testing.TB, slope int) *snapshotview.Site {
	t.Helper()
	return sitetest.New(t, slope)
}

func newServer(t testing.TB, s *snapshotview.Site, change func(*server.Config)) *server.Server {
	t.Helper()
	holder := &snapshotview.Holder{}
	if s != nil {
		holder.Set(s)
	}
	log := slog.New(slog.DiscardHandler)
	uses, err := registrations.New(t.Context(), registrations.Config{
		DB: statetest.Open(t, statetest.Address(t, "sqlite")), Vault: statetest.Vault(t), Log: log, Now: func() time.Time { return asOf }, BaseURL: base,
	})
	if err != nil {
		t.Fatal(err)
	}
	taken := collect.New(collect.Config{DB: uses.DB, Vault: uses.Vault, Secrets: uses.Secrets, Log: log, Now: func() time.Time { return asOf }, Identify: func(*event.Input, *event.Record) {}})
	t.Cleanup(taken.Close)
	now := func() time.Time { return asOf }
	cfg := server.Config{
		Services: server.Services{
			Source: holder, Agents: uses, Collect: taken,
			Archive: archivetest.New(t, 20, sitetest.Hostile),
			Evals:   &evals.Service{DB: uses.DB, Secrets: uses.Secrets, Log: log, Now: now, Plans: true, BaseURL: base},
		},
		Settings: server.Settings{
			Log: log, Now: now, BillingKeys: []string{"whsec_of_tests"},
			BaseURL: base, IDPrefix: "t", LimitPerMinute: 1_000_000, Contact: "mailto:security@firstpick.example",
		},
	}
	if change != nil {
		change(&cfg)
	}
	srv, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	contracts.Store(http.Handler(srv), contract.New(t))
	t.Cleanup(func() { contracts.Delete(http.Handler(srv)) })
	return srv
}

func ask(srv http.Handler, method, target string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	inContract(srv).ServeHTTP(w, r)
	return w.Result()
}

// contracts hold answers to their description, by server.
var contracts sync.Map

func inContract(srv http.Handler) http.Handler {
	if c, ok := contracts.Load(srv); ok {
		return c.(*contract.Contract).Wrap(srv)
	}
	return srv
}

func body(t testing.TB, resp *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// description loads the served OpenAPI document and a router over it.
func description(t *testing.T, srv http.Handler) (*openapi3.T, func(method, target string, resp *http.Response)) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData([]byte(body(t, ask(srv, "GET", "/openapi.yaml"))))
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return doc, func(method, target string, resp *http.Response) {
		t.Helper()
		r := httptest.NewRequest(method, target, nil)
		route, params, err := router.FindRoute(r)
		if err != nil {
			t.Fatalf("%s %s: %v", method, target, err)
		}
		in := &openapi3filter.ResponseValidationInput{
			RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route},
			Status:                 resp.StatusCode, Header: resp.Header,
		}
		in.SetBodyBytes([]byte(body(t, resp)))
		if err := openapi3filter.ValidateResponse(t.Context(), in); err != nil {
			t.Errorf("%s %s: %v", method, target, err)
		}
	}
}

func TestAnswersAndTheirDescription(t *testing.T) {
	srv := newServer(t, demoSite(t, 1), nil)
	_, check := description(t, srv)
	for target, want := range map[string]struct {
		status int
		text   string
	}{
		"/api/public/report?q=flask":                            {200, `"slug":"flask"`},
		"/api/public/report?q=Flask":                            {200, `"url":"` + base + `/tools/flask"`},
		"/api/public/report?q=pypi%3Aflask":                     {200, `"slug":"flask"`},
		"/api/public/report?q=stripe.com":                       {200, `"category":"payments"`},
		"/api/public/report?q=%40stripe%2Fstripe-js":            {200, `"slug":"stripe"`},
		"/api/public/report?q=stripe&category=payments":         {200, `"slug":"stripe"`},
		"/api/public/report?q=stripe&category=webserver":        {404, `"error":"tool_not_found"`},
		"/api/public/report":                                    {400, `"error":"invalid_request"`},
		"/api/public/report?q=":                                 {400, `"error":"invalid_request"`},
		"/api/public/report?q=" + strings.Repeat("x", 201):      {400, `longer than 200 bytes`},
		"/api/public/report?q=strpe":                            {404, `"suggestions":["stripe"`},
		"/api/public/report?q=algolia":                          {404, `none of its categories is measured`},
		"/api/public/leaderboard":                               {200, `{"categories":[{"slug":"payments"`},
		"/api/public/leaderboard?domain=dev-tools":              {200, `"slug":"webserver"`},
		"/api/public/leaderboard?domain=saas":                   {200, `{"categories":[]`},
		"/api/public/leaderboard?domain=web":                    {400, `domain is dev-tools or saas`},
		"/api/public/leaderboard?category=webserver&domain=web": {200, `"category":"webserver"`},
		"/api/public/leaderboard?category=webservr":             {404, `"suggestions":["webserver"]`},
		"/healthz": {200, `"status":"ok"`},
		"/readyz":  {200, `"snapshot":"abc"`},
	} {
		resp := ask(srv, "GET", target)
		text := body(t, resp)
		resp.Body = io.NopCloser(strings.NewReader(text))
		if resp.StatusCode != want.status || !strings.Contains(text, want.text) {
			t.Errorf("%s: %d %s, want %d with %s", target, resp.StatusCode, text, want.status, want.text)
		}
		check("GET", target, resp)
	}
}

func TestErrorsHaveOneBody(t *testing.T) {
	srv := newServer(t, demoSite(t, 1), nil)
	for target, status := range map[string]int{"/nowhere": 404, "/api/public/report": 400, "/api/public/leaderboard?category=x": 404} {
		resp := ask(srv, "GET", target)
		var e map[string]any
		if err := json.Unmarshal([]byte(body(t, resp)), &e); err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != status || e["error"] == "" || e["request_id"] != resp.Header.Get("X-Request-Id") {
			t.Errorf("%s: %d %v", target, resp.StatusCode, e)
		}
		if s, _ := e["error_description"].(string); s == "" || strings.ContainsAny(s, `"\`) {
			t.Errorf("%s: description %q", target, s)
		}
	}
	resp := ask(srv, "POST", "/api/public/report?q=flask")
	if resp.StatusCode != 405 || resp.Header.Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("POST: %d, Allow %q", resp.StatusCode, resp.Header.Get("Allow"))
	}
	if resp := ask(newServer(t, nil, nil), "GET", "/api/public/report?q=flask"); resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("without a snapshot: %d", resp.StatusCode)
	}
}

func TestRoutesAndDescriptionAgree(t *testing.T) {
	srv := newServer(t, demoSite(t, 1), nil)
	doc, _ := description(t, srv)
	var described []string
	for path := range doc.Paths.Map() {
		described = append(described, path)
	}
	slices.Sort(described)
	// Pages of people who are signed in, and the files of pages, are for browsers: no
	// program calls them, and they change as pages do.
	personal := func(path string) bool {
		return slices.ContainsFunc(contract.Personal(), func(p string) bool { return strings.HasPrefix(path, p) })
	}
	want := []string{}
	for _, path := range srv.Paths() {
		switch {
		case personal(path):
		case path == "/docs/*": // of one or two words
			want = append(want, "/docs/{page}", "/docs/{part}/{page}")
		case path == "/leaderboards/{category}/prompts/*": // templates have no slashes
			want = append(want, strings.TrimSuffix(path, "*")+"{prompt}")
		case strings.HasSuffix(path, "/*"): // nor here
			want = append(want, strings.TrimSuffix(path, "*")+"{path}")
		case path == "/.well-known/oauth-protected-resource/api/": // the same without the slash
		default:
			want = append(want, path)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, described); diff != "" {
		t.Errorf("routed (-), described (+):\n%s", diff)
	}
	for _, path := range srv.Paths() { // and methods: what is described is answered, what is not is refused
		item := doc.Paths.Value(strings.Replace(path, "/docs/*", "/docs/{page}", 1))
		if personal(path) || item == nil {
			continue
		}
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			if path == "/api/v1/evals/check" && (method == "GET" || method == "DELETE") { // an eval might have that id
				continue
			}
			resp := ask(srv, method, base+strings.NewReplacer("{", "", "}", "", "*", "x").Replace(path))
			if refused := resp.StatusCode == http.StatusMethodNotAllowed; refused == (item.GetOperation(method) != nil) {
				t.Errorf("%s %s: described is %v, and the answer %d", method, path, !refused, resp.StatusCode)
			}
		}
	}
	ids := []string{doc.Paths.Value("/api/public/report").Get.OperationID, doc.Paths.Value("/api/public/leaderboard").Get.OperationID}
	if !slices.Equal(ids, []string{"getReport", "getLeaderboard"}) || doc.OpenAPI != "3.1.0" || doc.Info.Version != "1.0.0" {
		t.Errorf("ids %v, %s, %s", ids, doc.OpenAPI, doc.Info.Version)
	}
	var asJSON map[string]any
	if err := json.Unmarshal([]byte(body(t, ask(srv, "GET", "/openapi.json"))), &asJSON); err != nil || asJSON["openapi"] != "3.1.0" {
		t.Errorf("as JSON: %v", err)
	}
}

func TestEncodingsCarryTheSameBytes(t *testing.T) {
	srv := newServer(t, demoSite(t, 1), nil)
	plain := body(t, ask(srv, "GET", "/api/public/report?q=flask"))
	tags := map[string]bool{}
	for accept, want := range map[string]string{
		"": "", "gzip": "gzip", "zstd": "zstd", "gzip, zstd": "zstd", "gzip;q=1, zstd;q=0.5": "gzip", "br": "",
		"*": "gzip", "zstd, *": "zstd", "zstd;q=0, *": "gzip", "identity;q=0, gzip": "gzip", "gzip;q=0": "",
	} {
		resp := ask(srv, "GET", "/api/public/report?q=flask", "Accept-Encoding", accept)
		if got := resp.Header.Get("Content-Encoding"); got != want {
			t.Errorf("%q: %q, want %q", accept, got, want)
			continue
		}
		tags[resp.Header.Get("ETag")] = true
		var r io.Reader = resp.Body
		switch want {
		case "gzip":
			zr, err := gzip.NewReader(r)
			if err != nil {
				t.Fatal(err)
			}
			r = zr
		case "zstd":
			zr, err := zstd.NewReader(r)
			if err != nil {
				t.Fatal(err)
			}
			defer zr.Close()
			r = zr
		}
		data, err := io.ReadAll(r)
		if err != nil || string(data) != plain {
			t.Errorf("%q: other bytes (%v)", accept, err)
		}
	}
	if len(tags) != 3 {
		t.Errorf("%d ETags for three encodings", len(tags))
	}
}

func TestConditionalRequests(t *testing.T) {
	srv := newServer(t, demoSite(t, 1), nil)
	const target = "/api/public/leaderboard?category=webserver"
	first := ask(srv, "GET", target)
	etag := first.Header.Get("ETag")
	for name, tt := range map[string]struct {
		headers []string
		want    int
	}{
		"the tag":                      {[]string{"If-None-Match", etag}, 304},
		"in a list, weak":              {[]string{"If-None-Match", `"x", W/` + etag}, 304},
		"any":                          {[]string{"If-None-Match", "*"}, 304},
		"another":                      {[]string{"If-None-Match", `"x"`}, 200},
		"of another encoding":          {[]string{"If-None-Match", etag, "Accept-Encoding", "gzip"}, 200},
		"not modified since":           {[]string{"If-Modified-Since", asOf.Format(http.TimeFormat)}, 304},
		"modified since":               {[]string{"If-Modified-Since", asOf.Add(-time.Hour).Format(http.TimeFormat)}, 200},
		"a tag outranks a date":        {[]string{"If-None-Match", `"x"`, "If-Modified-Since", asOf.Format(http.TimeFormat)}, 200},
		"a date that is none of these": {[]string{"If-Modified-Since", "yesterday"}, 200},
	} {
		resp := ask(srv, "GET", target, tt.headers...)
		if resp.StatusCode != tt.want {
			t.Errorf("%s: %d, want %d", name, resp.StatusCode, tt.want)
		}
		for _, h := range []string{"ETag", "Cache-Control", "Vary", "Access-Control-Allow-Origin"} {
			if resp.Header.Get(h) == "" {
				t.Errorf("%s: no %s", name, h)
			}
		}
		if text := body(t, resp); (text == "") != (tt.want == 304) {
			t.Errorf("%s: body of %d bytes", name, len(text))
		}
	}
	head := ask(srv, "HEAD", target)
	if head.StatusCode != 200 || head.Header.Get("Content-Length") != first.Header.Get("Content-Length") || body(t, head) != "" {
		t.Errorf("HEAD: %v", head.Header)
	}
	pre := ask(srv, "OPTIONS", target, "Origin", "https://a.example", "Access-Control-Request-Method", "GET")
	if pre.StatusCode != 204 || pre.Header.Get("Access-Control-Max-Age") != "86400" {
		t.Errorf("preflight: %d %v", pre.StatusCode, pre.Header)
	}
}

func TestLimits(t *testing.T) {
	now := asOf
	srv := newServer(t, demoSite(t, 1), func(c *server.Config) {
		c.LimitPerMinute = 2
		c.Now = func() time.Time { return now }
		c.TrustedProxies = []string{"192.0.2.0/24"} // httptest's peer
	})
	status := func(forwarded string) int {
		return ask(srv, "GET", "/api/public/report?q=flask", "X-Forwarded-For", forwarded).StatusCode
	}
	got := []int{status("198.51.100.7"), status("198.51.100.7"), status("198.51.100.7"), status("198.51.100.8"), status("6.6.6.6, 198.51.100.7")}
	if !slices.Equal(got, []int{200, 200, 429, 200, 429}) {
		t.Errorf("statuses %v", got)
	}
	resp := ask(srv, "GET", "/api/public/report?q=flask", "X-Forwarded-For", "198.51.100.7")
	if resp.Header.Get("Retry-After") != "30" && resp.Header.Get("Retry-After") != "31" || resp.Header.Get("RateLimit-Policy") != `"public";q=2;w=60` {
		t.Errorf("headers %v", resp.Header)
	}
	now = now.Add(31 * time.Second)
	if got := status("198.51.100.7"); got != 200 {
		t.Errorf("half a minute later: %d", got)
	}
	if ask(srv, "GET", "/healthz").StatusCode != 200 {
		t.Error("a probe is limited")
	}
}

func TestForwardedForIsBelievedOfProxiesOnly(t *testing.T) {
	var log bytes.Buffer
	srv := newServer(t, demoSite(t, 1), func(c *server.Config) { c.LimitPerMinute = 1; c.AccessLog = true; c.LogWriter = &log })
	ask(srv, "GET", "/api/public/report?q=flask", "X-Forwarded-For", "198.51.100.1")
	if got := ask(srv, "GET", "/api/public/report?q=flask", "X-Forwarded-For", "198.51.100.2").StatusCode; got != 429 {
		t.Errorf("a forged header buys another request: %d", got)
	}
}

// TestAccessLogOnATerminal: a person reads text, and no path steers the terminal.
func TestAccessLogOnATerminal(t *testing.T) {
	var log bytes.Buffer
	srv := newServer(t, demoSite(t, 1), func(c *server.Config) { c.AccessLog, c.AccessText, c.LogWriter = true, true, &log })
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, ln) }()
	for _, path := range []string{"/api/public/report?q=flask", "/nosuch?token=secret"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+ln.Addr().String()+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	stop()
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	if got := regexp.MustCompile(`\d\d:\d\d:\d\d GET  (\S+) (\d+) [\d.]+ kB \S+s\n`).ReplaceAllString(log.String(), "$1 $2\n"); got != "/api/public/report?q=flask 200\n/nosuch?... 404\n" {
		t.Errorf("%q", log.String())
	}
}

func TestSwapFailsNoRequest(t *testing.T) {
	sites := []*snapshotview.Site{demoSite(t, 1), demoSite(t, 7)}
	holder := &snapshotview.Holder{}
	holder.Set(sites[0])
	srv := newServer(t, nil, func(c *server.Config) { c.Source = holder })
	bodies := map[string]bool{}
	for _, s := range sites {
		holder.Set(s)
		bodies[body(t, ask(srv, "GET", "/api/public/report?q=bottle"))] = true
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 500 {
				resp := ask(srv, "GET", "/api/public/report?q=bottle")
				if text := body(t, resp); resp.StatusCode != 200 || !bodies[text] {
					t.Errorf("%d %s", resp.StatusCode, text)
					return
				}
			}
		})
	}
	for i := range 200 {
		holder.Set(sites[i%2])
	}
	wg.Wait()
}

func TestPagesCarryTheFigures(t *testing.T) {
	srv := newServer(t, demoSite(t, 1), nil)
	for path, wants := range map[string][]string{
		"/":                       {"<h1>", "Python web frameworks", "A citation &amp; more"},
		"/leaderboards/webserver": {"<h1>Python web frameworks</h1>", `<circle class="rate"`, "Early result", `href="/tools/bottle"`},
		"/tools/bottle":           {"<h1>Bottle</h1>", "Against its rivals", "Who took the other 106 answers"},
		"/docs/methodology":       {"Pick rate", "single_prompt"},
		"/docs/errors":            {"rate_limited"},
	} {
		resp := ask(srv, "GET", path)
		text := body(t, resp)
		if resp.StatusCode != 200 || strings.Contains(ours.ReplaceAllString(text, ""), "<script") || resp.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q", path, want)
			}
		}
	}
	if resp := ask(srv, "GET", "/tools/%3Cscript%3E"); resp.StatusCode != 404 {
		t.Errorf("a page that is not: %d", resp.StatusCode)
	}
}
