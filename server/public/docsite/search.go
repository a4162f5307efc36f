package docsite

import (
	"encoding/json"
	"html/template"
	"net/http"
	"strings"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/negotiate"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/public/docs"
)

// found is the answer of a search as JSON.
type found struct {
	Query   string        `json:"query"`
	Results []docs.Result `json:"results"`
}

// search answers with the parts of documents that hold the words of q: as a page, as
// JSON or as markdown, by the Accept header.
func (h *Handler) search(l *library, w http.ResponseWriter, r *http.Request) {
	query := cut(strings.ToValidUTF8(r.URL.Query().Get("q"), ""))
	results := l.Search(query)
	accept := r.Header.Get("Accept")
	switch {
	case strings.Contains(accept, "application/json") && !takesHTML(r):
		for i := range results {
			results[i].Path, results[i].Markdown = h.base+results[i].Path, h.base+results[i].Markdown
		}
		body, err := json.Marshal(found{query, results})
		if err != nil {
			h.errors.Write(w, r, apierr.Internal(err))
			return
		}
		send(w, r, http.StatusOK, "application/json; charset=utf-8", append(body, '\n'))
	case negotiate.PrefersMarkdown(r):
		send(w, r, http.StatusOK, "text/markdown; charset=utf-8", h.list(results))
	default:
		h.show(l, w, r, query, results)
	}
}

// most is how much of a query is looked at and shown again, in characters.
const most = 200

func cut(s string) string {
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most])
	}
	return s
}

// list writes results as markdown. Excerpts are set in backticks, for they are cut
// out of markup.
func (h *Handler) list(results []docs.Result) []byte {
	var b strings.Builder
	b.WriteString("# Search\n\n")
	if len(results) == 0 {
		b.WriteString("Nothing found. All documents: " + h.base + "/docs.md\n")
	}
	for _, r := range results {
		title := r.Title
		if r.Heading != "" {
			title += ": " + r.Heading
		}
		b.WriteString("- [" + strings.NewReplacer("[", "(", "]", ")").Replace(title) + "](" + h.base + r.Markdown + "): `" + strings.ReplaceAll(r.Excerpt, "`", "'") + "`\n")
	}
	return []byte(b.String())
}

var results = template.Must(template.New("results").Parse(`<h1>Search</h1>
{{if not .Query}}<p>Type words above.</p>{{else if .Results}}<p>{{len .Results}} {{if eq (len .Results) 1}}result{{else}}results, best first{{end}}.</p>
<ol class="docs-hits">{{range .Results}}<li><a href="{{.Path}}">{{.Title}}{{if .Heading}}: {{.Heading}}{{end}}</a><p class="sub">{{.Excerpt}}</p></li>{{end}}</ol>
{{else}}<p>Nothing found. Try fewer words.</p>{{end}}`))

func (h *Handler) show(l *library, w http.ResponseWriter, r *http.Request, query string, hits []docs.Result) {
	var b strings.Builder
	err := results.Execute(&b, found{query, hits})
	var body []byte
	if err == nil {
		body, err = l.renderer.Render(render.Doc{
			Title: "Search", Description: "Words in the documentation.", Query: query, Sections: l.sections(nil), Body: template.HTML(b.String()), //nolint:gosec // escaped by html/template
		})
	}
	if err != nil {
		h.errors.Write(w, r, apierr.Internal(err))
		return
	}
	send(w, r, http.StatusOK, "text/html; charset=utf-8", body)
}
