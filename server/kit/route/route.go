// Package route has the helpers that all handlers share: path parameters, and CORS.
package route

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"
)

// maxPath is the maximum length of a decoded path, in bytes.
const maxPath = 2048

// Path returns the path by which a request is routed: escaped where the caller escaped
// more than it had to, so that an escaped slash separates nothing.
func Path(r *http.Request) string {
	if r.URL.RawPath != "" {
		return r.URL.RawPath
	}
	return r.URL.Path
}

// ValidPath reports whether a decoded path may reach a handler: it is valid UTF-8
// without NUL, which no store takes, and not too long. The server refuses every other
// path before routing, so the parameters of all routes are valid.
func ValidPath(path string) bool {
	return len(path) <= maxPath && utf8.ValidString(path) && strings.IndexByte(path, 0) < 0
}

// Param returns a decoded parameter of the path; empty if the route does not have it.
func Param(r *http.Request, name string) string {
	value := chi.URLParam(r, name) //nolint:forbidigo // the one place
	if r.URL.RawPath == "" {
		return value
	}
	value, err := url.PathUnescape(value)
	if err != nil {
		return ""
	}
	return value
}

// Public serves GET on a path that scripts of any page may read. The server answers
// HEAD by the handler of GET.
func Public(r chi.Router, path string, serve http.HandlerFunc) {
	r.Get(path, serve)
	r.Options(path, Preflight("GET, HEAD, OPTIONS", "*, Authorization")) // the asterisk leaves Authorization out
}

// Preflight lets scripts of any page call a route (the Fetch standard's CORS protocol)
// with some methods and headers. It is for routes that look at no cookies.
func Preflight(methods, headers string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Allow-Methods", methods)
		h.Set("Access-Control-Allow-Headers", headers)
		h.Set("Access-Control-Max-Age", "86400")
		w.WriteHeader(http.StatusNoContent)
	}
}

// An Operation is a method of a path, and its handler.
type Operation struct {
	Method, Path string
	Serve        http.HandlerFunc
}

// On returns an operation.
func On(method, path string, serve http.HandlerFunc) Operation { return Operation{method, path, serve} }

// API serves operations that scripts of any page may call with these headers.
func API(r chi.Router, headers string, operations []Operation) {
	methods := map[string]string{}
	for _, o := range operations {
		r.Method(o.Method, o.Path, o.Serve)
		methods[o.Path] += o.Method + ", "
	}
	for path, list := range methods {
		r.Options(path, Preflight(list+http.MethodOptions, headers))
	}
}
