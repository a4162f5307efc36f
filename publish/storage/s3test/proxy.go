package s3test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing" //nolint:depguard // a package of tests
)

// A Fault is what a proxy does with a request.
type Fault int

// The faults.
const (
	None         Fault = iota
	Busy               // 503 SlowDown, nothing is done
	Hang               // no answer
	CutRequest         // half of the body reaches the server
	LoseAnswer         // the server has done it
	CutAnswer          // half of the body reaches the client
	EmptyAnswer        // the headers reach the client
	ChangeAnswer       // a byte of the body is another one
	Skew               // 403 RequestTimeTooSkewed
	Deny               // 403 AccessDenied
	Unsupported        // 501 NotImplemented
	NotS3              // 404 from a web server
)

// A Proxy stands in front of a server and answers some requests wrongly.
type Proxy struct {
	URL string
	// Requests counts those that arrived.
	Requests atomic.Int64

	server string
	fault  atomic.Pointer[func(*http.Request) Fault]
}

// NewProxy starts a proxy that ends with the test.
func NewProxy(t testing.TB, s *Server) *Proxy {
	t.Helper()
	p := &Proxy{server: s.URL}
	p.Set(func(*http.Request) Fault { return None })
	h := httptest.NewServer(p)
	t.Cleanup(h.Close)
	p.URL = h.URL
	return p
}

// Set changes what is done with requests. The function is called at once by many goroutines.
func (p *Proxy) Set(fault func(*http.Request) Fault) { p.fault.Store(&fault) }

// Times returns a function for Set: a fault of the first n requests with a method.
func Times(n int64, method string, fault Fault) func(*http.Request) Fault {
	var seen atomic.Int64
	return func(r *http.Request) Fault {
		if r.Method == method && seen.Add(1) <= n {
			return fault
		}
		return None
	}
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.Requests.Add(1)
	fault := (*p.fault.Load())(r)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	refused := map[Fault]struct {
		status int
		code   string
	}{Busy: {503, "SlowDown"}, Skew: {403, "RequestTimeTooSkewed"}, Deny: {403, "AccessDenied"}, Unsupported: {501, "NotImplemented"}}
	if no, ok := refused[fault]; ok {
		w.WriteHeader(no.status)
		_, _ = io.WriteString(w, "<Error><Code>"+no.code+"</Code><Message>as the test wants</Message></Error>")
		return
	}
	if fault == NotS3 {
		http.NotFound(w, r)
		return
	}
	if fault == Hang {
		<-r.Context().Done()
		return
	}
	status, header, answer, err := p.forward(r, body, fault)
	if err != nil || fault == LoseAnswer {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), header)
	if fault == ChangeAnswer && len(answer) > 0 {
		answer[len(answer)/2] ^= 1
	}
	if r.Method != http.MethodHead {
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	}
	w.WriteHeader(status)
	cut := map[Fault]int{CutAnswer: len(answer) / 2, EmptyAnswer: 0}
	if n, ok := cut[fault]; ok {
		_, _ = w.Write(answer[:n])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(answer)
}

// forward sends a request to the server, with its signed host.
func (p *Proxy) forward(r *http.Request, body []byte, fault Fault) (int, http.Header, []byte, error) {
	var from io.Reader = bytes.NewReader(body)
	if fault == CutRequest {
		from = io.MultiReader(bytes.NewReader(body[:len(body)/2]), broken{})
	}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, p.server+r.URL.RequestURI(), from)
	if err != nil {
		return 0, nil, nil, err
	}
	out.Header, out.Host, out.ContentLength = r.Header.Clone(), r.Host, int64(len(body))
	resp, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		return 0, nil, nil, err
	}
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, answer, errors.Join(err, resp.Body.Close())
}

// broken is a body that ends early.
type broken struct{}

// Read implements io.Reader.
func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
