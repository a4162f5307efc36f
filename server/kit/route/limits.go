package route

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

// DefaultMaxBody is the default limit of a request body, in bytes.
const DefaultMaxBody = 64 << 10

// Limits bound the requests of a route.
type Limits struct {
	MaxBody int64 // bytes; 0 means DefaultMaxBody
	// Unmetered requests do not count against the limit of their address: the handler
	// limits by key, or serves probes.
	Unmetered bool
}

// A Limited is a group of routes with limits of their own, by path. A path may have
// parameters, and may end with /* for all paths below it.
type Limited interface{ Limits() map[string]Limits }

// A Table has the limits of all routes. Build it before the first request.
type Table struct {
	exact    map[string]Limits
	patterns []pattern // the longest first
}

type pattern struct {
	path   string
	prefix string // before the first parameter or asterisk
	Limits
}

// Add adds the limits of some paths.
func (t *Table) Add(limits map[string]Limits) {
	if t.exact == nil {
		t.exact = map[string]Limits{}
	}
	for path, l := range limits {
		if l.MaxBody == 0 {
			l.MaxBody = DefaultMaxBody
		}
		if at := strings.IndexAny(path, "{*"); at >= 0 {
			t.patterns = append(t.patterns, pattern{path, path[:at], l})
		} else {
			t.exact[path] = l
		}
	}
	sorting.Func(t.patterns, func(a, b pattern) int { return len(b.path) - len(a.path) })
}

// Of returns the limits of a request's path.
func (t *Table) Of(path string) Limits {
	if l, ok := t.exact[path]; ok {
		return l
	}
	for i := range t.patterns {
		if p := &t.patterns[i]; strings.HasPrefix(path, p.prefix) && matches(p.path, path) {
			return p.Limits
		}
	}
	return Limits{MaxBody: DefaultMaxBody}
}

// Check returns an error for limits of a path without a route.
func (t *Table) Check(routes []string) error {
	used := func(path string) bool {
		return slices.ContainsFunc(routes, func(r string) bool { return matches(path, r) })
	}
	for path := range t.exact {
		if !used(path) {
			return fmt.Errorf("limits of %s, which is not a route", path)
		}
	}
	for _, p := range t.patterns {
		if !used(p.path) {
			return fmt.Errorf("limits of %s, which is not a route", p.path)
		}
	}
	return nil
}

// matches reports whether a path has the form of a pattern.
func matches(pattern, path string) bool {
	for pattern != "" {
		if pattern == "*" {
			return true
		}
		var want, got string
		var morePattern, morePath bool
		want, pattern, morePattern = strings.Cut(pattern, "/")
		got, path, morePath = strings.Cut(path, "/")
		if morePattern != morePath || want != got && (got == "" || want == "" || want[0] != '{') {
			return false
		}
	}
	return path == ""
}
