// Package providertest is a fake of the providers' servers for tests: one server
// that speaks all wire formats, whole and streamed, with and without errors. A script
// decides its answers; Requests returns its log.
//
// It follows the formats closely enough for real agent CLIs to work against it,
// tool calls included.
package providertest

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const maxRequest = 32 << 20 // limit of a request body, in bytes

// A Server is a provider on this machine. Set its fields before the first request.
type Server struct {
	// URL is the address without a path: http://127.0.0.1:40000.
	URL string
	// Key is the only accepted key; empty accepts any key, and requests without one.
	Key string
	// Models are the existing models; nil means every model.
	Models []string

	script   Script
	limit    *limit
	listener net.Listener
	server   *http.Server
	served   chan struct{}

	mu       sync.Mutex
	requests []Request
}

// New starts a server on a free port of the loopback interface. It panics if no port is
// free.
func New(script Script) *Server {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		panic("providertest: no port to listen on: " + err.Error())
	}
	s := &Server{URL: "http://" + l.Addr().String(), script: script, listener: l, served: make(chan struct{})}
	s.server = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(s.served)
		_ = s.server.Serve(l) // ends with ErrServerClosed
	}()
	return s
}

// Limit accepts perSecond requests in any one second; further ones are rejected with 429
// and all headers of their format. Headers state the remaining requests.
func (s *Server) Limit(perSecond int, now func() time.Time) {
	s.limit = &limit{max: perSecond, now: now}
}

// Close ends the server and all connections to it.
func (s *Server) Close() {
	_ = s.server.Close()
	<-s.served
}

// Requests returns the requests for answers so far, in order, without requests for the
// list of models.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		return
	}
	f := formatOf(r.URL.Path)
	switch {
	case r.Method != http.MethodPost:
		s.serveModels(w, r)
	case f == nil:
		http.Error(w, "there is nothing at "+r.URL.Path, http.StatusNotFound)
	case strings.HasSuffix(r.URL.Path, "/count_tokens"), strings.HasSuffix(r.URL.Path, ":countTokens"):
		n := len(body)/4 + 1
		sendJSON(w, http.StatusOK, map[string]int{"input_tokens": n, "totalTokens": n})
	default:
		s.ask(w, r, f, body)
	}
}

func (s *Server) ask(w http.ResponseWriter, r *http.Request, f format, body []byte) {
	q := Request{Path: r.URL.Path, Header: r.Header.Clone(), Body: body}
	q.read(f, r.URL)
	s.mu.Lock()
	q.N = len(s.requests)
	s.requests = append(s.requests, q)
	s.mu.Unlock()

	if !s.admits(r) {
		s.send(w, r, f, q, Step{Do: Unauthorized})
		return
	}
	if !s.has(q.Model) {
		s.send(w, r, f, q, Step{Do: NoModel})
		return
	}
	if s.limit != nil {
		left, reset, ok := s.limit.take()
		for name, value := range f.window(s.limit.max, left, reset) {
			w.Header().Set(name, value)
		}
		if !ok {
			s.send(w, r, f, q, Step{Do: Limited, Wait: reset, Style: Millis})
			return
		}
	}
	s.send(w, r, f, q, s.script(q))
}

// admits reports whether a request has the key, in any provider's header.
func (s *Server) admits(r *http.Request) bool {
	keys := []string{
		strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), r.Header.Get("X-Api-Key"),
		r.Header.Get("X-Goog-Api-Key"), r.URL.Query().Get("key"),
	}
	return s.Key == "" || slices.Contains(keys, s.Key)
}

func (s *Server) has(model string) bool { return s.Models == nil || slices.Contains(s.Models, model) }

// serveModels lists the models, or looks one up.
func (s *Server) serveModels(w http.ResponseWriter, r *http.Request) {
	if !s.admits(r) {
		sendJSON(w, http.StatusUnauthorized, openAIError("invalid_request_error", "invalid_api_key", "Incorrect API key provided.", ""))
		return
	}
	_, model, one := strings.Cut(r.URL.Path, "/models/")
	switch {
	case one && s.has(model):
		sendJSON(w, http.StatusOK, map[string]string{"id": model, "name": "models/" + model, "object": "model", "type": "model"})
	case one:
		sendJSON(w, http.StatusNotFound, openAIError("invalid_request_error", "model_not_found", "The model '"+model+"' does not exist.", "model"))
	case strings.HasSuffix(r.URL.Path, "/models"), strings.HasSuffix(r.URL.Path, "/api/tags"):
		list := []map[string]string{}
		for _, m := range s.Models {
			list = append(list, map[string]string{"id": m, "name": m, "model": m, "object": "model", "type": "model"})
		}
		sendJSON(w, http.StatusOK, map[string]any{"object": "list", "data": list, "models": list, "has_more": false})
	default:
		w.WriteHeader(http.StatusOK) // some programs check that the server is up
	}
}

// A limit counts requests in windows of a second.
type limit struct {
	max int
	now func() time.Time

	mu    sync.Mutex
	start time.Time
	used  int
}

// take counts a request. It returns the remaining requests and the time until the window
// ends.
func (l *limit) take() (left int, reset time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if now.Sub(l.start) >= time.Second {
		l.start, l.used = now, 0
	}
	reset = l.start.Add(time.Second).Sub(now)
	if l.used >= l.max {
		return 0, reset, false
	}
	l.used++
	return l.max - l.used, reset, true
}

func seconds(d time.Duration) string {
	return strconv.Itoa(int((d + time.Second - 1) / time.Second))
}
