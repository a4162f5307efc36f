package docs

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"

	"github.com/firstpick/firstpick/server/public/docs/highlight"
)

// code writes a block in a frame, to which the script adds a button that copies it. A
// command and the answer below it share a frame, so that they can stand side by side.
func (m *markup) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	language := languageOf(n, source)
	if language == "sh" && isAnswer(n.NextSibling(), source) {
		_, _ = w.WriteString(`<div class="pair">` + "\n") // into memory
	}
	class := ""
	if language != "" {
		class = ` class="language-` + string(util.EscapeHTML([]byte(language))) + `"`
	}
	var text strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		text.Write(line.Value(source))
	}
	_, _ = w.WriteString(`<div class="code"><pre class="scroll" tabindex="0"><code` + class + ">" + highlight.HTML(language, text.String()) + "</code></pre></div>\n") // into memory
	if isAnswer(n, source) && languageOf(n.PreviousSibling(), source) == "sh" {
		_, _ = w.WriteString("</div>\n") // into memory
	}
	return ast.WalkContinue, nil
}

// languageOf returns the language of a fenced block, "" for any other node.
func languageOf(n ast.Node, source []byte) string {
	if fenced, ok := n.(*ast.FencedCodeBlock); ok {
		return string(fenced.Language(source))
	}
	return ""
}

// isAnswer reports whether a block shows what a server answers.
func isAnswer(n ast.Node, source []byte) bool {
	language := languageOf(n, source)
	return language == "json" || language == "yaml"
}
