package server

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/kit/reqctx"
)

// noteRoute is a middleware that leaves the pattern of a request's route in its
// writer, for counting.
func noteRoute(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			rw, ours := w.(*reqctx.Writer)
			if c := chi.RouteContext(r.Context()); ours && c != nil {
				rw.Route = c.RoutePattern()
			}
		}()
		next.ServeHTTP(w, r)
	})
}
