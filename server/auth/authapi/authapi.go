// Package authapi serves the endpoints that agents and identity providers call:
// registration and claim (JSON), tokens and revocation (forms), collector keys, and
// security events. It reads requests and writes responses; package registrations does
// the rest.
package authapi

import (
	"context"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/channel/workspaceapi"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/endpoint"
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

// A Handler serves the routes. All fields are required.
type Handler struct {
	endpoint.Server
	Agents *registrations.Service
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
	})
}

// A method answers a caller with a value to be encoded as JSON, or fails.
type method func(c *registrations.Caller, r *http.Request) (any, error)

func caller(w http.ResponseWriter, r *http.Request) *registrations.Caller {
	return &registrations.Caller{IP: reqctx.Client(w), UserAgent: r.UserAgent()}
}

func (h *Handler) handle(m method) http.HandlerFunc { return handle(h.Server, m) }

// registration adapts the endpoints whose errors carry a message too.
func (h *Handler) registration(m method) http.HandlerFunc {
	s := h.Server
	s.Errors.WithMessage = true
	return handle(s, m)
}

func handle(s endpoint.Server, m method) http.HandlerFunc {
	return s.Handle(func(w http.ResponseWriter, r *http.Request) (any, error) {
		c := caller(w, r)
		value, err := m(c, r)
		c.Seen.Write(w.Header())
		return value, err
	})
}

// form parses a form body. It refuses duplicate parameters (RFC 6749, 3.2) and empty
// required ones.
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
			return nil, apierr.InvalidRequest("Duplicate parameter.")
		}
	}
	return values, nil
}

// bearer checks the access token of a request. It reads only the Authorization header
// (RFC 6750, 2.1).
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

// A token is a valid access token, with the request's caller. It implements
// workspaceapi.Token.
type token struct {
	agents *registrations.Service
	caller *registrations.Caller
	head   http.Header // of the response
	state.Bearer
}

// Authenticate checks the access token of a request, for package workspaceapi.
func (h *Handler) Authenticate(w http.ResponseWriter, r *http.Request) (workspaceapi.Token, error) {
	b, err := h.bearer(r)
	return &token{h.Agents, caller(w, r), w.Header(), b}, err
}

// Workspace implements workspaceapi.Token.
func (t *token) Workspace(ctx context.Context) (*state.Workspace, []state.CollectorKey, error) {
	return t.agents.ReadWorkspace(ctx, t.Bearer)
}

// MayErase implements workspaceapi.Token.
func (t *token) MayErase() error { return t.agents.MayErase(t.Bearer) }

// CountPerson implements workspaceapi.Token.
func (t *token) CountPerson(ctx context.Context) error {
	err := t.agents.AskPerson(ctx, t.caller, t.Bearer)
	t.caller.Seen.Write(t.head)
	return err
}

// AuditErasure implements workspaceapi.Token.
func (t *token) AuditErasure(ctx context.Context, events int) error {
	return t.agents.NoteErasure(ctx, t.caller, t.Bearer, events)
}
