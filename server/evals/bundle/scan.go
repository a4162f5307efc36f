package bundle

import (
	"context"
	"errors"
	"io"
	"slices"
)

// A Filter selects trials. Empty fields select everything.
type Filter struct {
	Agent, Outcome, Picked, Prompt string
}

// An Entry is one trial without what was said and done in it.
type Entry struct {
	ID       string `json:"id"`
	Agent    string `json:"agent"`
	Prompt   string `json:"prompt"`
	Template string `json:"template"`
	// Repeat counts from 1.
	Repeat  int    `json:"repeat"`
	Outcome string `json:"outcome"`
	Picked  string `json:"picked"`
	// Mismatch says that the agent said one tool and used another.
	Mismatch bool `json:"mismatch"`
	// CostUSD is null where it is unknown.
	CostUSD *float64 `json:"costUsd"`
	WallMS  int64    `json:"wallMs"`
}

// chunk is how many entries are read at once.
const chunk = 1024

// A matcher is a filter in the numbers of an index; -1 selects everything.
type matcher struct {
	agent, outcome, picked, prompt int64
	// none says that a name does not occur, so that nothing matches.
	none bool
}

func (n *names) matcher(f Filter) matcher {
	var m matcher
	place := func(list []string, name string) int64 {
		if name == "" {
			return -1
		}
		i := slices.Index(list, name)
		m.none = m.none || i < 0
		return int64(i)
	}
	m.agent, m.outcome = place(n.Agents, f.Agent), place(n.Outcomes, f.Outcome)
	m.picked, m.prompt = place(n.Picked, f.Picked), place(n.Prompts, f.Prompt)
	return m
}

func (m *matcher) takes(e *entry) bool {
	return (m.agent < 0 || m.agent == int64(e.agent)) && (m.outcome < 0 || m.outcome == int64(e.outcome)) &&
		(m.picked < 0 || m.picked == int64(e.picked)) && (m.prompt < 0 || m.prompt == int64(e.prompt))
}

// chunks calls fn with the entries from place from on as they stand in the index, some
// at a time, until it says that it has enough.
func (b *Bundle) chunks(ctx context.Context, from int64, fn func(from int64, part []byte) (more bool, err error)) error {
	x := &b.index
	buf := make([]byte, min(chunk, max(0, x.entries-from))*entrySize)
	for ; from < x.entries; from += chunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := buf[:min(chunk, x.entries-from)*entrySize]
		if _, err := x.file.ReadAt(part, headSize+x.frames*frameSize+from*entrySize); errors.Is(err, io.EOF) {
			return b.damaged(indexName, "it became shorter while it was read")
		} else if err != nil {
			return b.fail(err)
		}
		if more, err := fn(from, part); err != nil || !more {
			return err
		}
	}
	return nil
}

// scan calls fn with the entries from place from on, until it says that it has enough.
func (b *Bundle) scan(ctx context.Context, from int64, fn func(at int64, e *entry) (more bool, err error)) error {
	var e entry
	return b.chunks(ctx, from, func(at int64, part []byte) (bool, error) {
		for ; len(part) > 0; part, at = part[entrySize:], at+1 {
			e.decode(part)
			if more, err := fn(at, &e); err != nil || !more {
				return false, err
			}
		}
		return true, nil
	})
}

// find returns the entry of a trial; nil for none. It compares ids and decodes one.
func (b *Bundle) find(ctx context.Context, id [10]byte) (found *entry, err error) {
	err = b.chunks(ctx, 0, func(_ int64, part []byte) (bool, error) {
		for ; len(part) > 0; part = part[entrySize:] {
			if [10]byte(part) == id {
				found = &entry{}
				found.decode(part)
				return false, nil
			}
		}
		return true, nil
	})
	return found, err
}

// choose calls fn with the entries that a filter takes.
func (b *Bundle) choose(ctx context.Context, f Filter, from int64, fn func(at int64, e *entry) (more bool, err error)) error {
	m := b.names.matcher(f)
	if m.none {
		return nil
	}
	return b.scan(ctx, from, func(at int64, e *entry) (bool, error) {
		if !m.takes(e) {
			return true, nil
		}
		return fn(at, e)
	})
}
