// Package sessions reads the folders in which coding agents keep their sessions, and the
// event streams of their programs, as trials for an import: one session is one trial. Every
// file that it visits is a session or is skipped with a reason.
package sessions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/runner/redact"
	"github.com/firstpick/firstpick/runner/transcript"
)

// Limits, in bytes if nothing else is said.
const (
	MaxLine   = 64 << 20  // of one line, and of a file that is one JSON document
	MaxTotal  = 512 << 20 // of the transcripts of one import
	maxPrompt = 64 << 10  // of a prompt
	maxText   = 2 << 20   // of the lines that one session adds to files
	maxFiles  = 1_000_000 // files and folders of one import
)

// A Session is one session of an agent.
type Session struct {
	Path    string // of its file
	Agent   string // name of the program
	ID      string // empty if the file has none
	Model   string // empty if the file has none
	Version string // of the program
	Prompt  string // the user's first prompt
	Prompts int    // of the user, the first included
	At      time.Time
	Answer  transcript.Transcript
	// Notes list what the transcript lacks because of limits.
	Notes []string
}

// A Reason is why a file or session is skipped.
type Reason string

// The reasons, in the order of reports.
const (
	NotSession Reason = "not a session"
	Unreadable Reason = "unreadable"
	Version    Reason = "unknown version"
	SideChain  Reason = "side chain of a sub-agent"
	NoPrompt   Reason = "no prompt"
	NoAnswer   Reason = "no answer"
	NoCategory Reason = "no category"
	Duplicate  Reason = "duplicate session"
	TooLarge   Reason = "too large"
)

// Reasons returns all reasons.
func Reasons() []Reason {
	return []Reason{NotSession, Unreadable, Version, SideChain, NoPrompt, NoAnswer, NoCategory, Duplicate, TooLarge}
}

// A Skip is a file that was not imported.
type Skip struct {
	Path   string
	Reason Reason
	Detail string
}

// A Report counts what an import read. Files is the sum of Sessions and the skipped ones
// that were no session.
type Report struct {
	Files    int
	Sessions []Session
	Skipped  []Skip
	// BadLines are lines that are not JSON or exceed MaxLine, in files that were read
	// all the same; First is the place of the first.
	BadLines int
	First    string
	Notes    []string // by file
}

// Options say what to read.
type Options struct {
	Kind string // one of Kinds
	// Prompt is the prompt of the streams that do not have it.
	Prompt string
	Now    time.Time // for files without any time
}

type reader struct {
	Options
	format format
	redact *redact.Redactor
	report Report
	seen   map[string]string // the file of each session
	parts  map[string]string // ids and paths of the sessions of sub-agents, with the file that names them
	size   int
	files  int
}

// Read reads files and folders. Symbolic links that leave a folder are not followed.
func Read(o Options, paths []string) (Report, error) {
	f, ok := formats()[o.Kind]
	if !ok {
		return Report{}, fmt.Errorf("unknown kind %q; known: %s", o.Kind, strings.Join(Kinds(), ", "))
	}
	r := &reader{Options: o, format: f, redact: redact.New(), seen: map[string]string{}, parts: map[string]string{}}
	for _, path := range paths {
		if err := r.path(path); err != nil {
			return Report{}, err
		}
	}
	r.dropParts()
	return r.report, nil
}

// dropParts skips the sessions that another one names as those of its sub-agents.
func (r *reader) dropParts() {
	r.report.Sessions = slices.DeleteFunc(r.report.Sessions, func(s Session) bool {
		parent, ok := r.parts[s.ID]
		if !ok || s.ID == "" {
			parent, ok = r.parts[s.Path]
		}
		if ok {
			r.skip(s.Path, SideChain, "of "+parent)
		}
		return ok
	})
}

// keep adds a session unless it is a duplicate or too much.
func (r *reader) keep(s *Session) {
	id := cmp.Or(s.ID, s.Path)
	if first, ok := r.seen[id]; ok {
		r.skip(s.Path, Duplicate, "session "+id+" is in "+first+" too")
		return
	}
	size := len(s.Prompt) + sizeOf(&s.Answer)
	switch {
	case len(s.Prompt) > maxPrompt:
		r.skip(s.Path, TooLarge, fmt.Sprintf("the prompt has more than %d KiB", maxPrompt>>10))
		return
	case r.size+size > MaxTotal:
		r.skip(s.Path, TooLarge, fmt.Sprintf("the sessions have more than %d MiB together: import fewer folders at a time", MaxTotal>>20))
		return
	}
	r.size += size
	r.seen[id] = s.Path
	r.report.Sessions = append(r.report.Sessions, *s)
	for _, n := range s.Notes {
		r.report.Notes = append(r.report.Notes, s.Path+": "+n)
	}
}

func (r *reader) skip(path string, reason Reason, detail string) {
	r.report.Skipped = append(r.report.Skipped, Skip{path, reason, r.redact.Text(detail)})
}

func sizeOf(t *transcript.Transcript) int {
	n := len(t.FinalText)
	for _, c := range t.Commands {
		n += len(c.Cmd)
	}
	for _, s := range t.Sources {
		n += len(s.URL)
	}
	for _, f := range t.Diff {
		n += len(f.Path)
		for _, line := range f.Added {
			n += len(line) + 16
		}
	}
	return n
}
