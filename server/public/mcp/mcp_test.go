package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/reqctx"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
	"github.com/firstpick/firstpick/server/public/tools"
)

func newHandler(t testing.TB, change func(*Config)) *Handler {
	t.Helper()
	s := sitetest.New(t, 1)
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	c := Config{
		Current: func() *snapshotview.Site { return s }, Name: "example.firstpick/firstpick", Version: "1.2.3", BaseURL: sitetest.Base, Errors: apierr.Writer{Base: sitetest.Base},
		Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }, LimitsOff: true,
		Documents: func() []Document {
			return []Document{{URI: sitetest.Base + "/docs/methodology.md", Name: "methodology", Title: "Methodology", Description: "What the figures mean", Text: "# Methodology\n"}}
		},
		Traffic: func(_ context.Context, request, authorization string, _ []byte) tools.Answer {
			return tools.Fail(tools.Failure{Code: "login_required", Description: "seen " + authorization + " in " + request})
		},
	}
	if change != nil {
		change(&c)
	}
	return New(c)
}

// direct serves a handler as the server does, with the caller's address.
func direct(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(&reqctx.Writer{ResponseWriter: w, ID: "req", Client: netip.MustParseAddr("192.0.2.1")}, r)
	})
}

func request(body string, header ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, sitetest.Base+Path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		if header[i+1] == "" {
			r.Header.Del(header[i])
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

func ask(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	direct(h).ServeHTTP(w, r)
	return w
}

// modernCall is a call of the newer protocol, with its headers.
func modernCall(id, tool, arguments string) (body string, header []string) {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"Cursor","version":"3"}}}}`, id, tool, arguments),
		[]string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool}
}

func olderCall(id, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

// The fast path and the SDK answer the same, status, headers and JSON; and what the
// fast path leaves alone, the SDK answers.
func TestShortWaySaysTheSame(t *testing.T) {
	h := newHandler(t, nil)
	var short, long int
	for _, args := range []string{
		`{}`, `{"tool":"flask"}`, `{"query":"stripe.com"}`, `{"category":"payments","limit":3}`, `{"category":"nope"}`, `{"tool":"a\u0026b<>\u2028é"}`, `null`, `[]`, `{"x":1}`, `"text"`, `{"a":"flask","b":"django"}`, `{"packages":["flask"]}`, `{"tool":"flask","tool":"django"}`,
	} {
		for _, tool := range []string{"getLeaderboard", "getPickRate", "lookupTool", "compareTools", "lookupTools", "getChanges", "getMyAgents", "nothing", "getpickrate"} {
			for _, id := range []string{`1`, `"a"`, `0`, `9007199254740993`, `1.0`, `-1`, `null`, `"é"`, `"\u0041"`, `{}`, `true`} {
				newer, header := modernCall(id, tool, args)
				for i, r := range []func() *http.Request{
					func() *http.Request { return request(olderCall(id, tool, args)) },
					func() *http.Request {
						return request(olderCall(id, tool, args), "Mcp-Protocol-Version", "2025-11-25", "User-Agent", "claude-code/2.1")
					},
					func() *http.Request { return request(newer, header...) },
					func() *http.Request {
						return request(newer, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call")
					},
					func() *http.Request { return request(newer) },
					func() *http.Request { return request(olderCall(id, tool, args), "Mcp-Protocol-Version", "2026-07-28") },
					func() *http.Request { return request(olderCall(id, tool, args), "Mcp-Protocol-Version", "1999-01-01") },
				} {
					if same(t, h, fmt.Sprint("way ", i), r) {
						short++
					} else {
						long++
					}
				}
			}
		}
	}
	if short < 200 || long < 200 {
		t.Errorf("%d on the fast path, %d by the SDK", short, long)
	}
}

// same compares the fast path with the SDK, and says whether the fast path answered.
func same(t *testing.T, h *Handler, name string, r func() *http.Request) (served bool) {
	t.Helper()
	body := []byte(read(r()))
	got, want := httptest.NewRecorder(), httptest.NewRecorder()
	direct(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { served = h.fast.serve(w, r, body) })).ServeHTTP(got, r())
	if !served {
		return false
	}
	direct(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.slow(w, r, body) })).ServeHTTP(want, r())
	if got.Code != want.Code || got.Header().Get("Content-Type") != want.Header().Get("Content-Type") {
		t.Errorf("%s %s: %d %v, the SDK %d %v %s", body, name, got.Code, got.Header(), want.Code, want.Header(), want.Body)
	}
	if d := cmp.Diff(decode(t, want.Body.Bytes()), decode(t, got.Body.Bytes())); d != "" {
		t.Errorf("%s %s:\n%s", body, name, d)
	}
	return true
}

// What clients note for themselves in _meta leaves a call on the fast path; what may mean
// something does not.
func TestNotesOfClients(t *testing.T) {
	h := newHandler(t, nil)
	newer, header := modernCall("1", "getPickRate", `{"tool":"flask"}`)
	for note, short := range map[string]bool{
		`"progressToken":7`: true, `"progressToken":"a"`: true, `"claudecode/toolUseId":"toolu_1","progressToken":0`: true,
		`"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"`: true,
		`"traceparent":1e999`: false, `"progressToken":{}`: false, `"progressToken":"\u0041"`: false, `"io.modelcontextprotocol/logLevel":"debug"`: false, `"IO.ModelContextProtocol/x":1`: false,
	} {
		older := strings.Replace(olderCall("1", "getPickRate", `{"tool":"flask"}`), `,"arguments"`, `,"_meta":{`+note+`},"arguments"`, 1)
		if got := same(t, h, "older", func() *http.Request { return request(older) }); got != short {
			t.Errorf("%s: the fast path %v, want %v", older, got, short)
		}
		body := strings.Replace(newer, `"_meta":{`, `"_meta":{`+note+`,`, 1)
		if got := same(t, h, "newer", func() *http.Request { return request(body, header...) }); got != short {
			t.Errorf("%s: the fast path %v, want %v", body, got, short)
		}
	}
}

func read(r *http.Request) string {
	var buf bytes.Buffer
	_, _ = buf.ReadFrom(r.Body)
	return buf.String()
}

func decode(t *testing.T, data []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Errorf("%s: %v", data, err)
	}
	return v
}

// Whatever comes, the fast path never says anything else than the SDK.
func FuzzShortWay(f *testing.F) {
	h := newHandler(f, nil)
	newer, _ := modernCall("1", "getPickRate", `{"tool":"flask"}`)
	for _, seed := range []string{olderCall("1", "getPickRate", `{"tool":"flask"}`), newer, strings.Replace(newer, `"_meta":{`, `"_meta":{"progressToken":7,`, 1),
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lookupTool","arguments":{"query":"stripe"},"_meta":{"progressToken":"x","a/b":1}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `[]`, `{`, `{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"lookupTool"}}`} {
		f.Add(seed, "", "")
		f.Add(seed, "2026-07-28", "getPickRate")
	}
	f.Fuzz(func(t *testing.T, body, version, name string) {
		r := func() *http.Request {
			r := request(body)
			if version != "" {
				r.Header["Mcp-Protocol-Version"], r.Header["Mcp-Method"], r.Header["Mcp-Name"] = []string{version}, []string{"tools/call"}, []string{name}
			}
			return r
		}
		got, want, served := httptest.NewRecorder(), httptest.NewRecorder(), false
		direct(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { served = h.fast.serve(w, r, []byte(body)) })).ServeHTTP(got, r())
		if !served {
			return
		}
		direct(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.slow(w, r, []byte(body)) })).ServeHTTP(want, r())
		if d := cmp.Diff(decode(t, want.Body.Bytes()), decode(t, got.Body.Bytes())); d != "" || got.Code != want.Code {
			t.Errorf("%q: %d and %d\n%s", body, got.Code, want.Code, d)
		}
	})
}

// A client of the SDK finds tools, documents, the prompt and completions, and its
// own checks of structured content pass.
func TestClient(t *testing.T) {
	ts := httptest.NewServer(direct(newHandler(t, func(c *Config) { c.BaseURL = "http://127.0.0.1" })))
	defer ts.Close()
	client := mcp.NewClient(&mcp.Implementation{Name: "claude-code", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: ts.URL + Path, MaxRetries: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != len(tools.Tools()) || list.TTLMs != listTTL {
		t.Fatalf("%+v %v", list, err)
	}
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "lookupTool", Arguments: map[string]any{"query": "stripe.com"}})
	if err != nil || res.IsError || !strings.Contains(fmt.Sprint(res.StructuredContent), "via=mcp-claude-code") {
		t.Errorf("%+v %v", res, err)
	}
	if res, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "getPickRate", Arguments: map[string]any{"tool": "flaks"}}); err != nil || !res.IsError || res.StructuredContent != nil {
		t.Errorf("%+v %v", res, err)
	}
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "nothing"}); err == nil || !strings.Contains(err.Error(), "unknown tool") {
		t.Errorf("%v", err)
	}
	docs, err := session.ListResources(t.Context(), nil)
	if err != nil || len(docs.Resources) != 1 {
		t.Fatalf("%+v %v", docs, err)
	}
	if doc, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: docs.Resources[0].URI}); err != nil || doc.Contents[0].Text != "# Methodology\n" || doc.TTLMs != documentTTL {
		t.Errorf("%+v %v", doc, err)
	}
	if p, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "compare", Arguments: map[string]string{"category": "payments", "tool": "stripe"}}); err != nil || !strings.Contains(p.Messages[0].Content.(*mcp.TextContent).Text, "`stripe`") {
		t.Errorf("%+v %v", p, err)
	}
	for argument, want := range map[string]string{"category": "payments", "tool": "paddle"} {
		c, err := session.Complete(t.Context(), &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "compare"}, Argument: mcp.CompleteParamsArgument{Name: argument, Value: want[:3]}})
		if err != nil || len(c.Completion.Values) == 0 || c.Completion.Values[0] != want {
			t.Errorf("%s: %+v %v", argument, c, err)
		}
	}
}

// What is no request of the protocol gets the service's own errors as JSON.
func TestGate(t *testing.T) {
	h, local := newHandler(t, nil), newHandler(t, func(c *Config) { c.BaseURL = "http://127.0.0.1:8080" })
	ported := newHandler(t, func(c *Config) { c.BaseURL = "https://firstpick.example:8443" }) // a proxy may leave the port out
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	broken := request(list)
	broken.Body = io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF))
	batch := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat(list+",", n), ",") + "]" }
	at := func(host string, r *http.Request) *http.Request { r.Host = host; return r }
	method := func(m string, r *http.Request) *http.Request { r.Method = m; return r }
	for i, c := range []struct {
		h      http.Handler
		r      *http.Request
		status int
		want   string
	}{
		{h, request(list), 200, `"getLeaderboard"`},
		{h, request(list, "Accept", ""), 200, `"getLeaderboard"`},
		{h, request(list, "Accept", "application/json"), 200, `"getLeaderboard"`},
		{h, request(list, "Accept", "text/html"), 400, `"code":-32600`},
		{h, request(list, "Content-Type", "text/plain"), 415, `"error":"unsupported_media_type"`},
		{h, request(list, "Origin", "https://any.example"), 200, `"getLeaderboard"`},
		{h, at("evil.example", request(list)), 403, `"invalid_host"`},
		{h, at("127.0.0.1:8080", request(list)), 200, `"getLeaderboard"`},
		{h, at("firstpick.example:443", request(list)), 200, `"getLeaderboard"`},
		{h, at("FIRSTPICK.example", request(list)), 200, `"getLeaderboard"`},
		{h, at("firstpick.example.evil.example:443", request(list)), 403, `"invalid_host"`},
		{ported, at("firstpick.example", request(list)), 200, `"getLeaderboard"`},
		{h, at("10.0.0.7:8080", request(list)), 200, `"getLeaderboard"`},
		{local, at("10.0.0.7:8080", request(list)), 403, `"invalid_host"`},
		{h, method("GET", request(list)), 405, `"method_not_allowed"`},
		{h, method("DELETE", request(list)), 405, `"method_not_allowed"`},
		{h, method("OPTIONS", request(list)), 204, ``},
		{h, request(strings.Repeat(" ", maxBody+1)), 413, `"request_too_large"`},
		{h, broken, 400, `"code":-32700`},
		{h, request(batch(maxBatch), "Mcp-Protocol-Version", "2025-03-26"), 200, `"getLeaderboard"`},
		{h, request(batch(maxBatch+1), "Mcp-Protocol-Version", "2025-03-26"), 400, `at most 20 messages`},
		{h, request(batch(maxBatch + 1)), 400, `at most 20 messages`},
		{h, request(`{`), 400, `"code":-32700`},
		{h, request(list + `}`), 400, `"code":-32700`},
		{h, request(`[`+list+`]`, "Mcp-Protocol-Version", "2025-06-18"), 400, `"code":-32600`},
		{h, request(`{"jsonrpc":"1.0","id":1,"method":"tools/list"}`), 400, `"code":-32600`},
		{h, request(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), 202, ``},
		{h, request(`{"jsonrpc":"2.0","id":1,"method":"no/such"}`), 200, `"id":1,"error":{"code":-32601,"message":"unknown method no/such"`},
		{h, request(`{"jsonrpc":"2.0","id":1,"method":"notifications/progress","params":{}}`), 400, `"id":1,"error":{"code":-32600`},
		{h, request(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`), 400, `"id":1,"error":{"code":-32600`},
		{h, request(`{"jsonrpc":"2.0","method":"ping"}`), 400, `"id":null,"error":{"code":-32600`},
		{h, request(`{"jsonrpc":"2.0","method":"no/such"}`), 400, `"id":null,"error":{"code":-32601`},
		{local, at("127.0.0.1:8080", request(list)), 200, `"getLeaderboard"`},
		{local, at("localhost:9", request(list, "Origin", "http://localhost:3000")), 200, `"getLeaderboard"`},
		{local, at("localhost:8080", request(list, "Origin", "https://evil.example")), 403, `"invalid_origin"`},
		{local, at("evil.example:8080", request(list)), 403, `"invalid_host"`},
		{local, at("localhost:8080", request(list, "Origin", "null")), 403, `"invalid_origin"`},
	} {
		w := ask(c.h, c.r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%d: %d %.300s, want %d %s", i, w.Code, w.Body, c.status, c.want)
		}
		if w.Body.Len() > 0 && w.Header().Get("Content-Type") != "application/json" && w.Header().Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("%d: %v", i, w.Header())
		}
		if w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Code == 405 && w.Header().Get("Allow") == "" {
			t.Errorf("%d: %v", i, w.Header())
		}
	}
}

// Too many calls are told to wait where a model reads it; one address does not wait
// for another.
func TestCallsLimit(t *testing.T) {
	h := newHandler(t, func(c *Config) { c.LimitsOff = false })
	for i := range CallsPerMinute + 2 {
		w := ask(h, request(olderCall("1", "getPickRate", `{"tool":"flask"}`)))
		if over := strings.Contains(w.Body.String(), `rate_limited`); over != (i >= CallsPerMinute) || w.Code != 200 || over != strings.Contains(w.Body.String(), `"isError":true`) {
			t.Fatalf("%d: %d %s", i, w.Code, w.Body)
		}
	}
	if w := ask(h, request(olderCall("1", "getMyAgents", `{}`))); !strings.Contains(w.Body.String(), `rate_limited`) {
		t.Errorf("%s", w.Body)
	}
}

// What fails in us is in the log under the id of its request, and is not told; what
// callers do wrong is told and not logged.
func TestFailuresOfTrafficToolAreLogged(t *testing.T) {
	if w := ask(newHandler(t, nil), request(olderCall("1", "getMyAgents", `{}`), "Authorization", "Bearer at_1", requestHeader, "forged")); !strings.Contains(w.Body.String(), "seen Bearer at_1 in req\\") {
		t.Errorf("%s", w.Body)
	}
	var log bytes.Buffer
	m := &TrafficTool{Guide: "https://firstpick.example/auth.md", Log: slog.New(slog.NewTextHandler(&log, nil))}
	a := m.fail("k3x9-1", apierr.Internal(errors.New("the disk is full")))
	if !a.Failed || strings.Contains(string(a.JSON), "disk") || !strings.Contains(log.String(), "request_id=k3x9-1") || !strings.Contains(log.String(), "the disk is full") {
		t.Errorf("%s\n%s", a.JSON, log.String())
	}
	log.Reset()
	if m.fail("k3x9-2", apierr.InvalidToken()); log.Len() > 0 {
		t.Errorf("%s", log.String())
	}
}

// A caller's word stands in a prompt short, in one line, and as whole characters.
func TestQuote(t *testing.T) {
	for s, want := range map[string]string{
		"auth": "`auth`", "a`b\nc\x00": "`a b c `", strings.Repeat("a", 99) + "é": "`" + strings.Repeat("a", 99) + "`", strings.Repeat("a", 1000): "`" + strings.Repeat("a", 100) + "`",
	} {
		if got := quote(s); got != want {
			t.Errorf("%q: %q", s, got)
		}
	}
}

// Everybody who calls is one of few, whatever they call themselves.
func TestVia(t *testing.T) {
	for name, want := range map[string]string{"claude-code": "mcp-claude-code", "Claude Desktop": "mcp-claude", "Visual Studio Code": "mcp-vscode", "x\"&evil": "mcp-other", "": "mcp-other", "openai-mcp/1.0": "mcp-chatgpt"} {
		if got := via(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

// A call is measured against a handler that sends the same bytes.
func BenchmarkCall(b *testing.B) {
	h := newHandler(b, nil)
	body := olderCall("1", "getLeaderboard", `{"category":"payments"}`)
	answer := ask(h, request(body)).Body.Bytes()
	bare := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = read(r)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	})
	newer, header := modernCall("1", "getLeaderboard", `{"category":"payments"}`)
	for name, c := range map[string]struct {
		h http.Handler
		r func() *http.Request
	}{
		"bare":       {bare, func() *http.Request { return request(body) }},
		"short":      {h, func() *http.Request { return request(body) }},
		"shortNewer": {h, func() *http.Request { return request(newer, header...) }},
		"sdk":        {http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.slow(w, r, []byte(read(r))) }), func() *http.Request { return request(body) }},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ask(c.h, c.r())
			}
		})
	}
}
