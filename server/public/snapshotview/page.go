package snapshotview

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/server/kit/render"
)

// A Page says the same twice: as HTML for people and as markdown for agents. The zero
// Page is nil.
type Page struct{ html, markdown *Resource }

// Page packs both forms of the page at a path of the service at base, an address
// without trailing slash. Each names the other in a Link header.
func (p *Packer) Page(base, path string, html, markdown []byte) (Page, error) {
	asHTML, err := p.Pack("text/html; charset=utf-8", html)
	if err != nil {
		return Page{}, err
	}
	asMarkdown, err := p.Pack("text/markdown; charset=utf-8", markdown)
	if err != nil {
		return Page{}, err
	}
	asHTML.vary, asMarkdown.vary = []string{"Accept, Accept-Encoding"}, []string{"Accept, Accept-Encoding"}
	asHTML.link = []string{"<" + base + render.MarkdownPath(path) + `>; rel="alternate"; type="text/markdown"`}
	asMarkdown.link = []string{"<" + base + path + `>; rel="canonical"`, "<" + base + path + `>; rel="alternate"; type="text/html"`}
	return Page{asHTML, asMarkdown}, nil
}

// SendPage answers a GET or HEAD of a page, at its own path or at that of its markdown.
// At its own path the caller has the form that its Accept header likes better.
func (s *Sender) SendPage(w http.ResponseWriter, r *http.Request, p Page) {
	res := p.html
	if strings.HasSuffix(r.URL.Path, ".md") || WantsMarkdown(r) {
		res = p.markdown
	}
	s.Send(w, r, res)
}

// WantsMarkdown says whether an Accept header likes text/markdown at least as well as
// HTML, and names it: clients with only */* get HTML (RFC 9110, 12.5.1).
func WantsMarkdown(r *http.Request) bool {
	accept := r.Header["Accept"]
	if len(accept) == 0 {
		return false
	}
	list := strings.Join(accept, ",")
	markdown, named := liking(list, "text/markdown")
	html, _ := liking(list, "text/html")
	return named && markdown > 0 && markdown >= html
}

// liking returns how much an Accept header likes a media type, and whether it names
// that type itself rather than a range.
func liking(accept, media string) (q float64, named bool) {
	group, _, _ := strings.Cut(media, "/")
	best := 0
	for part := range strings.SplitSeq(accept, ",") {
		name, params, _ := strings.Cut(part, ";")
		precision := 0
		switch strings.ToLower(strings.TrimSpace(name)) {
		case media:
			precision = 3
		case group + "/*":
			precision = 2
		case "*/*":
			precision = 1
		}
		if precision > best {
			best, q = precision, weight(params)
		}
	}
	return q, best == 3
}

// weight returns the q of the parameters of a media range; 1 where it is missing or
// malformed.
func weight(params string) float64 {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			if q, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil && q >= 0 && q <= 1 {
				return q
			}
		}
	}
	return 1
}
