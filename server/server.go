// Package server answers HTTP: the public read API and the pages from the
// current snapshot, agents' registration, claims and tokens from the state store.
// Each subpackage owns one group of routes; this package builds them, mounts them
// and keeps the process's side: ids, limits, log, timeouts, shutdown.
//
// The subpackages stand in steps, and import only from steps below: words
// (apierr, reqctx, identity, secret), means (web, site, state, trust ...), uses
// (agents, session), routes (readapi, pages, agentapi, claimpage ...).
package server

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
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
	"github.com/firstpick/firstpick/server/console/dashboard"
	"github.com/firstpick/firstpick/server/console/evalpages"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/evals/billing"
	"github.com/firstpick/firstpick/server/evals/evalapi"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/httpstats"
	"github.com/firstpick/firstpick/server/kit/ratelimit"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/kit/reqctx"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/kit/sse"
	"github.com/firstpick/firstpick/server/public/docsite"
	"github.com/firstpick/firstpick/server/public/openapi"
	"github.com/firstpick/firstpick/server/public/pages"
	"github.com/firstpick/firstpick/server/public/readapi"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/wellknown"
)

// A Source has the current site, or nil before the first.
type Source interface{ Current() *snapshotview.Site }

// A Config says what to serve and how. Source, Agents, Collect, Log and Now are
// required.
type Config struct {
	Source  Source
	Agents  *registrations.Service
	Collect *collect.Service
	// Reports are of workspaces' traffic; nil leaves them out.
	Reports traffic.Reports
	// Alerts are told to workspaces' owners; nil leaves them out.
	Alerts *alert.Service
	// Evals are workspaces' own; nil leaves them out.
	Evals *evals.Service
	// Categories are those that evals may measure: beginnings of evals offer them.
	Categories []*catalog.Category
	// BillingKeys are the secrets that a billing system signs its events with; without
	// any it is not listened to.
	BillingKeys []string
	// CLI is the reference of the command line, as markdown, for the documents; they do
	// without where there is none.
	CLI string
	// Providers are where people may sign in besides by mail.
	Providers []*signin.Provider
	// Name is that of the service in the MCP registry; empty makes one of its address.
	Name string
	// Version is the program's, Contact where problems of security are told, as a
	// mailto: or https: address; empty for nowhere.
	Version, Contact string

	Log     *slog.Logger
	Now     func() time.Time
	BaseURL string // public address without trailing slash
	// IDPrefix begins every request id; it should differ between processes.
	IDPrefix string
	// LimitPerMinute bounds requests of one address to the read API and pages;
	// LimitsOff switches that off for load tests.
	LimitPerMinute int
	LimitsOff      bool
	// AccessLog writes a line per request to LogWriter.
	AccessLog bool
	LogWriter io.Writer
	// Count makes Counted tell of requests.
	Count bool
	// TrustedProxies are networks whose X-Forwarded-For is believed.
	TrustedProxies []string
	// Around wraps what is served; tests look at answers with it.
	Around func(http.Handler) http.Handler
}

// A Server is the whole HTTP surface.
type Server struct {
	cfg     Config
	router  *chi.Mux
	errors  apierr.Writer
	missing *snapshotview.Missing
	ids     *reqctx.IDs
	proxies reqctx.Proxies
	public  *ratelimit.Limiter[netip.Addr]
	access  *accessLog
	tally   *httpstats.Tally // nil for none
	streams *sse.Gate
	store   *storeCheck
	hsts    []string // values of Strict-Transport-Security; nil for none
	// exact answers GET on paths without parameters, so that the most common
	// requests pay for no pattern matching. The router has them too.
	exact map[string]http.HandlerFunc
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
	describe, err := openapi.New()
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, router: chi.NewRouter(), errors: apierr.Writer{Base: cfg.BaseURL},
		ids: &reqctx.IDs{Prefix: cfg.IDPrefix + "-"}, proxies: proxies,
		public:  ratelimit.ByAddress(ratelimit.Rule{Name: "public", Quota: max(1, cfg.LimitPerMinute), Window: time.Minute}),
		streams: sse.NewGate(maxStreams, maxOwnStreams),
		store:   &storeCheck{db: cfg.Agents.DB, now: cfg.Now}, hsts: strictTransport(cfg.BaseURL),
	}
	if cfg.AccessLog && cfg.LogWriter != nil {
		s.access = newAccessLog(cfg.LogWriter)
	}
	if cfg.Count {
		s.router.Use(noteRoute)
	}
	s.router.Use(headByGet)
	sender := snapshotview.NewSender(wellknown.Links(cfg.BaseURL))
	written := sync.OnceValues(s.documents) // they are made when somebody reads
	reads := &readapi.Handler{Current: cfg.Source.Current, Sender: sender, Errors: s.errors}
	s.exact = reads.Exact()
	s.missing = snapshotview.NewMissing(cfg.BaseURL, s.errors)
	personal := session.Pages{Forms: render.NewForms(), Log: cfg.Log}
	guard, err := s.guard(personal)
	if err != nil {
		return nil, err
	}
	sessions := &session.Manager{
		DB: cfg.Agents.DB, Vault: cfg.Agents.Vault, Secrets: cfg.Agents.Secrets, Now: cfg.Now, Secure: strings.HasPrefix(cfg.BaseURL, "https:"),
	}
	desk := &layout.Frame{Agents: cfg.Agents, Sessions: sessions, Pages: personal, Guard: guard, Evals: cfg.Evals != nil}
	for _, m := range []mounter{
		reads,
		&pages.Handler{Current: cfg.Source.Current, Sender: sender, Errors: s.errors, Missing: s.missing},
		describe,
		discovery.New(cfg.Agents, s.errors),
		docsite.New(written, cfg.BaseURL, sender, s.errors, s.missing),
		s.directory(written),
		s.mcp(written),
		&authapi.Handler{Agents: cfg.Agents, Collect: cfg.Collect, Errors: s.errors, Log: cfg.Log, Reports: cfg.Reports},
		collectapi.New(cfg.Collect, cfg.Agents.Limits, s.errors, cfg.Log),
		&billing.Handler{Keys: cfg.BillingKeys, DB: cfg.Agents.DB, Secrets: cfg.Agents.Secrets, Errors: s.errors, Log: cfg.Log, Now: cfg.Now},
	} {
		m.Mount(s.router)
	}
	console := s.router.With(middleware.Compress(gzip.DefaultCompression, "text/html"))
	for _, m := range []mounter{
		&signin.Handler{Agents: cfg.Agents, Sessions: sessions, Pages: personal, Providers: cfg.Providers, Guard: guard},
		&claimpage.Handler{Agents: cfg.Agents, Sessions: sessions, Pages: personal, Guard: guard},
		&dashboard.Handler{Frame: desk, Collect: cfg.Collect, Reports: cfg.Reports, Alerts: cfg.Alerts},
	} {
		m.Mount(console)
	}
	if cfg.Evals != nil {
		evalapi.New(evalapi.Config{
			Evals: cfg.Evals, Limits: cfg.Agents.Limits, Streams: s.streams, Errors: s.errors, Log: cfg.Log, Now: cfg.Now,
		}).Mount(s.router)
		(&evalpages.Handler{Frame: desk, Evals: cfg.Evals, Streams: s.streams, Categories: cfg.Categories}).Mount(console)
	}
	s.router.Get("/healthz", s.health)
	s.router.Get("/readyz", s.ready)
	s.router.NotFound(s.notFound)
	s.router.MethodNotAllowed(s.methodNotAllowed)
	if cfg.Count {
		s.tally = httpstats.New(s.Paths())
	}
	return s, nil
}

// guard refuses what other sites' pages make a browser send to the routes of a
// session. Requests without a browser's headers pass: they bring no cookie.
func (s *Server) guard(personal session.Pages) (func(http.Handler) http.Handler, error) {
	protect := http.NewCrossOriginProtection()
	if err := protect.AddTrustedOrigin(s.cfg.BaseURL); err != nil { // behind a proxy that ends TLS, Host and Origin may differ
		return nil, err
	}
	protect.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		personal.Tell(w, http.StatusForbidden, "Refused", render.Message{Text: "Another site sent this request. Open the page here and use its buttons."})
	}))
	return protect.Handler, nil
}

// ServeHTTP implements http.Handler. What every request passes stands here once,
// in order: id, address, log, recovery, limit.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := route.Path(r)
	rw := &reqctx.Writer{ResponseWriter: w, ID: s.ids.Next()}
	rw.Header()["X-Request-Id"] = []string{rw.ID}
	if s.hsts != nil {
		rw.Header()["Strict-Transport-Security"] = s.hsts
	}
	start := time.Time{}
	rw.Client = s.proxies.Client(r)
	if s.access != nil || s.tally != nil || !s.cfg.LimitsOff {
		start = s.cfg.Now()
	}
	var body *body
	if r.Body != nil && r.Body != http.NoBody {
		body = limitBody(rw, r, path)
	}
	defer s.finish(rw, r, body, start)
	switch {
	case !s.cfg.LimitsOff && limited(path) && !s.allow(rw, r, start):
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

// finish turns a panic into a 500, writes the log line and counts. What no handler read
// of the body, if there is one, is read last.
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
	if s.access != nil || s.tally != nil {
		end = s.cfg.Now()
	}
	if s.access != nil {
		s.access.write(rw, r, start, end)
	}
	if s.tally != nil {
		s.tally.Count(rw.Route, r.Method, cmp.Or(rw.Status, http.StatusOK), end.Sub(start))
	}
	if body != nil {
		body.linger(rw)
	}
}

// limited leaves out probes, which come often and from one address, and what counts
// by key: the collector and the eval API.
func limited(path string) bool {
	return path != "/healthz" && path != "/readyz" && path != "/api/collect" && !strings.HasPrefix(path, "/api/v1/")
}

func (s *Server) allow(rw *reqctx.Writer, r *http.Request, now time.Time) bool {
	left, after, ok := s.public.Allow(rw.Client, now)
	s.public.WriteHeaders(rw.Header(), left, after)
	if !ok {
		s.errors.Write(rw, r, apierr.RateLimited(after))
	}
	return ok
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	probe(w, http.StatusOK, map[string]string{"status": "ok"})
}

func probe(w http.ResponseWriter, status int, body map[string]string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the prober is gone; nothing to do
}
