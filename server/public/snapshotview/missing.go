package snapshotview

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/negotiate"
	"github.com/firstpick/firstpick/server/kit/render"
)

// The forms of an answer, as media types.
const (
	HTML     = "text/html"
	Markdown = "text/markdown"
	JSON     = "application/json"
)

// A NotFound describes a missing page and its suggestions.
type NotFound struct {
	Error    *apierr.Error
	Near     []render.Link // pages of near names; none for most
	Fallback string        // form where Accept names none
	// HTML renders the page; nil for that of the whole site.
	HTML func() ([]byte, error)
}

// Missing answers requests for pages that are not there.
type Missing struct {
	base     string
	errors   apierr.Writer
	renderer func() *render.MissingRenderer
}

// NewMissing answers for the service at base, an address without trailing slash.
func NewMissing(base string, errors apierr.Writer) *Missing {
	return &Missing{base, errors, sync.OnceValue(render.NewMissingRenderer)}
}

// Write answers 404 in the form that the request asks for.
func (m *Missing) Write(w http.ResponseWriter, r *http.Request, n NotFound) {
	head := w.Header()
	head.Set("Vary", "Accept")
	var body []byte
	var err error
	form := missingForm(r, n.Fallback)
	switch {
	case form == JSON:
		m.errors.Write(w, r, n.Error)
		return
	case form == Markdown:
		body = m.markdown(n)
	case n.HTML != nil:
		body, err = n.HTML()
	default:
		text := n.Error.Description
		if text == apierr.NotFound().Description { // as a program is told
			text = "There is no page at this address."
		}
		body, err = m.renderer().Render(render.Missing{Text: text, Near: n.Near})
	}
	if err != nil {
		m.errors.Write(w, r, apierr.Internal(err))
		return
	}
	head.Set("Content-Type", form+"; charset=utf-8")
	head.Set("Cache-Control", "max-age=30")
	head.Set("Access-Control-Allow-Origin", "*")
	w.WriteHeader(http.StatusNotFound)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a write error means that the client disconnected
	}
}

// missingForm returns the form with the highest weight among those that the Accept
// header names. A .md path gets markdown unless the caller names JSON only.
func missingForm(r *http.Request, fallback string) string {
	if strings.HasSuffix(r.URL.Path, ".md") {
		fallback = Markdown
	}
	accept := strings.Join(r.Header["Accept"], ",")
	best, most := fallback, 0.0
	for _, form := range []string{Markdown, HTML, JSON} {
		if q, named := negotiate.MediaType(accept, form); named && q > most && (fallback != Markdown || form != HTML) {
			best, most = form, q
		}
	}
	return best
}

func (m *Missing) markdown(n NotFound) []byte {
	var b strings.Builder
	b.WriteString("# Not found\n\n" + n.Error.Description + "\n\n")
	line := func(text, path string) { b.WriteString("- [" + text + "](" + m.base + path + ")\n") }
	for _, l := range slices.Concat(n.Near, []render.Link{{Path: "/", Text: "Leaderboards"}, {Path: "/docs", Text: "Documentation"}}) {
		line(strings.NewReplacer("[", "(", "]", ")").Replace(l.Text), render.MarkdownPath(l.Path))
	}
	if len(n.Near) == 0 && len(n.Error.Suggestions) > 0 {
		b.WriteString("- Names that are there: " + strings.Join(n.Error.Suggestions, ", ") + "\n")
	}
	line("Everything that is here", "/llms.txt")
	b.WriteString("- Find a tool: " + m.base + "/search?q=NAME\n- Find words in the documentation: " + m.base + "/docs/search?q=WORDS\n")
	return []byte(b.String())
}
