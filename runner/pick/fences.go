package pick

import (
	"strings"

	"github.com/firstpick/firstpick/runner/transcript"
)

// fences is the code in a message.
type fences struct {
	// delivered is the code that the answer hands over, as files by language.
	delivered []transcript.FileChange
	// optional is code of alternatives, which the answer shows and does not choose.
	optional []transcript.FileChange
	// commands are the shell texts among the delivered code.
	commands []transcript.Command
}

// splitFences splits a message in prose and code. Of a long message it returns the first
// and the last window, and cut is true.
func splitFences(text string) (prose string, code fences, cut bool) {
	var b strings.Builder
	var open *fence
	var before lead
	w := &window{size: len(text)}
	finish := func() {
		if len(open.lines) > 0 || !w.long() { // otherwise all of it was cut out
			code.add(open)
		}
		open = nil
	}
	for whole := range strings.Lines(text) {
		line := strings.TrimRight(whole, "\r\n")
		read := w.next(line, len(whole))
		if open != nil {
			mark := markOf(line)
			if mark.size >= open.size && mark.char == open.char && open.ends(mark) {
				finish()
				continue
			}
			if !mark.interrupts(open) {
				if len(read) > 0 {
					open.lines = append(open.lines, strings.Join(read, " "))
				}
				continue
			}
			finish() // it was never closed: it ends where the next one begins
		}
		if mark := markOf(line); mark.size > 0 {
			open = &fence{fenceMark: mark, before: before}
			continue
		}
		before.next(line)
		if len(read) < 2 {
			b.WriteString(strings.Join(read, "") + "\n")
		} else { // a paragraph ends where the middle is cut out
			b.WriteString(strings.Join(read, "\n\n") + "\n")
		}
	}
	if open != nil { // truncated inside a fence: its text was delivered
		code.add(open)
	}
	return b.String(), code, w.long()
}

// A fenceMark is a line that begins or ends a fence.
type fenceMark struct {
	char byte // ` or ~
	size int  // number of them; 0: the line is no mark
	info string
}

func markOf(line string) fenceMark {
	line = strings.TrimLeft(line, " \t>")
	if len(line) < 3 || line[0] != '`' && line[0] != '~' {
		return fenceMark{}
	}
	rest := strings.TrimLeft(line, line[:1])
	m := fenceMark{char: line[0], size: len(line) - len(rest), info: strings.TrimSpace(rest)}
	if m.size < 3 || m.char == '`' && strings.Contains(m.info, "`") { // inline code
		return fenceMark{}
	}
	return m
}

// interrupts reports whether a line inside an open fence begins another one.
func (m fenceMark) interrupts(open *fence) bool {
	return m.size >= open.size && m.char == open.char && m.info != "" && !strings.ContainsAny(m.info, " \t") && !open.isDocument()
}

// A fence is one block of code of a message, with the prose before it.
type fence struct {
	fenceMark
	lines  []string
	before lead
	depth  int // of fences inside a document
}

// isDocument reports whether a fence holds a text that may have fences of its own.
func (f *fence) isDocument() bool {
	switch f.language() {
	case "markdown", "md", "mdx":
		return true
	}
	return false
}

// ends reports whether a mark ends the fence. In a document, marks inside it pair up.
func (f *fence) ends(m fenceMark) bool {
	switch {
	case m.info != "":
		if f.isDocument() {
			f.depth++
		}
		return false
	case f.depth > 0:
		f.depth--
		return false
	}
	return true
}

// language returns the language that the fence names, in small letters.
func (f *fence) language() string {
	end := strings.IndexAny(f.info, " \t{:,=")
	if end < 0 {
		end = len(f.info)
	}
	return strings.ToLower(f.info[:end])
}

// add sorts a fence by its role.
func (c *fences) add(f *fence) {
	role := f.before.role()
	if role == roleDismissed {
		return
	}
	if ext := extension(f.language()); ext == ".sh" || ext == ".txt" && f.language() == "" {
		if role == roleDelivered {
			zero := 0
			c.commands = append(c.commands, transcript.Command{Cmd: strings.Join(prompted(f.lines), "\n"), Exit: &zero})
		}
	}
	files := []transcript.FileChange{{Path: f.path(), Added: f.lines}}
	if f.language() == "diff" || f.language() == "patch" || f.isPatch() {
		files = patched(f)
	}
	if role == roleOptional {
		c.optional = append(c.optional, files...)
	} else {
		c.delivered = append(c.delivered, files...)
	}
}

// prompted returns the commands of a session: the lines behind a prompt, if there is one.
func prompted(lines []string) []string {
	var out []string
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "$ "); ok {
			out = append(out, rest)
		}
	}
	if len(out) == 0 {
		return lines
	}
	return out
}

// isPatch reports whether a fence holds a unified diff without saying so.
func (f *fence) isPatch() bool {
	for i, line := range f.lines {
		if strings.HasPrefix(line, "+++ ") && i > 0 && strings.HasPrefix(f.lines[i-1], "--- ") {
			return true
		}
	}
	return false
}

// patched returns the files of a unified diff, with the lines that it adds.
func patched(f *fence) []transcript.FileChange {
	name := f.path()
	if extension(f.language()) == ".txt" && strings.HasPrefix(name, "answer.") {
		if name = f.sniffedPatch(); name == "" {
			name = "answer.txt"
		}
	}
	return patchFiles(name, f.lines)
}
