package gather

import (
	"iter"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

// placed returns evidence with its place in a transcript.
func placed(e pick.Evidence, t *transcript.Transcript) trialset.Evidence {
	out := trialset.Evidence{Tool: e.Tool, Level: e.Level, Kind: e.Kind, Path: e.Path, Line: e.Line, Quote: e.Quote}
	var at int
	switch {
	case e.Kind == "structured":
		out.In = trialset.InStructured
		return out
	case e.Kind == "listed" && t.Listing != nil:
		out.In = trialset.InListing
		at = slices.Index(t.Listing.Imports, e.Quote)
	case e.Path != "" && e.Kind != "judge": // a judge's quote has its name
		out.In = trialset.InFiles
		at = slices.IndexFunc(t.Diff, func(f transcript.FileChange) bool { return f.Path == e.Path })
	case e.Kind == "command":
		out.In = trialset.InCommands
		at = slices.IndexFunc(t.Commands, func(c transcript.Command) bool {
			return strings.HasPrefix(strings.TrimSpace(c.Cmd), e.Quote)
		})
	default:
		if quote := find(t.FinalText, e.Quote); quote != "" {
			out.In, out.Quote = trialset.InText, quote
		}
		return out
	}
	if out.Index = at; at >= 0 {
		return out
	}
	out.In, out.Index = "", 0
	if quote := find(t.FinalText, e.Quote); e.Kind == "command" && quote != "" { // it told the user to run it
		out.In, out.Quote = trialset.InText, quote
	}
	return out
}

// find returns the part of a text that matches a quote; empty if no part does. Quotes
// have no markdown: "use Flask" matches "use [**Flask**](https://...)".
func find(text, quote string) string {
	if quote == "" || strings.Contains(text, quote) {
		return quote
	}
	haystack, needle := bare(text), bare(quote)
	at := strings.Index(haystack, needle)
	if at < 0 || needle == "" {
		return ""
	}
	from, n := 0, 0
	for i, c := range marked(text) {
		if n == at {
			from = i
		}
		if n += len(c); n >= at+len(needle) {
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

// maxAddress limits the search for the end of a link, in bytes.
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
