// Package sessions reads the folders in which coding agents keep their sessions, and the
// event streams of their programs, as trials for an import: one session is one trial. Every
// file that it visits is a session or is skipped with a reason.
package sessions

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	size   int
	files  int
}

// Read reads files and folders. Symbolic links that leave a folder are not followed.
func Read(o Options, paths []string) (Report, error) {
	f, ok := formats()[o.Kind]
	if !ok {
		return Report{}, fmt.Errorf("unknown kind %q; known: %s", o.Kind, strings.Join(Kinds(), ", "))
	}
	r := &reader{Options: o, format: f, redact: redact.New(), seen: map[string]string{}}
	for _, path := range paths {
		if err := r.path(path); err != nil {
			return Report{}, err
		}
	}
	return r.report, nil
}

// path reads one argument.
func (r *reader) path(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	dir, name := path, "."
	if !info.IsDir() {
		dir, name = filepath.Split(path)
	}
	root, err := os.OpenRoot(cmp.Or(dir, "."))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return fs.WalkDir(root.FS(), name, func(rel string, d fs.DirEntry, err error) error {
		full := filepath.Join(dir, filepath.FromSlash(rel))
		if r.files++; r.files > maxFiles {
			return fmt.Errorf("%s: more than %d files; import fewer folders at a time", path, maxFiles)
		}
		switch {
		case err != nil && rel == name:
			return err
		case err != nil:
			r.report.Files++
			r.skip(full, Unreadable, withoutPath(err))
			return nil
		case d.IsDir():
			return nil
		}
		r.report.Files++
		r.file(root, rel, full)
		return nil
	})
}

// file reads one file.
func (r *reader) file(root *os.Root, rel, full string) {
	info, err := root.Stat(rel)
	switch {
	case err != nil && isLink(root, rel):
		r.skip(full, NotSession, "symbolic link out of the folder, or to nothing")
		return
	case err != nil:
		r.skip(full, Unreadable, withoutPath(err))
		return
	case info.IsDir():
		r.skip(full, NotSession, "symbolic link to a folder")
		return
	case !info.Mode().IsRegular():
		r.skip(full, NotSession, "not a regular file")
		return
	}
	if why := r.format.unlikely(rel); why != "" {
		r.skip(full, NotSession, why)
		return
	}
	f, err := root.Open(rel)
	if err != nil {
		r.skip(full, Unreadable, withoutPath(err))
		return
	}
	defer func() { _ = f.Close() }()
	s, skip := r.session(f, full)
	if s != nil && s.At.IsZero() {
		s.At = info.ModTime()
	}
	switch {
	case skip != nil:
		r.skip(full, skip.Reason, skip.Detail)
	default:
		r.keep(s)
	}
}

// keep adds a session unless it is a duplicate or too much.
func (r *reader) keep(s *Session) {
	if s.ID != "" {
		if first, ok := r.seen[s.ID]; ok {
			r.skip(s.Path, Duplicate, "session "+s.ID+" is in "+first+" too")
			return
		}
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
	r.seen[s.ID] = s.Path
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

func isLink(root *os.Root, rel string) bool {
	info, err := root.Lstat(rel)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// withoutPath is the error of an operation on a file whose path is reported beside it.
func withoutPath(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
