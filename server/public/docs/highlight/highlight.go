// Package highlight colours code on pages: it marks the tokens of a block with
// classes, which the style sheet colours in both schemes.
package highlight

import (
	"html"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// languages are the languages of the documents. Others are not coloured: a lexer that guesses
// is of no use.
var languages = map[string]string{
	"sh": "bash", "js": "javascript", "ts": "typescript", "nginx": "nginx configuration file", "apache": "apacheconf", "caddyfile": "caddyfile", "go": "go", "html": "html",
	"json": "json", "yaml": "yaml", "python": "python", "ruby": "ruby", "php": "php", "toml": "toml", "ini": "ini",
}

// HTML returns code as HTML, with its tokens marked where the language is known. The
// text of the result is the text of the code.
func HTML(language, code string) string {
	lexer := lexers.Get(languages[language])
	if lexer == nil || languages[language] == "" {
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
