package trialset

import (
	"bytes"
	"context"
	"encoding/json"
)

// A FullPage is a part of a list of whole trials.
type FullPage struct {
	Traces []json.RawMessage // each as Set.Trace returns it
	// Next is the cursor of the page behind it; empty on the last.
	Next string
}

// FullPage is Traces with whole trials. A page may have fewer than limit of them: it
// ends where one more would make it longer than maxBytes, but has at least one, which
// may take 64 MiB. Cursors are those of Traces. It holds the page and one frame in
// memory.
func (s *Set) FullPage(ctx context.Context, f Filter, cursor string, limit, maxBytes int) (FullPage, error) {
	limit = min(max(limit, 1), MaxPage)
	from, err := s.at(f, cursor)
	if err != nil {
		return FullPage{}, err
	}
	p, size := FullPage{Traces: []json.RawMessage{}}, 0
	r := frameReader{set: s, at: -1}
	err = s.choose(ctx, f, from, func(at int64, e *indexEntry) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		var line []byte
		full := len(p.Traces) == limit
		if !full {
			var err error
			if line, err = r.line(e); err != nil {
				return false, err
			}
			line = bytes.TrimSuffix(line, []byte("\n"))
			full = len(p.Traces) > 0 && size+len(line) > maxBytes
		}
		if full {
			p.Next = s.cursor(f, at)
			return false, nil
		}
		p.Traces, size = append(p.Traces, bytes.Clone(line)), size+len(line)
		return true, nil
	})
	if err != nil {
		return FullPage{}, err
	}
	return p, nil
}
