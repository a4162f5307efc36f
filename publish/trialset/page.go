package trialset

import (
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

// Traces returns a page of the selected trials in the order of the plan: the one that
// begins at a cursor, or the first. All pages but the last have limit entries; limit is
// clamped to 1 to MaxPage. It fails with ErrCursor for the cursor of another set or
// filter.
func (s *Set) Traces(ctx context.Context, f Filter, cursor string, limit int) (Page, error) {
	limit = min(max(limit, 1), MaxPage)
	from, err := s.at(f, cursor)
	if err != nil {
		return Page{}, err
	}
	p := Page{Traces: make([]Entry, 0, limit)}
	err = s.choose(ctx, f, from, func(at int64, e *indexEntry) (bool, error) {
		if len(p.Traces) == limit {
			p.Next = s.cursor(f, at)
			return false, nil
		}
		entry, err := s.names.resolve(e)
		if err != nil {
			return false, s.place.damaged(indexName, err.Error())
		}
		p.Traces = append(p.Traces, entry)
		return true, nil
	})
	return p, err
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
