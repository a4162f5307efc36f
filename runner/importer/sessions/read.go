package sessions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/firstpick/firstpick/runner/cliagent/stream"
)

// A file is one file while it is read.
type file struct {
	r        *reader
	path     string
	parser   stream.Parser
	promptOf promptOf // nil if the parser reads the prompts
	files    *changes
	s        Session
	lines    int
	good     int // lines that are JSON
	bad      int
	first    string // why the first bad line is bad
	main     int    // messages of the agent itself
	side     int    // messages of sub-agents
	schema   string
	isSide   bool
	parts    []string // ids and paths of the sessions of sub-agents
	last     time.Time
}

// session reads one file.
func (r *reader) session(in io.Reader, full string) (*Session, *Skip) {
	f := &file{r: r, path: full, files: newChanges(), s: Session{Path: full, Agent: r.format.agent}}
	if skip := f.read(in); skip != nil {
		return nil, skip
	}
	return f.finish()
}

func (f *file) read(in io.Reader) *Skip {
	if f.r.format.document || strings.EqualFold(filepath.Ext(f.path), ".json") {
		text, err := io.ReadAll(io.LimitReader(in, MaxLine+1))
		switch {
		case err != nil:
			return &Skip{Reason: Unreadable, Detail: withoutPath(err)}
		case len(text) > MaxLine:
			return &Skip{Reason: TooLarge, Detail: fmt.Sprintf("more than %d MiB", MaxLine>>20)}
		}
		var any json.RawMessage
		if err := json.Unmarshal(text, &any); err == nil {
			f.line(0, bytes.TrimSpace(text), false)
			return nil
		} else if f.r.format.document {
			return &Skip{Reason: Unreadable, Detail: fmt.Sprintf("JSON line %d: %v", lineOf(text, err), err)}
		}
		in = bytes.NewReader(text)
	}
	if err := stream.Lines(in, MaxLine, f.line); err != nil {
		return &Skip{Reason: Unreadable, Detail: withoutPath(err)}
	}
	return nil
}

// lineOf returns the line of a JSON error.
func lineOf(text []byte, err error) int {
	at := int64(len(text))
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = min(max(syntax.Offset, 0), at)
	}
	return 1 + bytes.Count(text[:at], []byte("\n"))
}

func (f *file) line(off int64, line []byte, cut bool) {
	f.lines++
	line = bytes.TrimPrefix(bytes.TrimSpace(line), []byte("\ufeff"))
	switch {
	case cut:
		f.badLine(fmt.Sprintf("line %d has more than %d MiB", f.lines, MaxLine>>20))
		return
	case len(line) == 0:
		return
	case !json.Valid(line):
		f.badLine(fmt.Sprintf("JSON line %d", f.lines))
		return
	}
	f.good++
	line = f.r.redact.Bytes(line)
	h := headOf(line)
	f.chain(&h)
	if f.parser == nil {
		f.schema = cmp.Or(f.schema, h.Schema)
		decode, prompt := f.r.format.choose(&h)
		if decode == nil {
			return
		}
		f.promptOf = prompt
		f.s.Agent = cmp.Or(f.s.Agent, h.Agent.Name)
		f.parser = decode(f.event)
	}
	if f.promptOf != nil {
		f.prompt(f.promptOf(&h))
	}
	if t := timeIn(line); t.After(f.last) {
		f.last = t
	}
	f.files.line(line)
	if bytes.Contains(line, []byte(`"subagent_trajectory_ref"`)) {
		f.refer(line)
	}
	f.parser.Line(0, off, line)
}

func (f *file) badLine(what string) {
	f.bad++
	f.first = cmp.Or(f.first, what)
}

// chain counts whose messages a file has.
func (f *file) chain(h *head) {
	f.isSide = f.isSide || f.parser == nil && h.isSideChain()
	switch {
	case h.Type != "user" && h.Type != "assistant":
	case h.SideChain:
		f.side++
	default:
		f.main++
	}
}

// event follows what the parser reads.
func (f *file) event(e stream.Event) {
	if e.Kind == stream.KindPrompt {
		f.prompt(e.Text)
		return
	}
	f.files.event(e)
}

func (f *file) prompt(text string) {
	text = strings.TrimSpace(text)
	if text == "" || f.s.Prompts == 1 && text == f.s.Prompt && f.files.calls == 0 {
		return
	}
	f.s.Prompts++
	f.s.Prompt = cmp.Or(f.s.Prompt, text)
}

// finish makes the session of what was read.
func (f *file) finish() (*Session, *Skip) {
	unusable := func(reason Reason, detail string) (*Session, *Skip) {
		if f.bad > 0 && reason != Unreadable {
			detail = strings.TrimPrefix(fmt.Sprintf("%s; %d unreadable lines, the first: %s", detail, f.bad, f.first), "; ")
		}
		return nil, &Skip{Reason: reason, Detail: detail}
	}
	switch {
	case f.good == 0 && f.bad > 0:
		return unusable(Unreadable, f.first)
	case f.good == 0:
		return unusable(NotSession, "empty file")
	case f.isSide, f.side > 0 && f.main == 0:
		return unusable(SideChain, "")
	case f.parser == nil && f.r.format.document && strings.HasPrefix(f.schema, "ATIF"):
		return unusable(Version, fmt.Sprintf("%.40q; known: ATIF-v1", f.schema))
	case f.parser == nil:
		return unusable(NotSession, fmt.Sprintf("no line has the form of a session of %s: want %s", f.r.Kind, f.r.format.example))
	}
	out := f.parser.End(0)
	if f.r.Kind == "cursor" && out.Session == "" {
		out.Session = strings.TrimSuffix(filepath.Base(f.path), filepath.Ext(f.path)) // as Cursor names its transcripts
	}
	f.s.ID, f.s.Model, f.s.Version = out.Session, out.Model, out.Version
	f.s.Prompt = cmp.Or(f.s.Prompt, strings.TrimSpace(f.r.redact.Text(f.r.Prompt)))
	f.s.At = f.last
	f.s.Answer.FinalText, f.s.Answer.Commands = out.Final, out.Commands
	f.s.Answer.Sources, f.s.Answer.Stop = out.Sources, out.Stop
	f.s.Answer.Diff = f.files.diff()
	f.s.Notes = append(out.Notes, f.files.notes...)
	switch {
	case out.Fail != nil:
		return unusable(NoAnswer, fmt.Sprintf("%s: %.200s", out.Fail.Reason, strings.ToValidUTF8(out.Fail.Message, "")))
	case strings.TrimSpace(out.Final) == "" && len(out.Commands) == 0 && len(f.s.Answer.Diff) == 0:
		return unusable(NoAnswer, "")
	case f.s.Prompt == "":
		return unusable(NoPrompt, "")
	}
	f.r.bad(f)
	for _, part := range f.parts {
		f.r.parts[part] = f.path
	}
	return &f.s, nil
}

// bad counts the unreadable lines of a file that is imported.
func (r *reader) bad(f *file) {
	if f.bad > 0 {
		r.report.BadLines += f.bad
		r.report.First = cmp.Or(r.report.First, f.path+": "+f.first)
	}
}
