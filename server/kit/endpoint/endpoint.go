// Package endpoint serves functions that return a JSON value or an error.
package endpoint

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/reqctx"
)

// A Func answers a request with a value to be encoded as JSON, or fails. nil is an empty
// response. A value with a method Status() int chooses its status.
type Func func(w http.ResponseWriter, r *http.Request) (any, error)

// A Server serves Funcs to scripts of any page. Responses are not cached.
type Server struct {
	Errors apierr.Writer
	Log    *slog.Logger
}

// Handle returns the handler of f.
func (s *Server) Handle(f Func) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		value, err := f(w, r)
		Headers(w.Header())
		if err != nil {
			s.Fail(w, r, err)
			return
		}
		if value == nil {
			w.WriteHeader(http.StatusOK)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		if v, ok := value.(interface{ Status() int }); ok {
			w.WriteHeader(v.Status())
		}
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(value) // a write error means that the client disconnected
	}
}

// Headers sets the headers that all responses have.
func Headers(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache") // RFC 6749, 5.1
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "WWW-Authenticate, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id")
}

// Fail writes an error, and logs those of the server.
func (s *Server) Fail(w http.ResponseWriter, r *http.Request, err error) {
	e := apierr.Of(err)
	if e.Status >= http.StatusInternalServerError {
		s.Log.Error("a request failed", "request_id", reqctx.ID(w), "path", r.URL.Path, "err", e)
	}
	s.Errors.Write(w, r, e)
}

// Time formats a time for JSON: RFC 3339, UTC, milliseconds.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
