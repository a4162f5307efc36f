// Package authapi serves the endpoints that agents and identity providers call:
// registration and claim (JSON), tokens and revocation (forms), security events,
// and the resources that a token opens. It reads requests and writes answers;
// what happens in between is in package agents.
package authapi

import (
	"encoding/json"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/channel/collect"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/reqbody"
	"github.com/firstpick/firstpick/server/kit/reqctx"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/store/state"
)

// The largest bodies, in bytes.
const (
	maxForm = 16 << 10
	maxSET  = 16 << 10
)

// A Handler serves the routes. All fields but Reports are required.
type Handler struct {
	Agents  *registrations.Service
	Collect *collect.Service
	Errors  apierr.Writer
	Log     *slog.Logger
	// Reports are of the workspace's traffic; nil leaves them out.
	Reports traffic.Reports
}

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	r.Post("/api/agent/event/notify", h.notify) // called by servers alone
	route.API(r, "Authorization, Content-Type", []route.Operation{
		route.On(http.MethodPost, "/api/agent/identity", h.registration(h.register)),
		route.On(http.MethodPost, "/api/agent/identity/claim", h.registration(h.claim)),
		route.On(http.MethodPost, "/api/oauth2/token", h.handle(h.token)),
		route.On(http.MethodPost, "/api/oauth2/revoke", h.handle(h.revoke)),
		route.On(http.MethodPost, "/api/agent/keys", h.handle(h.createKey)),
		route.On(http.MethodGet, "/api/agent/keys", h.handle(h.keys)),
		route.On(http.MethodDelete, "/api/agent/keys/{id}", h.handle(h.revokeKey)),
		route.On(http.MethodGet, "/api/agent/workspace", h.handle(h.workspace)),
		route.On(http.MethodGet, "/api/agent/workspace/conversions", h.handle(h.conversions)),
		route.On(http.MethodGet, "/api/agent/workspace/conversions/{id}", h.handle(h.conversion)),
		route.On(http.MethodGet, "/api/agent/workspace/events", h.events),
		route.On(http.MethodPost, "/api/agent/workspace/person", h.handle(h.person)),
		route.On(http.MethodPost, "/api/agent/workspace/erasure", h.handle(h.erase)),
	})
}

// An endpoint answers with a body to be sent as JSON, or fails.
type endpoint func(c *registrations.Caller, r *http.Request) (any, error)

func caller(w http.ResponseWriter, r *http.Request) *registrations.Caller {
	return &registrations.Caller{IP: reqctx.Client(w), UserAgent: r.UserAgent()}
}

func (h *Handler) handle(f endpoint) http.HandlerFunc { return h.adapt(f, h.Errors) }

// registration adapts the endpoints whose errors carry a message too.
func (h *Handler) registration(f endpoint) http.HandlerFunc {
	errs := h.Errors
	errs.WithMessage = true
	return h.adapt(f, errs)
}

func (h *Handler) adapt(f endpoint, errs apierr.Writer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := caller(w, r)
		answer, err := f(c, r)
		head := w.Header()
		c.Seen.Write(head)
		common(head)
		if err != nil {
			h.fail(w, r, errs, err)
			return
		}
		if answer == nil {
			w.WriteHeader(http.StatusOK)
			return
		}
		head.Set("Content-Type", "application/json; charset=utf-8")
		if s, ok := answer.(interface{ status() int }); ok {
			w.WriteHeader(s.status())
		}
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(answer) // the client is gone; nothing to do
	}
}

// common sets what all answers have.
func common(head http.Header) {
	head.Set("Cache-Control", "no-store")
	head.Set("Pragma", "no-cache") // RFC 6749, 5.1
	head.Set("Access-Control-Allow-Origin", "*")
	head.Set("Access-Control-Expose-Headers", "WWW-Authenticate, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id")
}

// fail writes what the caller is told, and logs what only we should know.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, errs apierr.Writer, err error) {
	e := apierr.Of(err)
	if e.Status >= http.StatusInternalServerError {
		h.Log.Error("a request failed", "request_id", reqctx.ID(w), "path", r.URL.Path, "err", e)
	}
	errs.Write(w, r, e)
}

// stamp is a time as answers have it: RFC 3339, UTC, milliseconds.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// form reads a form body. A parameter that stands twice is refused (RFC 6749,
// 3.2), as is one without value where it is asked for.
func form(r *http.Request) (url.Values, error) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/x-www-form-urlencoded" {
		return nil, apierr.InvalidRequest("Send the parameters as application/x-www-form-urlencoded.")
	}
	data, err := reqbody.Read(r, maxForm)
	if err != nil {
		return nil, err
	}
	values, err := url.ParseQuery(string(data))
	if err != nil {
		return nil, apierr.InvalidRequest("The form cannot be read.")
	}
	for _, v := range values {
		if len(v) > 1 {
			return nil, apierr.InvalidRequest("A parameter stands more than once.")
		}
	}
	return values, nil
}

// bearer checks the access token of a request. It is taken from the
// Authorization header alone (RFC 6750, 2.1).
func (h *Handler) bearer(r *http.Request) (state.Bearer, error) {
	headers := r.Header.Values("Authorization")
	if len(headers) > 1 {
		return state.Bearer{}, apierr.InvalidRequest("Send one Authorization header.")
	}
	if len(headers) == 0 {
		return state.Bearer{}, apierr.Unauthorized()
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return state.Bearer{}, apierr.Unauthorized()
	}
	return h.Agents.Authenticate(r.Context(), token)
}
