// Package ranges stores the addresses that operators of agents publish, with their
// dates: a late event is checked against the ranges of its day.
//
// It starts with a snapshot in the program (data/, with its dates) and adds the lists
// that Refresh fetches, which it stores in a file. A list that cannot be fetched keeps
// its last state: an address in it stays verified, as of the list's date, and an
// address outside of it is not reported as spoofed.
package ranges

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// A Result is the result of looking up an address at a time in a list.
type Result uint8

// The results.
const (
	Unknown Result = iota // no such list, or never seen
	Inside                // the operator published the address
	Outside               // it did not
	Stale                 // not in the last observation, which is too old to decide
)

func (r Result) String() string {
	return [...]string{"unknown", "inside", "outside", "stale"}[r]
}

// A Finding is the result of checking an address against a list.
type Finding struct {
	Result Result
	AsOf   time.Time // when the list was seen, as near to that time as it was
	Old    bool      // that is more than 14 days away
}

// A Set is all lists. It is safe for concurrent use; a check never waits.
type Set struct {
	file  string
	edges []string // lists of CDNs
	lists atomic.Pointer[map[string]*list]
	mu    sync.Mutex // one refresh at a time
}

// Open returns the lists of the snapshot and, if there is one, of the file, which
// Refresh writes. An empty file keeps nothing.
func Open(file string) (*Set, error) {
	lists, err := load(file)
	if err != nil {
		return nil, fmt.Errorf("ranges: %w", err)
	}
	s := &Set{file: file}
	for _, source := range Sources() {
		if source.CDN {
			s.edges = append(s.edges, source.List)
		}
	}
	s.lists.Store(&lists)
	return s, nil
}

// Check reports whether an address was in a list at a time. Outside is answered
// only within 14 days of an observation.
func (s *Set) Check(name string, ip netip.Addr, at time.Time) Finding {
	l := (*s.lists.Load())[name]
	if l == nil || !ip.IsValid() {
		return Finding{}
	}
	return l.check(ip.WithZone("").Unmap(), at)
}

// CDN returns the list of the CDN whose edge an address belongs to. Requests that
// come from there are passed on: the address is not the visitor's.
func (s *Set) CDN(ip netip.Addr, at time.Time) (name string, ok bool) {
	for _, source := range s.edges {
		if s.Check(source, ip, at).Result == Inside {
			return source, true
		}
	}
	return "", false
}

// Ages returns how old the lists are at a time.
func (s *Set) Ages(now time.Time) Ages {
	var a Ages
	for _, l := range *s.lists.Load() {
		at := l.asOf()
		a.Lists++
		if a.Oldest.IsZero() || at.Before(a.Oldest) {
			a.Oldest = at
		}
		if now.Sub(at) > fresh {
			a.Old++
		}
	}
	return a
}

// Ages is how old the known lists are.
type Ages struct {
	Lists, Old int       // all, and those that were last seen more than 14 days ago
	Oldest     time.Time // when the oldest was last seen
}

// AsOf returns when each list was last observed.
func (s *Set) AsOf() map[string]time.Time {
	all := map[string]time.Time{}
	for name, l := range *s.lists.Load() {
		all[name] = l.asOf()
	}
	return all
}

// Refresh fetches all operators' lists, by conditional requests, and stores the valid
// ones. The client sets timeouts, redirects and reachable addresses. The error joins
// those of single lists and of writing the file; the other lists are still refreshed.
func (s *Set) Refresh(ctx context.Context, client *http.Client, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now = now.UTC().Truncate(time.Second)
	old := *s.lists.Load()
	next := make(map[string]*list, len(old))
	for name, l := range old {
		next[name] = l
	}
	var errs []error
	for _, source := range Sources() {
		l, err := fetch(ctx, client, source, old[source.List], now)
		if err != nil {
			errs = append(errs, fmt.Errorf("ranges %s: %w", source.List, err))
			continue
		}
		next[source.List] = l
	}
	s.lists.Store(&next)
	if s.file != "" {
		if err := save(s.file, next); err != nil {
			errs = append(errs, fmt.Errorf("keep ranges: %w", err))
		}
	}
	return errors.Join(errs...)
}

// fetch returns a list with a new observation.
func fetch(ctx context.Context, client *http.Client, source Source, old *list, now time.Time) (*list, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, source.URL, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", source.Format.accept())
	if old == nil {
		old = newList()
	}
	if old.etag != "" {
		req.Header.Set("If-None-Match", old.etag)
	} else if old.modified != "" {
		req.Header.Set("If-Modified-Since", old.modified)
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode == http.StatusNotModified && (old.etag != "" || old.modified != "") {
		return old.confirmed(now), nil
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("answered %d", res.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxBody {
		return nil, errMany
	}
	prefixes, err := source.Format.Parse(raw)
	if err != nil {
		return nil, err
	}
	next := old.observed(prefixes, now)
	next.etag, next.modified = res.Header.Get("ETag"), res.Header.Get("Last-Modified")
	return next, nil
}
