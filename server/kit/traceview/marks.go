package traceview

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/publish/trialset"
)

// A Piece is a part of a text. Marks are the evidence that covers it, the strongest
// first; none for most.
type Piece struct {
	Text  string
	Marks []Mark
	Look  Look
}

// A Mark is evidence at its place. Number counts a trial's evidence from 1, and
// First says that it begins here, so that a link finds it.
type Mark struct {
	Number int
	First  bool
	Tool   string
	Kind   Term
}

// A quote is evidence with a place in a text.
type quote struct {
	number int
	tool   string
	*trialset.Evidence
}

// markText cuts a text where evidence begins and ends. Pieces, put together, are the
// text. A quote that is not there marks nothing.
func markText(text string, quotes []quote) []Piece { return markProse(text, quotes, nil) }

// markProse is markText for a text with looks, which are sorted and do not overlap.
func markProse(text string, quotes []quote, looks []styled) []Piece {
	type span struct {
		from, to int
		quote
	}
	var spans []span
	cuts := []int{0, len(text)}
	for _, q := range quotes {
		if q.Quote == "" {
			continue
		}
		if from := strings.Index(text, q.Quote); from >= 0 {
			spans = append(spans, span{from, from + len(q.Quote), q})
			cuts = append(cuts, from, from+len(q.Quote))
		}
	}
	for _, l := range looks {
		cuts = append(cuts, l.from, l.to)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var out []Piece
	for i := 0; i+1 < len(cuts); i++ {
		p := Piece{Text: Visible(text[cuts[i]:cuts[i+1]])}
		for _, s := range spans {
			if s.from <= cuts[i] && cuts[i+1] <= s.to {
				p.Marks = append(p.Marks, Mark{s.number, s.from == cuts[i], s.tool, Of(kinds(), s.Kind)})
			}
		}
		for len(looks) > 0 && looks[0].to <= cuts[i] {
			looks = looks[1:]
		}
		if len(looks) > 0 && looks[0].from <= cuts[i] {
			p.Look = looks[0].look
		}
		out = append(out, p)
	}
	return out
}

// Visible writes out what would not be seen, or would make text look like another:
// control characters (terminals' escape sequences among them), and marks that turn
// the direction of the following text.
func Visible(text string) string {
	if !strings.ContainsFunc(text, hides) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, c := range text {
		switch {
		case hides(c):
			fmt.Fprintf(&b, "⟨U+%04X⟩", c)
		default:
			b.WriteRune(c) // invalid UTF-8 becomes U+FFFD
		}
	}
	return b.String()
}

func hides(c rune) bool {
	switch {
	case c == '\n' || c == '\t' || c == '\r':
		return false
	case c < ' ' || c >= 0x7f && c < 0xa0: // C0, delete, C1
		return true
	case c == 0x61c || c == 0x200e || c == 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069: // directions
		return true
	case c >= 0x200b && c <= 0x200d || c == 0x2060 || c == 0xfeff: // of no width
		return true
	}
	return c >= 0xe0000 && c <= 0xe007f // tags
}

// cut shortens a text to about most bytes, at a whole character. Evidence in the rest
// is still in the list of evidence.
func cut(text string, most int) (kept string, left int) {
	kept = inert.Truncate(text, most)
	return kept, len(text) - len(kept)
}
