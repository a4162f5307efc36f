package trialset

import (
	"context"
	"errors"
	"io"
	"slices"
)

// Unresolved as Filter.Outcome selects the ambiguous trials that no rule decided.
const Unresolved = "unresolved"

// A Filter selects trials. Empty fields select everything.
type Filter struct {
	Agent, Outcome, Picked, Prompt string
}

// chunk is how many entries are read at once.
const chunk = 1024

// A matcher is a filter in the numbers of an index; -1 selects everything.
type matcher struct {
	agent, outcome, picked, prompt int64
	// unresolved selects only trials that no rule decided.
	unresolved bool
	// none means that a name does not occur, so that no entry matches.
	none bool
}

func newMatcher(n *names, f Filter) matcher {
	var m matcher
	place := func(list []string, name string) int64 {
		if name == "" {
			return -1
		}
		i := slices.Index(list, name)
		m.none = m.none || i < 0
		return int64(i)
	}
	if m.unresolved = f.Outcome == Unresolved; m.unresolved {
		f.Outcome = ""
	}
	m.agent, m.outcome = place(n.Agents, f.Agent), place(n.Outcomes, f.Outcome)
	m.picked, m.prompt = place(n.Picked, f.Picked), place(n.Prompts, f.Prompt)
	return m
}

func (m *matcher) takes(e *indexEntry) bool {
	return (!m.unresolved || e.Unresolved) && (m.agent < 0 || m.agent == int64(e.Agent)) && (m.outcome < 0 || m.outcome == int64(e.Outcome)) &&
		(m.picked < 0 || m.picked == int64(e.Picked)) && (m.prompt < 0 || m.prompt == int64(e.Prompt))
}

// chunks calls fn with blocks of encoded index entries, starting at entry from, until
// fn returns false.
func (s *Set) chunks(ctx context.Context, from int64, fn func(from int64, part []byte) (more bool, err error)) error {
	x := &s.index
	buf := make([]byte, min(chunk, max(0, x.entries-from))*entrySize)
	for ; from < x.entries; from += chunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := buf[:min(chunk, x.entries-from)*entrySize]
		if _, err := x.file.ReadAt(part, headerSize+x.frames*frameSize+from*entrySize); errors.Is(err, io.EOF) {
			return s.place.damaged(indexName, "it became shorter while it was read")
		} else if err != nil {
			return s.place.fail(err)
		}
		if more, err := fn(from, part); err != nil || !more {
			return err
		}
	}
	return nil
}

// scan calls fn with each index entry, starting at entry from, until fn returns false.
func (s *Set) scan(ctx context.Context, from int64, fn func(at int64, e *indexEntry) (more bool, err error)) error {
	var e indexEntry
	return s.chunks(ctx, from, func(at int64, part []byte) (bool, error) {
		for ; len(part) > 0; part, at = part[entrySize:], at+1 {
			e.decode(part)
			if more, err := fn(at, &e); err != nil || !more {
				return false, err
			}
		}
		return true, nil
	})
}

// find returns the entry of a trial, or nil. It compares ids and decodes only the match.
func (s *Set) find(ctx context.Context, id [idBytes]byte) (found *indexEntry, err error) {
	err = s.chunks(ctx, 0, func(_ int64, part []byte) (bool, error) {
		for ; len(part) > 0; part = part[entrySize:] {
			if [idBytes]byte(part) == id {
				found = &indexEntry{}
				found.decode(part)
				return false, nil
			}
		}
		return true, nil
	})
	return found, err
}

// choose calls fn with the entries that a filter takes.
func (s *Set) choose(ctx context.Context, f Filter, from int64, fn func(at int64, e *indexEntry) (more bool, err error)) error {
	m := newMatcher(&s.names, f)
	if m.none {
		return nil
	}
	return s.scan(ctx, from, func(at int64, e *indexEntry) (bool, error) {
		if !m.takes(e) {
			return true, nil
		}
		return fn(at, e)
	})
}
