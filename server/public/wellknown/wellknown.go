// Package wellknown serves the discovery documents for agents that know only the host name: the
// MCP registry's server.json, the server card, the catalogues (ARD, RFC 9727), the
// WebMCP manifest, llms.txt, skills, robots.txt, the sitemap and security.txt. All
// are made of one Service, so that names, versions, tools and addresses agree.
package wellknown

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/negotiate"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// A Service is the data of the documents. All fields but Contact are required.
type Service struct {
	Name    string // in the MCP registry: reverse DNS, a slash, a word
	Version string // of the program
	BaseURL string // public address without trailing slash
	// Contact is the address of security reports, as a mailto: or https: URL;
	// empty serves no security.txt.
	Contact string
	// Documents is called when a list of them is read.
	Documents func() []Document
}

// A Document is a page to read.
type Document struct {
	Path        string // of the page; .md behind it is its markdown
	Title       string
	Group       string // of the documentation, such as How to
	Description string // one sentence
	Markdown    string
}

// The words that describe the service, one for people and catalogues, one short
// enough for the registry (100 characters).
const (
	title   = "firstpick"
	summary = "How often AI agents pick a developer tool over its rivals: pick rates, ranks, full reports."
)

// NameOf is the registry name of a service whose operator chose none: its host in
// reverse, as the registry's domain namespaces are.
func NameOf(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" {
		return "localhost/firstpick"
	}
	labels := strings.Split(strings.Trim(u.Hostname(), "[]"), ".")
	slices.Reverse(labels)
	return strings.ReplaceAll(strings.Join(labels, "."), ":", "-") + "/firstpick"
}

// A Handler serves the documents.
type Handler struct {
	Service
	current func() *snapshotview.Site
	errors  apierr.Writer
	now     func() time.Time
	fixed   map[string]*negotiate.Document
	full    func() *negotiate.Document // llms-full.txt, which is long
	// Made once for each snapshot.
	short, sitemap perSnapshot
}

// A perSnapshot keeps the document of the newest snapshot that was asked for.
type perSnapshot struct {
	mu  sync.Mutex
	of  *snapshotview.Site
	doc *negotiate.Document
}

func (p *perSnapshot) get(current *snapshotview.Site, build func(*snapshotview.Site) (*negotiate.Document, error)) (*negotiate.Document, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.doc != nil && p.of == current {
		return p.doc, nil
	}
	doc, err := build(current)
	if err == nil {
		p.of, p.doc = current, doc
	}
	return doc, err
}

const (
	hour = "public, max-age=3600"
	day  = "public, max-age=86400"
)

// New makes the documents. current is for the sitemap.
func New(s Service, current func() *snapshotview.Site, errors apierr.Writer, now func() time.Time) *Handler {
	h := &Handler{Service: s, current: current, errors: errors, now: now, fixed: map[string]*negotiate.Document{}}
	card, ard, webmcp := asJSON("application/mcp-server-card+json", s.card()), asJSON("application/ai-catalog+json", s.ard()), asJSON("application/json", s.webMCP())
	for path, d := range map[string]*negotiate.Document{
		"/server.json":                      asJSON("application/json", s.registry()),
		"/api/mcp/server-card":              card,
		"/.well-known/mcp.json":             card, // where scanners still look
		"/.well-known/mcp/server-card.json": card,
		"/.well-known/ard.json":             ard,
		"/.well-known/ai-catalog.json":      ard, // its name before July 2026
		"/.well-known/api-catalog":          asJSON(`application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`, s.linkset()),
		"/.well-known/webmcp":               webmcp,
		"/.well-known/webmcp.json":          webmcp,
		"/robots.txt":                       negotiate.NewDocument("text/plain; charset=utf-8", day, []byte(s.robots())),
	} {
		h.fixed[path] = d
	}
	skills, index := s.skills()
	for path, body := range skills {
		h.fixed[path] = negotiate.NewDocument("text/markdown; charset=utf-8", hour, body)
	}
	h.fixed[skillIndex] = asJSON("application/json", index)
	h.full = sync.OnceValue(func() *negotiate.Document { return text(s.llmsFull()) })
	return h
}

func asJSON(contentType string, v any) *negotiate.Document {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		panic(err) // values of our own types always encode
	}
	return negotiate.NewDocument(contentType, hour, buf.Bytes())
}

func text(body string) *negotiate.Document {
	return negotiate.NewDocument("text/plain; charset=utf-8", hour, []byte(body))
}

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	routes := map[string]http.HandlerFunc{
		"/sitemap.xml":              h.eachSnapshot(&h.sitemap, h.newSitemap),
		"/llms.txt":                 h.eachSnapshot(&h.short, func(s *snapshotview.Site) (*negotiate.Document, error) { return text(h.llms(s)), nil }),
		"/llms-full.txt":            func(w http.ResponseWriter, r *http.Request) { h.full().ServeHTTP(w, r) },
		"/.well-known/security.txt": h.security,
	}
	for path, d := range h.fixed {
		routes[path] = d.ServeHTTP
	}
	for path, f := range routes {
		route.Public(r, path, f)
	}
}

func (h *Handler) eachSnapshot(kept *perSnapshot, build func(*snapshotview.Site) (*negotiate.Document, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		doc, err := kept.get(h.current(), build)
		if err != nil {
			h.errors.Write(w, r, apierr.Internal(err))
			return
		}
		doc.ServeHTTP(w, r)
	}
}
