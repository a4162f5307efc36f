package snapshotview

import (
	"net/http"
	"strings"

	"github.com/firstpick/firstpick/server/kit/negotiate"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A Page has two forms: HTML for people and markdown for agents. The zero Page is
// empty.
type Page struct{ html, markdown *Resource }

// Page packs both forms of the page at a path of the service at base, an address
// without trailing slash. Each names the other in a Link header.
func (p *Packer) Page(base, path string, html, markdown []byte) (Page, error) {
	asHTML, err := p.Pack(htmlType, html)
	if err != nil {
		return Page{}, err
	}
	asMarkdown, err := p.Pack(markdownType, markdown)
	if err != nil {
		return Page{}, err
	}
	return linked(base, path, asHTML, asMarkdown), nil
}

const (
	htmlType     = "text/html; charset=utf-8"
	markdownType = "text/markdown; charset=utf-8"
)

// Size returns how many bytes a page has in all its encodings.
func (p Page) Size() int { return p.html.variants().size() + p.markdown.variants().size() }

func linked(base, path string, asHTML, asMarkdown *Resource) Page {
	asHTML.vary, asMarkdown.vary = []string{"Accept, Accept-Encoding"}, []string{"Accept, Accept-Encoding"}
	asHTML.link = []string{"<" + base + render.MarkdownPath(path) + `>; rel="alternate"; type="text/markdown"`}
	asMarkdown.link = []string{"<" + base + path + `>; rel="canonical"`, "<" + base + path + `>; rel="alternate"; type="text/html"`}
	return Page{asHTML, asMarkdown}
}

// SendPage answers a GET or HEAD of a page, at its own path or at that of its markdown.
// At its own path the Accept header chooses the form.
func (s *Sender) SendPage(w http.ResponseWriter, r *http.Request, p Page) {
	res := p.html
	if strings.HasSuffix(r.URL.Path, ".md") || negotiate.PrefersMarkdown(r) {
		res = p.markdown
	}
	s.Send(w, r, res)
}
