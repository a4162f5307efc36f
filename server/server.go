// Package server answers HTTP: the public read API and the pages from the
// current snapshot, agents' registration, claims and tokens from the state store.
// Each subpackage owns one group of routes; this package builds them, mounts them
// and keeps the process's side: ids, limits, log, timeouts, shutdown.
package server

import (
	"cmp"
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/server/auth/authapi"
	"github.com/firstpick/firstpick/server/auth/claimpage"
	"github.com/firstpick/firstpick/server/auth/discovery"
	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/auth/session"
	"github.com/firstpick/firstpick/server/auth/signin"
	"github.com/firstpick/firstpick/server/channel/alert"
	"github.com/firstpick/firstpick/server/channel/collect"
	"github.com/firstpick/firstpick/server/channel/collectapi"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/channel/workspaceapi"
	"github.com/firstpick/firstpick/server/console/dashboard"
	"github.com/firstpick/firstpick/server/console/evalpages"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/console/members"
	"github.com/firstpick/firstpick/server/console/operator"
	"github.com/firstpick/firstpick/server/evals/billing"
	"github.com/firstpick/firstpick/server/evals/evalapi"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/endpoint"
	"github.com/firstpick/firstpick/server/kit/ratelimit"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/kit/reqctx"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/kit/sse"
	"github.com/firstpick/firstpick/server/public/archive"
	"github.com/firstpick/firstpick/server/public/docsite"
	"github.com/firstpick/firstpick/server/public/openapi"
	"github.com/firstpick/firstpick/server/public/pages"
	"github.com/firstpick/firstpick/server/public/readapi"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/wellknown"
)

// A Source has the current site, or nil before the first.
type Source interface{ Current() *snapshotview.Site }

// A Config holds the dependencies of a Server.
type Config struct {
	Services
	Settings
}

// Services are the parts that routes are served from. Source, Agents and Collect are
// required.
type Services struct {
	Source  Source
	Agents  *registrations.Service
	Collect *collect.Service
	Reports traffic.Reports // of workspaces' traffic; optional
	Alerts  *alert.Service  // to owners of workspaces; optional
	Evals   *evals.Service  // of workspaces; optional
	// Archive has the published snapshots and the log; nil if absent.
	Archive archive.Source
	// Published lets operators promote snapshots; nil if absent.
	Published operator.Snapshots
}

// Settings are values without behaviour. Log, Now and Sleep are required.
type Settings struct {
	Log *slog.Logger
	Now func() time.Time
	// Sleep waits, or returns the error of the context.
	Sleep   func(context.Context, time.Duration) error
	BaseURL string // public address without trailing slash
	// IDPrefix begins every request id; it should differ between processes.
	IDPrefix string
	// LimitPerMinute bounds requests of one address to the read API and pages;
	// LimitsOff switches that off for load tests.
	LimitPerMinute int
	LimitsOff      bool
	// AccessLog writes a line per request to LogWriter: JSON, or with AccessText text for a
	// person at a terminal.
	AccessLog  bool
	AccessText bool
	LogWriter  io.Writer
	// Count returns a function that counts responses by the patterns of Paths; optional.
	// Requests for other paths may have other patterns, or an empty one.
	Count func(routes []string) func(route, method string, status int, took time.Duration)
	// TrustedProxies are networks whose X-Forwarded-For is believed.
	TrustedProxies []string
	// Providers are OpenID providers for sign-in; sign-in by mail works without them.
	Providers []*signin.Provider
	// Categories are those that evals may measure.
	Categories []*catalog.Category
	// BillingKeys verify the events of a billing system; without any it has no route.
	BillingKeys []string
	// CLI is the reference of the command line in markdown; empty leaves it out of the
	// documents.
	CLI string
	// Name is the service's name in the MCP registry; empty derives it from the address.
	Name string
	// Version is the program's. Contact is the mailto: or https: address of security.txt;
	// optional.
	Version, Contact string
	// FreeDisk returns the free space of the data folder in bytes; nil for unknown.
	FreeDisk func() (int64, error)
	// Around wraps the handler; tests check responses with it.
	Around func(http.Handler) http.Handler
}

// A Server is the whole HTTP surface.
type Server struct {
	cfg     Config
	router  *chi.Mux
	errors  apierr.Writer
	missing *snapshotview.Missing
	archive *archive.Handler
	evals   *evalapi.Handler // nil without evals
	ids     *reqctx.IDs
	proxies reqctx.Proxies
	limiter *ratelimit.Limiter[netip.Addr] // of each address
	access  *accessLog
	count   func(route, method string, status int, took time.Duration) // optional
	streams *sse.Limiter
	store   *storeCheck
	hsts    []string // values of Strict-Transport-Security
	// exact answers GET on paths without parameters, so that the most common
	// requests pay for no pattern matching. The router has them too.
	exact  map[string]http.HandlerFunc
	limits route.Table
}

// The event streams that may be open at a time, in all and of one workspace's keys or one account.
const (
	maxStreams    = 200
	maxOwnStreams = 10
)

type mounter interface{ Mount(r chi.Router) }

// New builds a Server.
func New(cfg Config) (*Server, error) {
	proxies, err := reqctx.ParseProxies(cfg.TrustedProxies)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, router: chi.NewRouter(), errors: apierr.Writer{Base: cfg.BaseURL},
		ids: &reqctx.IDs{Prefix: cfg.IDPrefix + "-"}, proxies: proxies,
		limiter: ratelimit.ByAddress(ratelimit.Rule{Name: "public", Quota: max(1, cfg.LimitPerMinute), Window: time.Minute}),
		streams: sse.NewLimiter(maxStreams, maxOwnStreams),
		store:   &storeCheck{db: cfg.Agents.DB, now: cfg.Now}, hsts: strictTransport(cfg.BaseURL),
	}
	if cfg.AccessLog && cfg.LogWriter != nil {
		s.access = newAccessLog(cfg.LogWriter, cfg.AccessText)
	}
	if cfg.Count != nil {
		s.router.Use(noteRoute)
	}
	s.router.Use(headByGet)
	s.missing = snapshotview.NewMissing(cfg.BaseURL, s.errors)
	if cfg.Evals != nil {
		s.evals = evalapi.New(evalapi.Config{
			Evals: cfg.Evals, Limits: cfg.Agents.Limits, Streams: s.streams, Errors: s.errors, Log: cfg.Log, Now: cfg.Now,
		})
	}
	s.mount(s.router, openapi.New())
	s.mount(s.router, s.public()...)
	s.mount(s.router, s.api()...)
	console, err := s.console()
	if err != nil {
		return nil, err
	}
	s.mount(s.router.With(middleware.Compress(gzip.DefaultCompression, "text/html")), console...)
	s.mount(s.router, probes{s})
	s.router.NotFound(s.notFound)
	s.router.MethodNotAllowed(s.methodNotAllowed)
	if cfg.Count != nil {
		s.count = cfg.Count(s.Paths())
	}
	return s, s.limits.Check(s.Paths())
}

// mount registers groups of routes, and their limits.
func (s *Server) mount(r chi.Router, groups ...mounter) {
	for _, g := range groups {
		g.Mount(r)
		if l, ok := g.(route.Limited); ok {
			s.limits.Add(l.Limits())
		}
	}
}

// public are the routes that everybody may read.
func (s *Server) public() []mounter {
	sender := snapshotview.NewSender(wellknown.Links(s.cfg.BaseURL))
	documents := sync.OnceValues(s.documents) // built at the first request for one
	reads := &readapi.Handler{Current: s.cfg.Source.Current, Sender: sender, Errors: s.errors}
	s.exact = reads.Exact()
	for path := range s.exact {
		s.limits.Add(map[string]route.Limits{path: {}}) // so that one look-up finds them
	}
	source := s.cfg.Archive
	if source == nil {
		source = archive.None{}
	}
	s.archive = archive.New(archive.Config{
		Source: source, Current: s.cfg.Source.Current, Sender: sender, Errors: s.errors, Log: s.cfg.Log, Now: s.cfg.Now, BaseURL: s.cfg.BaseURL, LimitsOff: s.cfg.LimitsOff,
	})
	return []mounter{
		reads,
		s.archive,
		&pages.Handler{Current: s.cfg.Source.Current, Sender: sender, Errors: s.errors, Missing: s.missing, Archive: s.archive, SignIn: s.cfg.Agents != nil},
		discovery.New(s.cfg.Agents, s.errors),
		docsite.New(documents, s.cfg.BaseURL, sender, s.errors, s.missing),
		s.directory(documents),
		s.mcp(documents),
	}
}

// api are the routes that programs call with a key or a token.
func (s *Server) api() []mounter {
	cfg := &s.cfg
	auth := &authapi.Handler{Server: endpoint.Server{Errors: s.errors, Log: cfg.Log}, Agents: cfg.Agents}
	groups := []mounter{
		auth,
		&workspaceapi.Handler{Server: auth.Server, Authenticate: auth.Authenticate, Collect: cfg.Collect, Now: cfg.Agents.Now, Reports: cfg.Reports},
		collectapi.New(cfg.Collect, cfg.Agents.Limits, s.errors, cfg.Log),
		&billing.Handler{Keys: cfg.BillingKeys, DB: cfg.Agents.DB, Secrets: cfg.Agents.Secrets, Errors: s.errors, Log: cfg.Log, Now: cfg.Now},
	}
	if s.evals == nil {
		return groups
	}
	return append(groups, s.evals)
}

// console are the pages of people who signed in.
func (s *Server) console() ([]mounter, error) {
	cfg := &s.cfg
	personal := session.Pages{Forms: render.NewForms(), Log: cfg.Log}
	guard, err := s.guard(personal)
	if err != nil {
		return nil, err
	}
	sessions := &session.Manager{
		DB: cfg.Agents.DB, Vault: cfg.Agents.Vault, Secrets: cfg.Agents.Secrets, Now: cfg.Now, Secure: strings.HasPrefix(cfg.BaseURL, "https:"),
	}
	frame := &layout.Frame{Agents: cfg.Agents, Sessions: sessions, Pages: personal, Guard: guard, Evals: cfg.Evals != nil, Measures: cfg.Evals != nil && cfg.Evals.Proposes()}
	groups := []mounter{
		&members.Handler{Frame: frame},
		&operator.Handler{Frame: frame, Health: s.health, Snapshots: cfg.Published},
		&signin.Handler{Agents: cfg.Agents, Sessions: sessions, Pages: personal, Providers: cfg.Providers, Guard: guard},
		&claimpage.Handler{Agents: cfg.Agents, Sessions: sessions, Pages: personal, Guard: guard},
		&dashboard.Handler{Frame: frame, Collect: cfg.Collect, Reports: cfg.Reports, Alerts: cfg.Alerts, Picks: s.OwnTools(), Streams: s.streams, Sleep: cfg.Sleep},
	}
	if cfg.Evals != nil {
		groups = append(groups, &evalpages.Handler{Frame: frame, Evals: cfg.Evals, Streams: s.streams, Categories: cfg.Categories})
	}
	return groups, nil
}

// CloseFiles closes the files that are open for reading. Call it after the last request.
func (s *Server) CloseFiles() error { return s.archive.Close() }

// LimitsOf returns the limits of a path, or of a route's pattern.
func (s *Server) LimitsOf(path string) route.Limits { return s.limits.Of(path) }

// guard refuses cross-site browser requests to the routes of a session. Requests
// without a browser's headers pass: they carry no cookie.
func (s *Server) guard(personal session.Pages) (func(http.Handler) http.Handler, error) {
	protect := http.NewCrossOriginProtection()
	if err := protect.AddTrustedOrigin(s.cfg.BaseURL); err != nil { // behind a proxy that ends TLS, Host and Origin may differ
		return nil, err
	}
	protect.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		personal.SendMessage(w, http.StatusForbidden, "Refused", render.Message{Text: "Another site sent this request. Open the page here and use its buttons."})
	}))
	return protect.Handler, nil
}

// ServeHTTP implements http.Handler. Every request gets, in order: id, client address,
// log, recovery, limits.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := route.Path(r)
	rw := &reqctx.Writer{ResponseWriter: w, ID: s.ids.Next()}
	rw.Header()["X-Request-Id"] = []string{rw.ID}
	if s.hsts != nil {
		rw.Header()["Strict-Transport-Security"] = s.hsts
	}
	start := time.Time{}
	rw.Client = s.proxies.Client(r)
	if s.access != nil || s.count != nil || !s.cfg.LimitsOff {
		start = s.cfg.Now()
	}
	var body *body
	if r.Body != nil && r.Body != http.NoBody {
		body = limitBody(rw, r, s.limits.Of(path).MaxBody)
	}
	defer s.finish(rw, r, body, start)
	switch {
	case !s.cfg.LimitsOff && !s.limits.Of(path).Unmetered && !s.allow(rw, r, start):
		return
	case !route.ValidPath(r.URL.Path):
		s.notFound(rw, r)
		return
	case r.Method == http.MethodGet && s.exact[path] != nil:
		rw.Route = path
		s.exact[path](rw, r)
		return
	case strings.HasSuffix(path, "/") && s.redirectSlash(rw, r, path):
		return
	}
	s.router.ServeHTTP(rw, r)
}

// finish turns a panic into a 500, writes the log line and counts the response. Last it
// reads the rest of the body.
func (s *Server) finish(rw *reqctx.Writer, r *http.Request, body *body, start time.Time) {
	if p := recover(); p != nil {
		if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
			panic(p)
		}
		s.cfg.Log.Error("a handler panicked", "request_id", rw.ID, "path", r.URL.Path, "panic", p)
		if rw.Status == 0 {
			s.errors.Write(rw, r, apierr.Internal(nil))
		}
	}
	end := time.Time{}
	if s.access != nil || s.count != nil {
		end = s.cfg.Now()
	}
	if s.access != nil {
		s.access.write(rw, r, start, end)
	}
	if s.count != nil {
		s.count(rw.Route, r.Method, cmp.Or(rw.Status, http.StatusOK), end.Sub(start))
	}
	if body != nil {
		body.linger(rw)
	}
}

func (s *Server) allow(rw *reqctx.Writer, r *http.Request, now time.Time) bool {
	left, after, ok := s.limiter.Allow(rw.Client, now)
	s.limiter.WriteHeaders(rw.Header(), left, after)
	if !ok {
		s.errors.Write(rw, r, apierr.RateLimited(after))
	}
	return ok
}
