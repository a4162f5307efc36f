package render

import (
	"bytes"
	"strings"
	"text/template"
)

// MarkdownPath returns the path of the markdown form of a page.
func MarkdownPath(path string) string {
	if path == "/" {
		return "/index.md"
	}
	return path + ".md"
}

// PagePath returns the path of the page that a path of either form belongs to.
func PagePath(path string) string {
	if path == "/index.md" {
		return "/"
	}
	return strings.TrimSuffix(path, ".md")
}

// Markdown renders the pages of Pages as markdown, by the path of the page: the same
// numbers, with absolute URLs.
func Markdown(in Input) map[string]Page {
	functions := functions()
	functions["text"] = escapeMarkdown
	r := writer{in, template.Must(template.New("").Funcs(functions).ParseFS(templates, "templates/*.md"))}
	out := map[string]Page{"/": r.page("index", in.Boards)}
	for i := range in.Boards {
		out["/leaderboards/"+in.Boards[i].Category] = r.page("board", &in.Boards[i])
	}
	for i := range in.Observed {
		out["/observed/"+in.Observed[i].Category] = r.page("observed", &in.Observed[i])
	}
	for slug, t := range tools(in.Boards) {
		out["/tools/"+slug] = r.page("tool", t)
	}
	return out
}

type writer struct {
	in   Input
	tmpl *template.Template
}

func (w writer) page(name string, data any) Page {
	var buf bytes.Buffer
	err := w.tmpl.ExecuteTemplate(&buf, name, struct {
		Input
		Data any
	}{w.in, data})
	return Page{buf.Bytes(), err}
}

// escapeMarkdown escapes markup and the end of a table cell.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for _, c := range s {
		switch {
		case c < ' ':
			c = ' '
		case strings.ContainsRune("\\`*_[]<>|#~", c):
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}
