package bundle

import (
	"iter"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

// Evidence is one reason for an outcome, and where it stands in the answer.
type Evidence struct {
	Tool string `json:"tool"` // empty for what is about no tool
	// Level is how strong it is: 7 structured answer, 6 manifest, 5 code, 4
	// configuration, 3 command, 2 statement, 1 mention.
	Level int `json:"level"`
	// Kind is one of manifest, import, listed, host, env, file, command, statement,
	// rejection, mention, structured, diy, cut.
	Kind string `json:"kind"`
	// In is the field of the answer that it stands in: finalText, commands, files,
	// listing, structured; empty where that is not known. Index is the place in
	// commands, files or the imports of a listing, from 0. Line counts the added lines of the file from 1; 0 for none.
	In    string `json:"in"`
	Index int    `json:"index"`
	Path  string `json:"path"`
	Line  int    `json:"line"`
	// Quote is the text itself, so that it is found there by searching; at most 300
	// bytes where it is long, but for markdown between.
	Quote string `json:"quote"`
}

// The fields of an answer that evidence stands in.
const (
	inText       = "finalText"
	inCommands   = "commands"
	inFiles      = "files"
	inListing    = "listing"
	inStructured = "structured"
)

// placed says where evidence stands in a transcript.
func placed(e pick.Evidence, t *transcript.Transcript) Evidence {
	out := Evidence{Tool: e.Tool, Level: e.Level, Kind: e.Kind, Path: e.Path, Line: e.Line, Quote: e.Quote}
	var at int
	switch {
	case e.Kind == "structured":
		out.In = inStructured
		return out
	case e.Kind == "listed" && t.Listing != nil:
		out.In = inListing
		at = slices.Index(t.Listing.Imports, e.Quote)
	case e.Path != "":
		out.In = inFiles
		at = slices.IndexFunc(t.Diff, func(f transcript.FileChange) bool { return f.Path == e.Path })
	case e.Kind == "command":
		out.In = inCommands
		at = slices.IndexFunc(t.Commands, func(c transcript.Command) bool {
			return strings.HasPrefix(strings.TrimSpace(c.Cmd), e.Quote)
		})
	default:
		if quote := find(t.FinalText, e.Quote); quote != "" {
			out.In, out.Quote = inText, quote
		}
		return out
	}
	if out.Index = at; at < 0 {
		out.In, out.Index = "", 0
	}
	return out
}

// find returns the part of a text that a quote was made of; empty for none. Quotes
// have no markdown: "use Flask" stands in the text as "use [**Flask**](https://...)".
func find(text, quote string) string {
	if quote == "" || strings.Contains(text, quote) {
		return quote
	}
	plain, wanted := bare(text), bare(quote)
	at := strings.Index(plain, wanted)
	if at < 0 || wanted == "" {
		return ""
	}
	from, n := 0, 0
	for i, c := range marked(text) {
		if n == at {
			from = i
		}
		if n += len(c); n >= at+len(wanted) {
			return text[from : i+width(text[i:], c)]
		}
	}
	return ""
}

// bare is a text without its markdown.
func bare(text string) string {
	var b strings.Builder
	for _, c := range marked(text) {
		b.WriteString(c)
	}
	return b.String()
}

const apostrophe = "\u2019" // quotes have it as '

// width is how much of a text c was made of.
func width(text, c string) int {
	if strings.HasPrefix(text, apostrophe) {
		return len(apostrophe)
	}
	return len(c)
}

// marked gives the bytes of a text with their places and without markdown: emphasis,
// code marks, brackets, footnotes and addresses.
func marked(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := 0; i < len(text); {
			rest := text[i:]
			switch n := mark(rest); {
			case n > 0:
				i += n
			case strings.HasPrefix(rest, apostrophe):
				if !yield(i, "'") {
					return
				}
				i += len(apostrophe)
			default:
				if !yield(i, rest[:1]) {
					return
				}
				i++
			}
		}
	}
}

// maxAddress bounds how far the end of a link is looked for.
const maxAddress = 2048

// mark is the length of the markup that a text begins with.
func mark(text string) int {
	switch text[0] {
	case '*', '_', '`':
		return 1
	case '[':
		digits := len(text) - len(strings.TrimLeft(text[1:], "0123456789")) - 1
		if after := text[1+digits:]; digits > 0 && strings.HasPrefix(after, "]") && !strings.HasPrefix(after, "](") {
			return digits + 2 // a footnote
		}
		return 1
	case ']':
		if strings.HasPrefix(text, "](") {
			if end := strings.IndexByte(text[:min(len(text), maxAddress)], ')'); end > 0 {
				return end + 1
			}
		}
		return 1
	case 'h':
		if strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://") {
			if end := strings.IndexAny(text, " \t\r\n"); end > 0 {
				return end
			}
			return len(text)
		}
	}
	return 0
}
