package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// headByGet is a middleware that answers HEAD by the handler of GET (RFC 9110, 9.3.2).
// GET on the pages below /signin/ consumes a mailed token, so they have no HEAD: mail
// scanners probe links with it.
func headByGet(next http.Handler) http.Handler {
	get := middleware.GetHead(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hasHead(route.Path(r)) {
			get.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func hasHead(path string) bool { return !strings.HasPrefix(path, "/signin/") }

// matches returns the route pattern of a method and path; empty without a match.
func (s *Server) matches(method, path string) string {
	pattern := s.router.Find(chi.NewRouteContext(), method, path)
	if pattern == "" && method == http.MethodHead && hasHead(path) {
		return s.router.Find(chi.NewRouteContext(), http.MethodGet, path)
	}
	return pattern
}

func (s *Server) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	var allow []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPost, http.MethodPut, http.MethodDelete} {
		if s.matches(method, route.Path(r)) != "" {
			allow = append(allow, method)
		}
	}
	w.Header().Set("Allow", strings.Join(allow, ", "))
	s.errors.Write(w, r, apierr.MethodNotAllowed())
}

// notFound answers a request for a path that nothing is served at: programs' paths in
// JSON, others in the form that the request asks for.
func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	e := apierr.NotFound()
	if path := route.Path(r); strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/.well-known/") {
		s.errors.Write(w, r, e)
		return
	}
	render.Guard(w.Header())
	s.missing.Write(w, r, snapshotview.NotFound{Error: e, Fallback: snapshotview.JSON})
}

// redirectSlash leads from a path that ends with a slash to the page without it, where
// there is one, and reports whether it answered.
func (s *Server) redirectSlash(w http.ResponseWriter, r *http.Request, path string) bool {
	to := strings.TrimRight(path, "/")
	if to == "" || strings.HasPrefix(to, "//") || strings.HasSuffix(s.matches(r.Method, path), "/") || s.matches(r.Method, to) == "" {
		return false
	}
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusPermanentRedirect)
	return true
}

// Paths returns the patterns of all routes, sorted.
func (s *Server) Paths() []string {
	var out []string
	_ = chi.Walk(s.router, func(_, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if !slices.Contains(out, route) {
			out = append(out, route)
		}
		return nil
	})
	slices.Sort(out)
	return out
}
