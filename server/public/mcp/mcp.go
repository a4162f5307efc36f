// Package mcp serves the Model Context Protocol at /api/mcp: Streamable HTTP,
// stateless, all revisions from 2024-11-05 to 2026-07-28. The public tools need no key;
// with an eval key there are those of the workspace's evals too.
//
// The official SDK is the server. In front of it are a gate (hosts, origins,
// CORS, limits, one form of errors) and a fast path for calls of the public tools,
// whose answers are made once for each snapshot. It takes only requests
// that are plainly right, and answers what the SDK would, byte for byte but for the
// order of members; a test compares the two.
package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/ratelimit"
	"github.com/firstpick/firstpick/server/kit/reqbody"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/tools"
)

// Path is where the protocol is served.
const Path = "/api/mcp"

// A Document is something to read that the server offers as a resource.
type Document struct {
	URI         string // its address
	Name        string // short, of letters, digits and hyphens
	Title       string
	Description string
	Text        string // markdown
}

// A Config is the data of a Handler. All fields but Documents, Traffic, Evals and Next are required.
type Config struct {
	Current func() *snapshotview.Site
	// Documents are asked for at the first request that is not for a public tool.
	Documents func() []Document
	// Traffic answers getMyAgents in a request for who sent a header Authorization; nil says that
	// this server cannot.
	Traffic func(ctx context.Context, request, authorization string, arguments []byte) tools.Answer
	// Evals answers the tools of a workspace's evals; nil for a server without evals.
	Evals *EvalTools
	// Changes answers getChanges in a request; via tags the addresses of pages.
	Changes   func(ctx context.Context, request, via string, arguments []byte) tools.Answer
	Name      string // of the server, such as example.com/firstpick
	Version   string // of the program
	BaseURL   string // public address without trailing slash
	Errors    apierr.Writer
	Log       *slog.Logger
	Now       func() time.Time
	LimitsOff bool
	Next      http.Handler // answers what this package does not; nil for the SDK's server
}

// A Handler serves the protocol.
type Handler struct {
	Config
	sdk   func() http.Handler // the SDK's
	calls *ratelimit.Limiter[netip.Addr]
	hosts hosts
	fast  fast
}

// CallsPerMinute is how many calls of tools one address may make. A call over it is
// asked to wait in a result that a model reads; requests far over it are refused by
// the limit of all public requests.
const CallsPerMinute = 240

// New builds a Handler.
func New(c Config) *Handler {
	h := &Handler{
		Config: c, calls: ratelimit.ByAddress(ratelimit.Rule{Name: "mcp-calls", Quota: CallsPerMinute, Window: time.Minute}), hosts: hostsOf(c.BaseURL),
	}
	h.fast = newFast(h)
	h.sdk = sync.OnceValue(func() http.Handler {
		if c.Next != nil {
			return c.Next
		}
		server := h.server()
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
			Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true,
			DisableLocalhostProtection: true, // hosts does it, and knows the public address behind a proxy
		})
	})
	return h
}

// Mount registers the route.
func (h *Handler) Mount(r chi.Router) { r.HandleFunc(Path, h.ServeHTTP) }

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.pass(w, r) {
		return
	}
	body, err := reqbody.Read(r, maxBody)
	switch e := apierr.Of(err); {
	case err == nil:
	case e.Status == http.StatusBadRequest:
		h.refuse(w, rpcError{Code: parseError, Message: "unexpected end of the request body"})
		return
	default:
		h.Errors.Write(w, r, e)
		return
	}
	if h.fast.serve(w, r, body) {
		return
	}
	h.slow(w, r, body)
}
