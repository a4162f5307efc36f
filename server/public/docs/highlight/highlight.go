// Package highlight colours code on pages: it marks the tokens of a block with
// classes, which the style sheet colours in both schemes.
package highlight

import (
	"embed"
	"html"
	"path"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
)

// The lexers are those of chroma (lexers/LICENSE). Its own package of lexers parses 300
// files at the start of every program that imports it; these are parsed on first use.
//
//go:embed lexers/*.xml
var lexers embed.FS

// A Highlighter knows the languages of the documents. Its zero value is ready to use.
type Highlighter struct {
	mu    sync.Mutex
	ready map[string]chroma.Lexer // by file; nil for a file that cannot be used
}

// fileOf returns the lexer's file of a language, or "" where there is none.
func fileOf(language string) string {
	switch language {
	case "sh":
		return "bash"
	case "js":
		return "javascript"
	case "ts":
		return "typescript"
	case "nginx":
		return "nginx_configuration_file"
	case "apache":
		return "apacheconf"
	case "json", "yaml", "python", "ruby", "php", "toml", "ini":
		return language
	}
	return ""
}

// HTML returns code as HTML, with its tokens marked where the language is known. The
// text of the result is the text of the code.
func (h *Highlighter) HTML(language, code string) string {
	lexer := h.lexer(fileOf(language))
	if lexer == nil {
		return html.EscapeString(code)
	}
	tokens, err := chroma.Tokenise(lexer, &chroma.TokeniseOptions{State: "root"}, code)
	if err != nil {
		return html.EscapeString(code)
	}
	var b, text strings.Builder
	class, run := "", ""
	flush := func() {
		switch {
		case run == "":
		case class == "":
			b.WriteString(html.EscapeString(run))
		default:
			b.WriteString(`<span class="` + class + `">` + html.EscapeString(run) + "</span>")
		}
		run = ""
	}
	for _, t := range tokens {
		text.WriteString(t.Value)
		if c := classOf(t.Type); c != class {
			flush()
			class = c
		}
		run += t.Value
	}
	flush()
	if text.String() != code { // a lexer that changes the text is of no use
		return html.EscapeString(code)
	}
	return b.String()
}

func (h *Highlighter) lexer(file string) chroma.Lexer {
	if file == "" {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	l, ok := h.ready[file]
	if !ok {
		if made, err := chroma.NewXMLLexer(lexers, path.Join("lexers", file+".xml")); err == nil {
			l = made
		}
		if h.ready == nil {
			h.ready = map[string]chroma.Lexer{}
		}
		h.ready[file] = l
	}
	return l
}

// classOf returns the class of a kind of token, "" for plain text: comments, strings,
// numbers and constants, keys, words of the language.
func classOf(t chroma.TokenType) string {
	switch {
	case t == chroma.CommentPreproc:
		return "hk"
	case t.InCategory(chroma.Comment):
		return "hc"
	case t == chroma.NameTag, t == chroma.NameAttribute, t == chroma.NameVariable, t == chroma.NameProperty, t == chroma.NameVariableInstance:
		return "ht"
	case t.InSubCategory(chroma.LiteralNumber), t == chroma.KeywordConstant:
		return "hn"
	case t.InCategory(chroma.Literal):
		return "hs"
	case t.InCategory(chroma.Keyword), t == chroma.NameBuiltin, t == chroma.NameFunction, t == chroma.NameDecorator:
		return "hk"
	}
	return ""
}
