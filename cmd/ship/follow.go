package ship

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

const (
	// afterglow is for how long a log that was renamed is watched: servers write to
	// it until they are signalled to open the new one.
	afterglow = 30 * time.Second
	// searchTime is for how long the copy of a truncated log is looked for, and
	// settled how old a packed one must be not to be under way.
	searchTime = time.Minute
	settled    = 2 * time.Second
	// clockSlack is how much later a file may have been written than it says.
	clockSlack = time.Second
)

// A follower reads the lines written under one path, through rotations.
type follower struct {
	path    string
	once    bool
	state   *state
	say     func(string) // logs problems that lose lines
	current *source      // nil for a moment, when the path names no file
	older   []*source    // renamed or copied ones that have lines left
	lost    []search
	started bool
	over    bool // nothing will come any more
}

// A search is for the rest of a log that is not at its path any more.
type search struct {
	mark  *mark
	until time.Time
}

// newFollower opens the file. It must be there.
func newFollower(path string, once bool, st *state, say func(string)) (*follower, error) {
	f := &follower{path: path, once: once, state: st, say: say}
	var err error
	if f.current, err = openSource(path); err != nil {
		return nil, err
	}
	return f, nil
}

// resume finds the unread part of the path's logs.
func (f *follower) resume(now time.Time) {
	f.started = true
	if f.current.final {
		return
	}
	if f.current.head == nil {
		_ = f.current.identify(f.state) // next reports the error
	}
	var last time.Time
	for _, m := range slices.Clone(f.state.marks) {
		if m.Path != absolute(f.path) {
			continue
		}
		if !m.Done && m.open == nil {
			f.lost = append(f.lost, search{m, now.Add(searchTime)})
		}
		if m.Seen.After(last) {
			last = m.Seen
		}
	}
	f.search(now)
	if there, err := f.current.file.Stat(); err == nil && !last.IsZero() {
		f.between(last.Add(-clockSlack), there, now)
	}
	if m := f.current.mark; m != nil && m.Seen.IsZero() {
		m.Seen = now.UTC()
	}
}

// sources returns the open logs, oldest first.
func (f *follower) sources() []*source {
	if f.current == nil {
		return f.older
	}
	return append(slices.Clone(f.older), f.current)
}

// look detects rotations since its last call.
func (f *follower) look(now time.Time) error {
	if !f.started {
		f.resume(now)
	}
	f.search(now)
	f.older = slices.DeleteFunc(f.older, func(s *source) bool {
		if s.ended && (f.once || s.final || now.Sub(s.grew) >= afterglow) {
			s.final = true
			s.setMark(now)
			s.close()
			return true
		}
		return false
	})
	over := (f.once || f.current != nil && f.current.final) && len(f.older)+len(f.lost) == 0 && f.current != nil && f.current.ended
	if over && !f.over {
		f.torn()
	}
	f.over = over
	if f.current != nil && f.current.final {
		return nil
	}
	return f.rotated(now)
}

// torn reports a last line that is still being written. A compressed log is complete.
func (f *follower) torn() {
	if f.current.final {
		return
	}
	if info, err := f.current.file.Stat(); err == nil && info.Size() > f.current.lines.mark {
		f.say(fmt.Sprintf("%s: the line after line %d has no end yet, and is left for the next run", f.path, f.current.lines.count))
	}
}

// rotated sees whether the path names another file, or the file starts over.
func (f *follower) rotated(now time.Time) error {
	there, err := os.Stat(f.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil // it was renamed, and the new one is not there yet
	}
	if err != nil {
		return err
	}
	was := f.current
	if was != nil {
		is, err := was.file.Stat()
		if err != nil {
			return err
		}
		if os.SameFile(there, is) {
			replaced, err := was.replaced()
			if err != nil || !replaced {
				return err
			}
			if was.setMark(now); was.mark != nil {
				f.lost = append(f.lost, search{was.mark, now.Add(searchTime)})
			}
			was.close()
			f.current = nil
			f.search(now)
		} else {
			f.older = append(f.older, was)
			was.ended, was.grew = false, now
			f.current = nil
			f.between(is.ModTime(), there, now)
		}
	}
	f.current, err = openSource(f.path)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return err
}

// search looks for the rest of lost logs under their new names.
func (f *follower) search(now time.Time) {
	f.lost = slices.DeleteFunc(f.lost, func(s search) bool {
		if s.mark.open != nil || s.mark.Done {
			return true
		}
		for _, sib := range f.siblings() {
			if f.unsettled(sib, now) {
				continue
			}
			if src := f.open(sib.path, now); src != nil && src.mark == s.mark {
				f.older = append(f.older, src)
				if there, err := os.Stat(f.path); err == nil {
					f.between(sib.info.ModTime(), there, now)
				}
				return true
			} else if src != nil {
				src.forget(f.state)
			}
		}
		if !f.once && now.Before(s.until) {
			return false
		}
		s.mark.Done = true
		f.say(fmt.Sprintf("%s was rotated or emptied, and its old file is not beside it: what followed line %d, if anything did, is lost", f.path, s.mark.Line))
		return true
	})
}

// between opens the logs that were written after a time, and came before the one at
// the path: rotations may go by unseen. Those that were read are known, and left.
func (f *follower) between(after time.Time, there os.FileInfo, now time.Time) {
	for _, sib := range f.siblings() {
		if !sib.info.ModTime().After(after) || os.SameFile(sib.info, there) || f.unsettled(sib, now) {
			continue
		}
		if src := f.open(sib.path, now); src != nil {
			f.older = append(f.older, src)
		}
	}
}

// unsettled reports whether a log may still be being packed.
func (f *follower) unsettled(sib sibling, now time.Time) bool {
	return strings.HasSuffix(sib.path, ".gz") && now.Sub(sib.info.ModTime()) < settled && !f.once
}

// open opens a rotated log; nil if it cannot be read, or was read, or is.
func (f *follower) open(path string, now time.Time) *source {
	src, err := openSource(path)
	if err != nil {
		return nil
	}
	if err := src.identify(f.state); err != nil || src.mark == nil || src.mark.Done {
		src.close()
		return nil
	}
	if src.mark.Offset == 0 && src.mark.Line == 0 {
		src.mark.Path = absolute(f.path)
	}
	src.grew = now // it may still be written to
	return src
}

// forget closes a source that was opened in vain.
func (s *source) forget(st *state) {
	s.close()
	if s.mark.Offset == 0 {
		st.marks = slices.DeleteFunc(st.marks, func(m *mark) bool { return m == s.mark })
	}
}

type sibling struct {
	path string
	info os.FileInfo
}

// siblings returns the files in the same folder that have the name of a rotated log
// of it, oldest first.
func (f *follower) siblings() []sibling {
	dir, base := filepath.Split(f.path)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return nil
	}
	var out []sibling
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && rotatedName(base, e.Name()) {
			out = append(out, sibling{filepath.Join(dir, e.Name()), info})
		}
	}
	sorting.StableFunc(out, func(a, b sibling) int { return a.info.ModTime().Compare(b.info.ModTime()) })
	return out
}

// rotatedName reports whether name is one that logrotate or Caddy gives to a log:
// access.log.1, access.log-20261121.gz, access-2026-11-21T10-00-00.000.log.
func rotatedName(base, name string) bool {
	digit := func(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }
	if rest, ok := strings.CutPrefix(name, base); ok && rest != "" {
		return (rest[0] == '.' || rest[0] == '-') && digit(rest[1:])
	}
	ext := filepath.Ext(base)
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(base, ext)+"-")
	return ok && ext != "" && digit(rest) && (strings.HasSuffix(rest, ext) || strings.HasSuffix(rest, ext+".gz"))
}

func (f *follower) close() {
	for _, s := range f.sources() {
		s.close()
	}
}
