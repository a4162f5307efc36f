package trialset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
)

// MaxPage is the most entries of a page.
const MaxPage = 1000

// A Page is a part of a list.
type Page struct {
	Traces []Entry
	// Next is the cursor of the page behind it; empty on the last.
	Next string
}

// A FullPage is a part of a list of whole trials, each as Set.Trace returns it.
type FullPage struct {
	Traces []json.RawMessage
	Next   string // as that of a Page
}

// Traces returns a page of the selected trials in the order of the plan: the one that
// begins at a cursor, or the first. All pages but the last have limit entries; limit is
// clamped to 1 to MaxPage. It fails with ErrCursor for the cursor of another set or
// filter.
func (s *Set) Traces(ctx context.Context, f Filter, cursor string, limit int) (Page, error) {
	p := Page{Traces: []Entry{}}
	next, err := s.page(ctx, f, cursor, limit, func(e *indexEntry) (bool, error) {
		entry, err := s.names.resolve(e)
		if err != nil {
			return false, s.place.damaged(indexName, err.Error())
		}
		p.Traces = append(p.Traces, entry)
		return true, nil
	})
	p.Next = next
	return p, err
}

// Count returns how many trials a filter selects, and how many of them are before a cursor. It
// reads the index alone.
func (s *Set) Count(ctx context.Context, f Filter, cursor string) (all, before int, err error) {
	from, err := s.at(f, cursor)
	if err != nil {
		return 0, 0, err
	}
	err = s.choose(ctx, f, 0, func(at int64, _ *indexEntry) (bool, error) {
		if all++; at < from {
			before++
		}
		return true, nil
	})
	return all, before, err
}

// FullPage is Traces with whole trials. A page may have fewer than limit of them: it
// ends where one more would make it longer than maxBytes, but has at least one, which
// may take 64 MiB. Cursors are those of Traces. It holds the page and one frame in
// memory.
func (s *Set) FullPage(ctx context.Context, f Filter, cursor string, limit, maxBytes int) (FullPage, error) {
	p, size := FullPage{Traces: []json.RawMessage{}}, 0
	r := frameReader{set: s, at: -1}
	next, err := s.page(ctx, f, cursor, limit, func(e *indexEntry) (bool, error) {
		line, err := r.line(e)
		line = bytes.TrimSuffix(line, []byte("\n"))
		if err != nil || len(p.Traces) > 0 && size+len(line) > maxBytes {
			return false, err
		}
		p.Traces, size = append(p.Traces, bytes.Clone(line)), size+len(line)
		return true, ctx.Err()
	})
	if err != nil {
		return FullPage{}, err
	}
	p.Next = next
	return p, nil
}

// page calls add with the selected entries from a cursor, until limit were added or add
// has no room for one. It returns the cursor of the rest.
func (s *Set) page(ctx context.Context, f Filter, cursor string, limit int, add func(e *indexEntry) (added bool, err error)) (next string, err error) {
	from, err := s.at(f, cursor)
	if err != nil {
		return "", err
	}
	n := min(max(limit, 1), MaxPage)
	err = s.choose(ctx, f, from, func(at int64, e *indexEntry) (more bool, err error) {
		if n > 0 {
			more, err = add(e)
		}
		if n--; !more && err == nil {
			next = s.cursor(f, at)
		}
		return more, err
	})
	return next, err
}

const (
	tagSize    = 8
	cursorSize = tagSize + 8
)

// cursor names a place in the list of a filter. The tag keeps it to this set and
// filter: elsewhere the place would mean something else.
func (s *Set) cursor(f Filter, at int64) string {
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(s.tag(f), uint64(at))) //nolint:gosec // not negative
}

func (s *Set) at(f Filter, cursor string) (int64, error) {
	if cursor == "" {
		return 0, nil
	}
	if len(cursor) > 2*cursorSize {
		return 0, ErrCursor
	}
	data, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(data) != cursorSize || string(data[:tagSize]) != string(s.tag(f)) {
		return 0, ErrCursor
	}
	at := binary.BigEndian.Uint64(data[tagSize:])
	if at >= uint64(s.index.entries) { //nolint:gosec // a count
		return 0, ErrCursor
	}
	return int64(at), nil //nolint:gosec // below a count
}

func (s *Set) tag(f Filter) []byte {
	text, err := json.Marshal([]string{s.place.ID, f.Agent, f.Outcome, f.Picked, f.Prompt})
	if err != nil {
		panic(err) // texts always encode
	}
	sum := sha256.Sum256(text)
	return sum[:tagSize]
}
