package agentcollect

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const agent = "Mozilla/5.0 (compatible; GPTBot/1.3; +https://openai.com/gptbot)"

// idle returns a Collector of which nothing is sent: its queue is looked into.
func idle(cfg Config) *Collector {
	c := New(Config{})
	c.cfg, c.off, c.queue = cfg, false, newQueue(queueSize)
	return c
}

// TestOutcomes serves real requests and looks at what was noted of them.
func TestOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		status  int
		bytes   int64
		breaks  bool // the client gets no whole answer
	}{
		"nothing is written": {handler: func(http.ResponseWriter, *http.Request) {}, status: 200},
		"a body":             {handler: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }, status: 200, bytes: 5},
		"a string":           {handler: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }, status: 200, bytes: 5},
		"not found":          {handler: http.NotFound, status: 404, bytes: 19},
		"two headers":        {handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(201); w.WriteHeader(500) }, status: 201},
		"early hints": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(103)
			w.WriteHeader(404)
		}, status: 404},
		"copied": {handler: func(w http.ResponseWriter, _ *http.Request) {
			if _, ok := w.(io.ReaderFrom); !ok {
				panic("no io.ReaderFrom")
			}
			_, _ = io.Copy(w, struct{ io.Reader }{strings.NewReader("hello")})
		}, status: 200, bytes: 5},
		"flushed": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			w.WriteHeader(500) // too late
		}, status: 200},
		"response controller": {handler: func(w http.ResponseWriter, _ *http.Request) {
			if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
				panic(err)
			}
			if err := http.NewResponseController(w).Flush(); err != nil {
				panic(err)
			}
		}, status: 200},
		"panic":              {handler: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, status: 500, breaks: true},
		"panic in the midst": {handler: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "x"); panic(http.ErrAbortHandler) }, status: 500, bytes: 1, breaks: true},
		"upgrade": {handler: func(w http.ResponseWriter, _ *http.Request) {
			conn, rw, err := http.NewResponseController(w).Hijack()
			if err != nil {
				panic(err)
			}
			_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
			_, _ = rw.Flush(), conn.Close()
		}, status: 101},
	} {
		t.Run(name, func(t *testing.T) {
			col := idle(Config{})
			over := make(chan struct{})
			handler := col.Wrap(c.handler)
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer close(over)
				handler.ServeHTTP(w, r)
			}))
			srv.Config.ErrorLog = log.New(io.Discard, "", 0) // headers that come too late
			srv.Start()
			defer srv.Close()
			req, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+"/docs", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("User-Agent", agent)
			if c.status == 101 {
				req.Header.Set("Connection", "Upgrade")
				req.Header.Set("Upgrade", "x")
			}
			resp, err := http.DefaultTransport.RoundTrip(req)
			if err == nil {
				_, err = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
			switch {
			case c.breaks:
				if err == nil {
					t.Error("the panic was swallowed")
				}
			case err != nil && c.status != 101:
				t.Fatal(err)
			case resp.StatusCode != c.status:
				t.Errorf("the client saw %s", resp.Status)
			}
			<-over
			list := col.queue.take(10)
			if len(list) != 1 || list[0].Status != c.status || list[0].Bytes != c.bytes || list[0].Path != "/docs" || list[0].Method != "GET" {
				t.Errorf("noted is %+v", list)
			}
		})
	}
}

type plain struct{ http.ResponseWriter }

type canFlush struct{ plain }

func (canFlush) Flush() {}

type canHijack struct{ plain }

func (canHijack) Hijack() (net.Conn, *bufio.ReadWriter, error) { return nil, nil, nil }

type canRead struct{ plain }

func (canRead) ReadFrom(io.Reader) (int64, error) { return 7, nil }

// TestWritersCanWhatTheyCould: not less, and not more, for handlers ask by type.
func TestWritersCanWhatTheyCould(t *testing.T) {
	p := plain{httptest.NewRecorder()}
	f, h, r := canFlush{p}, canHijack{p}, canRead{p}
	for i, w := range []http.ResponseWriter{
		p, f, h, r,
		struct {
			plain
			http.Flusher
			http.Hijacker
		}{p, f, h},
		struct {
			plain
			http.Flusher
			io.ReaderFrom
		}{p, f, r},
		struct {
			plain
			http.Hijacker
			io.ReaderFrom
		}{p, h, r},
		struct {
			plain
			http.Flusher
			http.Hijacker
			io.ReaderFrom
		}{p, f, h, r},
	} {
		rec := &recorder{ResponseWriter: w}
		got := rec.dressed()
		_, f1 := w.(http.Flusher)
		_, f2 := got.(http.Flusher)
		_, h1 := w.(http.Hijacker)
		_, h2 := got.(http.Hijacker)
		_, r1 := w.(io.ReaderFrom)
		_, r2 := got.(io.ReaderFrom)
		if f1 != f2 || h1 != h2 || r1 != r2 {
			t.Errorf("writer %d: flush %t %t, hijack %t %t, read %t %t", i, f1, f2, h1, h2, r1, r2)
		}
		if u, ok := got.(interface{ Unwrap() http.ResponseWriter }); !ok || u.Unwrap() != w {
			t.Errorf("writer %d does not unwrap", i)
		}
		if _, err := got.Write([]byte("abc")); err != nil || rec.status != 200 || rec.written != 3 {
			t.Errorf("writer %d: %d, %d bytes, %v", i, rec.status, rec.written, err)
		}
	}
}

func TestClientAddress(t *testing.T) {
	for name, c := range map[string]struct {
		proxies int
		header  string
		xff     []string
		other   string
		want    string
	}{
		"the connection":              {want: "198.51.100.9"},
		"a header nobody trusts":      {xff: []string{"203.0.113.7"}, want: "198.51.100.9"},
		"one proxy":                   {proxies: 1, xff: []string{"203.0.113.7"}, want: "203.0.113.7"},
		"one proxy, and a forged hop": {proxies: 1, xff: []string{"192.0.2.1, 203.0.113.7"}, want: "203.0.113.7"},
		"a forged line":               {proxies: 1, xff: []string{"192.0.2.1", "203.0.113.7"}, want: "203.0.113.7"},
		"two proxies":                 {proxies: 2, xff: []string{"192.0.2.1, 203.0.113.7, 10.0.0.2"}, want: "203.0.113.7"},
		"fewer hops than proxies":     {proxies: 2, xff: []string{"203.0.113.7"}, want: ""},
		"no header":                   {proxies: 1, want: ""},
		"rubbish":                     {proxies: 1, xff: []string{"203.0.113.7, unknown"}, want: ""},
		"with a port":                 {proxies: 1, xff: []string{"203.0.113.7:1234"}, want: "203.0.113.7"},
		"IPv6":                        {proxies: 1, xff: []string{"2001:db8::1"}, want: "2001:db8::1"},
		"IPv4 in IPv6":                {proxies: 1, xff: []string{"::ffff:203.0.113.7"}, want: "203.0.113.7"},
		"a header of its own":         {header: "CF-Connecting-IP", other: "203.0.113.8", xff: []string{"192.0.2.1"}, want: "203.0.113.8"},
		"its own header is missing":   {header: "CF-Connecting-IP", xff: []string{"192.0.2.1"}, want: ""},
	} {
		col := idle(Config{TrustedProxies: c.proxies, IPHeader: c.header})
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = "198.51.100.9:4711"
		r.Header["X-Forwarded-For"] = c.xff
		if c.other != "" {
			r.Header.Set("CF-Connecting-IP", c.other)
		}
		if got := col.clientAddress(r); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestWhatIsTakenOfARequest holds it to what may leave the site.
func TestWhatIsTakenOfARequest(t *testing.T) {
	col := idle(Config{Source: "go", Visitor: func(*http.Request) string { return "v1" }})
	r := httptest.NewRequest("GET", "https://acme.example/a%20b?via=llms-txt&token=secret&utm_source=x%26y&via=second#f", nil)
	r.Header.Set("User-Agent", strings.Repeat("é", 1000))
	r.Header.Set("Referer", "https://chatgpt.com/c/1?q=secret#secret")
	r.Header.Set("Signature", strings.Repeat("s", 5000))
	e := col.event(r)
	if e.Host != "acme.example" || e.Path != "/a%20b" || e.VisitorToken != "v1" || e.Signals.Via != "llms-txt" || e.Signals.UTMSource != "x&y" ||
		e.Signals.Referrer != "https://chatgpt.com/c/1" || e.Signals.Signature != "" || len(e.Signals.UserAgent) != maxUserAgent {
		t.Errorf("%+v", e)
	}
	if strings.Contains(fmt.Sprintf("%+v", e), "secret") {
		t.Errorf("a secret: %+v", e)
	}
	for target, wanted := range map[string]bool{"/": true, "/app.js": false, "/llms.txt": true, "/.well-known/x.png": true} {
		r := httptest.NewRequest("GET", target, nil)
		r.Header.Set("User-Agent", agent)
		if col.wanted(r) != wanted {
			t.Errorf("%s wanted is %t", target, !wanted)
		}
	}
}
