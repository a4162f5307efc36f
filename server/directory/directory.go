// Package directory serves what an agent finds that knows the host name alone: the
// MCP registry's server.json, the server card, the catalogues (ARD, RFC 9727), the
// WebMCP manifest, llms.txt, skills, robots.txt, the sitemap and security.txt. All
// are made of one Service, so that names, versions, tools and addresses agree.
package directory

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/apierr"
	"github.com/firstpick/firstpick/server/route"
	"github.com/firstpick/firstpick/server/site"
)

// A Service is what the documents speak of. All fields but Contact are required.
type Service struct {
	Name    string // in the MCP registry: reverse DNS, a slash, a word
	Version string // of the program
	BaseURL string // public address without trailing slash
	// Contact is where problems of security are told, as a mailto: or https: address;
	// empty serves no security.txt.
	Contact string
	// Documents are asked for when somebody reads a list of them.
	Documents func() []Document
}

// A Document is a page to read.
type Document struct {
	Path        string // of the page; .md behind it is its markdown
	Title       string
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
	current func() *site.Site
	errors  apierr.Writer
	now     func() time.Time
	fixed   map[string]document
	full    func() document // llms-full.txt, which is long
}

type document struct {
	contentType string
	body        []byte
	etag        string
	age         string // Cache-Control
}

const (
	hour = "public, max-age=3600"
	day  = "public, max-age=86400"
)

func newDocument(contentType, age string, body []byte) document {
	sum := sha256.Sum256(body)
	return document{contentType, body, `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`, age}
}

// New makes the documents. current is for the sitemap.
func New(s Service, current func() *site.Site, errors apierr.Writer, now func() time.Time) *Handler {
	h := &Handler{Service: s, current: current, errors: errors, now: now, fixed: map[string]document{}}
	card, ard, webmcp := asJSON("application/mcp-server-card+json", s.card()), asJSON("application/ai-catalog+json", s.ard()), asJSON("application/json", s.webMCP())
	for path, d := range map[string]document{
		"/server.json":                      asJSON("application/json", s.registry()),
		"/api/mcp/server-card":              card,
		"/.well-known/mcp.json":             card, // where scanners still look
		"/.well-known/mcp/server-card.json": card,
		"/.well-known/ard.json":             ard,
		"/.well-known/ai-catalog.json":      ard, // its name before July 2026
		"/.well-known/api-catalog":          asJSON(`application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`, s.linkset()),
		"/.well-known/webmcp":               webmcp,
		"/.well-known/webmcp.json":          webmcp,
		"/robots.txt":                       newDocument("text/plain; charset=utf-8", day, []byte(s.robots())),
	} {
		h.fixed[path] = d
	}
	skills, index := s.skills()
	for path, body := range skills {
		h.fixed[path] = newDocument("text/markdown; charset=utf-8", hour, body)
	}
	h.fixed[skillIndex] = asJSON("application/json", index)
	h.full = sync.OnceValue(func() document { return text(s.llmsFull()) })
	return h
}

func asJSON(contentType string, v any) document {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		panic(err) // values of our own types always encode
	}
	return newDocument(contentType, hour, buf.Bytes())
}

func text(body string) document {
	return newDocument("text/plain; charset=utf-8", hour, []byte(body))
}

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	for path, d := range h.fixed {
		route.Public(r, path, func(w http.ResponseWriter, r *http.Request) { send(w, r, d) })
	}
	for path, f := range map[string]http.HandlerFunc{
		"/sitemap.xml": h.sitemap, "/.well-known/security.txt": h.security,
		"/llms.txt":      func(w http.ResponseWriter, r *http.Request) { send(w, r, text(h.llms(h.current()))) },
		"/llms-full.txt": func(w http.ResponseWriter, r *http.Request) { send(w, r, h.full()) },
	} {
		route.Public(r, path, f)
	}
}

// send answers with a document; any page of the web may read it.
func send(w http.ResponseWriter, r *http.Request, d document) {
	head := w.Header()
	head.Set("Cache-Control", d.age)
	head.Set("Access-Control-Allow-Origin", "*")
	head.Set("Access-Control-Expose-Headers", "ETag, Link")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("ETag", d.etag)
	if site.Known(r, d.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	head.Set("Content-Type", d.contentType)
	head.Set("Content-Length", strconv.Itoa(len(d.body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(d.body) // the client is gone; nothing to do
	}
}
