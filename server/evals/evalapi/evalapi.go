// Package evalapi serves /api/v1: a paid workspace's evals, schedules, runs,
// results and provider keys, for programs with an eval key. It reads requests and writes
// responses; package evals does the work.
package evalapi

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/reqctx"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/kit/sse"
	"github.com/firstpick/firstpick/server/store/quota"
)

// A Config holds the dependencies of a Handler. All fields are required.
type Config struct {
	Evals   *evals.Service
	Limits  quota.Limiter
	Streams *sse.Limiter
	Errors  apierr.Writer
	Log     *slog.Logger
	Now     func() time.Time
}

// A Handler serves the routes.
type Handler struct {
	Config
	limits limits
}

// New returns a handler that holds keys to the rules of limits.
func New(c Config) *Handler {
	c.Errors.NoStore = true // a missing resource may soon exist
	return &Handler{c, newLimits(c.Limits, c.Now)}
}

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	routes := []struct {
		method, path string
		use          use
		serve        endpoint
	}{
		{http.MethodGet, "/api/v1/evals", reading, h.evals},
		{http.MethodPost, "/api/v1/evals", writing, h.put},
		{http.MethodPost, "/api/v1/evals/check", writing, h.check},
		{http.MethodGet, "/api/v1/evals/{id}", reading, h.eval},
		{http.MethodDelete, "/api/v1/evals/{id}", writing, h.eraseEval},
		{http.MethodGet, "/api/v1/evals/{id}/versions/{n}", reading, h.version},
		{http.MethodGet, "/api/v1/evals/{id}/runs", reading, h.runsOfEval},
		{http.MethodPost, "/api/v1/evals/{id}/runs", running, h.start},
		{http.MethodPost, "/api/v1/evals/{id}/uploads", writing, h.beginUpload},
		{http.MethodGet, "/api/v1/uploads/{uploadId}", reading, h.upload},
		{http.MethodPut, "/api/v1/uploads/{uploadId}/files/{file}", writing, h.putUploadFile},
		{http.MethodPost, "/api/v1/uploads/{uploadId}/complete", running, h.completeUpload},
		{http.MethodGet, "/api/v1/evals/{id}/schedule", reading, h.schedule},
		{http.MethodPut, "/api/v1/evals/{id}/schedule", writing, h.putSchedule},
		{http.MethodDelete, "/api/v1/evals/{id}/schedule", writing, h.dropSchedule},
		{http.MethodPost, "/api/v1/evals/{id}/schedule/pause", writing, h.pauseSchedule},
		{http.MethodPost, "/api/v1/evals/{id}/schedule/resume", writing, h.resumeSchedule},
		{http.MethodPost, "/api/v1/evals/{id}/schedule/runs", running, h.runSchedule},
		{http.MethodGet, "/api/v1/schedules", reading, h.schedules},
		{http.MethodGet, "/api/v1/runs", reading, h.runs},
		{http.MethodGet, "/api/v1/runs/{runId}", reading, h.run},
		{http.MethodDelete, "/api/v1/runs/{runId}", writing, h.cancel},
		{http.MethodPost, "/api/v1/runs/{runId}/erase", writing, h.eraseRun},
		{http.MethodGet, "/api/v1/runs/{runId}/events", reading, h.events},
		{http.MethodGet, "/api/v1/runs/{runId}/traces", reading, h.traces},
		{http.MethodGet, "/api/v1/runs/{runId}/traces/{trialId}", reading, h.trace},
		{http.MethodGet, "/api/v1/runs/{runId}/compare", reading, h.compare},
		{http.MethodGet, "/api/v1/runs/{runId}/explain", reading, h.explain},
		{http.MethodGet, "/api/v1/catalog", reading, h.catalog},
		{http.MethodPut, "/api/v1/catalog", writing, h.putCatalog},
		{http.MethodGet, "/api/v1/catalog/versions/{n}", reading, h.catalogVersion},
		{http.MethodGet, "/api/v1/provider-keys", reading, h.providerKeys},
		{http.MethodPut, "/api/v1/provider-keys/{name}", writing, h.setProviderKey},
		{http.MethodDelete, "/api/v1/provider-keys/{name}", writing, h.dropProviderKey},
		{http.MethodGet, "/api/v1/key", reading, h.key},
	}
	operations := make([]route.Operation, len(routes))
	for i, o := range routes {
		operations[i] = route.On(o.method, o.path, h.handle(o.use, o.serve))
	}
	route.API(r, "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, Range, If-Range", operations)
}

// Limits implements route.Limited. Requests are counted by key. A source may be one byte
// too large, so that the handler reports it.
func (h *Handler) Limits() map[string]route.Limits {
	source := route.Limits{MaxBody: evals.MaxSource + 1, Unmetered: true}
	part := route.Limits{MaxBody: evals.MaxPart, Unmetered: true}
	return map[string]route.Limits{
		"/api/v1/*": {Unmetered: true}, "/api/v1/evals": source, "/api/v1/evals/check": source,
		"/api/v1/catalog":                         {MaxBody: evals.MaxCatalog + 1, Unmetered: true},
		"/api/v1/uploads/{uploadId}/files/{file}": part,
	}
}

// A call is one request of a key's holder.
type call struct {
	evals.Actor
	w http.ResponseWriter
	r *http.Request
}

// param returns a parameter of the path.
func (c *call) param(name string) string { return route.Param(c.r, name) }

// An endpoint answers, or fails with nothing written.
type endpoint func(c *call) error

func (h *Handler) handle(u use, f endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Access-Control-Allow-Origin", "*")
		head.Set("Access-Control-Expose-Headers", "Content-Disposition, ETag, Idempotent-Replayed, Link, Location, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id")
		head.Set("Vary", "Authorization")
		head.Set("X-Content-Type-Options", "nosniff") // responses hold models' output
		actor, err := h.enter(w, r, u)
		if err == nil {
			err = f(&call{*actor, w, r})
		}
		if err != nil {
			h.fail(w, r, err)
		}
	}
}

// fail writes the public part of an error and logs the rest.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	e := apierr.Of(err)
	if r.Context().Err() != nil && e.Status >= http.StatusInternalServerError {
		e = apierr.Gone(err)
	}
	if e.Status >= http.StatusInternalServerError {
		h.Log.Error("a request failed", "request_id", reqctx.ID(w), "path", r.URL.Path, "err", e)
	}
	h.Errors.Write(w, r, e)
}
