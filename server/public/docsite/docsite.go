// Package docsite serves the documents: each as HTML for people, as markdown at its
// address with .md behind it, and as either at its own address by the Accept header;
// and the search through them.
package docsite

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/channel/setup"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/public/docs"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// A Handler serves the documents. They do not change while it lives.
type Handler struct {
	base   string
	sender *snapshotview.Sender
	errors apierr.Writer
	absent *snapshotview.Missing
	load   func() (*library, error)
}

// A library is the documents, ready to be sent.
type library struct {
	*docs.Set
	renderer *render.DocRenderer
	pages    map[string]snapshotview.Page // by path
}

// New serves the documents that read returns, of the service at base, an address without
// trailing slash. They are made for the first who asks, which takes half a second.
func New(read func() (*docs.Set, error), base string, sender *snapshotview.Sender, errors apierr.Writer, missing *snapshotview.Missing) *Handler {
	return &Handler{base: base, sender: sender, errors: errors, absent: missing, load: sync.OnceValues(func() (*library, error) {
		set, err := read()
		if err != nil {
			return nil, err
		}
		l := &library{Set: set, renderer: render.NewDocRenderer(), pages: map[string]snapshotview.Page{}}
		pack := snapshotview.NewPacker(time.Time{}) // documents are as old as the program
		for _, p := range set.Pages {
			html, err := l.renderer.Render(l.page(p, base))
			if err != nil {
				return nil, err
			}
			if l.pages[p.Path], err = pack.Page(base, p.Path, html, p.Markdown); err != nil {
				return nil, err
			}
		}
		return l, nil
	})}
}

// Documents returns all documents.
func (h *Handler) Documents() (*docs.Set, error) {
	l, err := h.load()
	if err != nil {
		return nil, err
	}
	return l.Set, nil
}

// with calls f with the documents.
func (h *Handler) with(f func(l *library, w http.ResponseWriter, r *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		render.Guard(w.Header())
		l, err := h.load()
		if err != nil {
			h.errors.Write(w, r, apierr.Internal(err))
			return
		}
		f(l, w, r)
	}
}

// page puts a document into the frame.
func (l *library) page(p *docs.Page, base string) render.Doc {
	d := render.Doc{Title: p.Title, Description: p.Description, Path: p.Path, BaseURL: base, Body: p.HTML, Sections: l.sections(p), Group: p.Section, Wide: parentOf(p.Path) == "/docs/api"}
	if p.Path == "/docs" {
		d.Group = ""
	}
	for _, heading := range p.Headings {
		if heading.Level == 2 {
			d.Contents = append(d.Contents, render.DocLink{Title: heading.Title, Link: "#" + heading.ID})
		}
	}
	if len(d.Contents) < 3 {
		d.Contents = nil // they are in sight
	}
	before, after := l.Around(p)
	d.Before, d.After = linkTo(before), linkTo(after)
	return d
}

func linkTo(p *docs.Page) render.DocLink {
	if p == nil {
		return render.DocLink{}
	}
	return render.DocLink{Title: p.Title, Link: p.Path}
}

// sections lists all pages. Recipes are listed where one of them, or their guide, is
// shown, and so are the pages of the API.
func (l *library) sections(shown *docs.Page) []render.DocSection {
	var out []render.DocSection
	for _, p := range l.Pages {
		parent := parentOf(p.Path)
		if parent != "" && (shown == nil || shown.Path != parent && parentOf(shown.Path) != parent) {
			continue
		}
		if len(out) == 0 || out[len(out)-1].Title != p.Section {
			out = append(out, render.DocSection{Title: p.Section, Open: shown == nil || shown.Path == "/docs" || shown.Section == p.Section})
		}
		s := &out[len(out)-1]
		_, short, found := strings.Cut(p.Title, ": ")
		if !found || parent == "" {
			short = p.Title
		}
		s.Links = append(s.Links, render.DocLink{Title: short, Link: p.Path, Here: p == shown, Under: parent != ""})
	}
	return out
}

// parentOf returns the page to which one of many of a kind belongs, or "".
func parentOf(path string) string {
	for _, parent := range []string{"/setup", "/docs/api"} {
		if strings.HasPrefix(path, parent+"/") {
			return parent
		}
	}
	return ""
}

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	page, search := h.with(h.serve), h.with(h.search)
	for path, f := range map[string]http.HandlerFunc{
		"/docs": page, "/docs.md": page, "/docs/*": page, "/docs/search": search, "/docs/attribution.md": page, "/docs/webhooks.md": page,
		"/docs/verify.py": h.script,
		"/setup":          page, "/setup.md": page, "/setup/{stack}": page, "/setup/{stack}.md": page,
	} {
		route.Public(r, path, f)
	}
}

// script serves the program of the page on verification.
func (h *Handler) script(w http.ResponseWriter, r *http.Request) {
	data, err := docs.VerifyScript()
	if err != nil {
		h.errors.Write(w, r, apierr.Internal(err))
		return
	}
	render.Guard(w.Header())
	w.Header().Set("Content-Type", "text/x-python; charset=utf-8")
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(data)))
	http.ServeContent(w, r, "verify.py", time.Time{}, bytes.NewReader(data))
}

func (h *Handler) serve(l *library, w http.ResponseWriter, r *http.Request) {
	path := strings.TrimSuffix(r.URL.Path, ".md")
	if page, ok := l.pages[path]; ok {
		h.sender.SendPage(w, r, page)
		return
	}
	if trimmed := strings.TrimRight(path, "/"); trimmed != path && l.Page(trimmed) != nil {
		http.Redirect(w, r, trimmed, http.StatusPermanentRedirect)
		return
	}
	h.missing(l, w, r)
}

// missing answers 404 for an unknown document.
func (h *Handler) missing(l *library, w http.ResponseWriter, r *http.Request) {
	e := apierr.NotFound()
	if strings.HasPrefix(r.URL.Path, "/setup/") {
		e.Description, e.Suggestions = "There is no recipe of this name; suggestions holds all there are. /setup.md says how to choose.", setup.Slugs()
	} else {
		e.Description = "There is no document of this name. /docs.md lists all, and /docs/search?q= finds words in them."
	}
	h.absent.Write(w, r, snapshotview.NotFound{Error: e, Fallback: snapshotview.JSON, HTML: func() ([]byte, error) {
		return l.renderer.Render(render.Doc{
			Title: "Not found", Description: "There is no such document.", Sections: l.sections(nil),
			Body: `<h1>Not found</h1><p>There is no document of this name. Search for it, or choose one from the list.</p>`,
		})
	}})
}

// takesHTML reports whether an Accept header names HTML, as those of browsers do.
func takesHTML(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

// send sends a response that was rendered for this request.
func send(w http.ResponseWriter, r *http.Request, status int, contentType string, body []byte) {
	head := w.Header()
	head.Set("Content-Type", contentType)
	head.Set("Cache-Control", "public, max-age=60")
	head.Set("Vary", "Accept")
	head.Set("Access-Control-Allow-Origin", "*")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a write error means that the client disconnected
	}
}
