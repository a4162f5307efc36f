package pick

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/runner/transcript"
)

// Window is the size in bytes of the parts of a text that are read: the first and the
// last. The middle is skipped, because an agent decides the length of its answer and
// reading costs far more than sending.
const Window = 256 << 10

// kindCut marks a result in whose answer a text was longer than both windows.
const kindCut = "cut"

// A window cuts the middle out of one text that arrives in pieces.
type window struct {
	size int // of the text, in bytes
	at   int // where the next piece begins
}

// long reports whether the text has a middle to cut out.
func (w *window) long() bool { return w.size > 2*Window }

// next returns the part of the next piece to read: all of it, its parts in the first and
// the last window, or nothing. length is the length of the piece in the text.
func (w *window) next(piece string, length int) []string {
	from := w.at
	w.at += length
	head, tail := Window-from, w.size-Window-from // where the windows end and begin, in the piece
	if !w.long() || len(piece) <= head || tail <= 0 {
		return []string{piece}
	}
	var out []string
	if head > 0 {
		out = append(out, inert.Truncate(piece, head))
	}
	if tail < len(piece) {
		out = append(out, behind(piece, tail))
	}
	return out
}

// behind returns a text from byte n on, or from the next character.
func behind(text string, n int) string {
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	return text[n:]
}

// inWindow returns the files and commands with the middle of long texts cut out, and
// the names of the cut texts. Cut lines stay as empty ones, so that line numbers hold.
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

// lengthOf returns the length of lines with their newlines.
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
