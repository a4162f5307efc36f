package pick

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/firstpick/firstpick/runner/transcript"
)

// Window is how much of a text is read at its beginning, and again at its end, in
// bytes. What lies between is skipped: an answer's length is its author's choice, and
// reading costs much more than sending.
const Window = 256 << 10

// kindCut marks a result in whose answer a text was longer than both windows.
const kindCut = "cut"

// A window cuts the middle out of one text that is handed in piece by piece.
type window struct {
	size int // of the text, in bytes
	at   int // where the next piece begins
}

// long reports whether the text has a middle to cut out.
func (w *window) long() bool { return w.size > 2*Window }

// next returns what is read of the next piece: all of it, its parts in the first and
// the last window, or nothing. taken is how long the piece is in the text.
func (w *window) next(piece string, taken int) []string {
	from := w.at
	w.at += taken
	head, tail := Window-from, w.size-Window-from // where the windows end and begin, in the piece
	if !w.long() || len(piece) <= head || tail <= 0 {
		return []string{piece}
	}
	var out []string
	if head > 0 {
		out = append(out, upTo(piece, head))
	}
	if tail < len(piece) {
		out = append(out, behind(piece, tail))
	}
	return out
}

// behind is the rest of a text from byte n on, or from the next character.
func behind(text string, n int) string {
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	return text[n:]
}

// inWindow returns the files and commands with the middle of long texts cut out, and
// the names of what was cut. Cut lines stay as empty ones, so that numbers of lines
// hold.
func inWindow(t transcript.Transcript) (diff []transcript.FileChange, commands []transcript.Command, cut []string) {
	diff, commands = t.Diff, t.Commands
	for i, f := range t.Diff {
		w := &window{size: lengthOf(f.Added)}
		if !w.long() {
			continue
		}
		if len(cut) == 0 {
			diff = append([]transcript.FileChange(nil), t.Diff...)
		}
		added := make([]string, len(f.Added))
		for n, line := range f.Added {
			added[n] = strings.Join(w.next(line, len(line)+1), " ")
		}
		diff[i].Added = added
		cut = append(cut, f.Path)
	}
	files := len(cut)
	for i, c := range t.Commands {
		w := &window{size: len(c.Cmd)}
		if !w.long() {
			continue
		}
		if len(cut) == files {
			commands = append([]transcript.Command(nil), t.Commands...)
		}
		commands[i].Cmd = strings.Join(w.next(c.Cmd, len(c.Cmd)), "\n")
		cut = append(cut, fmt.Sprintf("command %d", i+1))
	}
	return diff, commands, cut
}

// lengthOf is the length of lines with their newlines.
func lengthOf(lines []string) int {
	n := 0
	for _, l := range lines {
		n += len(l) + 1
	}
	return n
}

// markCut adds the evidence that texts were read in part.
func markCut(r *Result, cut []string) {
	if len(cut) == 0 {
		return
	}
	what := cut[0]
	if more := len(cut) - 1; more > 0 {
		what = fmt.Sprintf("%s and %d more", what, more)
	}
	r.Evidence = append(r.Evidence[:min(len(r.Evidence), maxEvidence-1)], Evidence{Kind: kindCut, Quote: clipQuote(fmt.Sprintf("only the first and last %d KiB of %s were read", Window>>10, what))})
}
