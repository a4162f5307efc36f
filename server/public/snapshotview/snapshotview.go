// Package snapshotview renders each response of a snapshot once, when it is first asked for:
// reports, leaderboards, lists and pages, gzipped and as zstd, each with its own strong ETag.
// A request looks a resource up and sends its bytes. What is kept is bounded (see press).
//
// A Site is immutable. A Holder carries the current one; swapping it is one
// atomic store, so a request sees one snapshot from beginning to end.
package snapshotview

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/nearest"
	"github.com/firstpick/firstpick/server/public/views"
)

// An Input is the data of a snapshot view.
type Input struct {
	ID     string
	AsOf   time.Time // zero where nothing was measured
	Boards []analytics.Board
	// Observed are the observed boards, Omitted the categories that have none.
	Observed []observed.Board
	Omitted  []observed.Omitted
	// Units is how many pull requests or commits the observed boards are counted from; one
	// may be on several boards. 0 is unknown.
	Units int
	// UnitsRead is how many their studies read; 0 is unknown.
	UnitsRead int
	Refs      []catalog.Ref
	// BaseURL is the public address without trailing slash.
	BaseURL   string
	Contact   string   // of the operator, mailto: or https:; empty without one
	Notes     []string // citations that pages must show
	Synthetic bool
	// Trials says that the trials can be read one by one. Evidence is how much of each is
	// published: full, quotes or none; empty where that is unknown.
	Trials   bool
	Evidence string
	// Now is the time from which the age of data is computed.
	Now time.Time
	News
}

// News is what becomes known of a snapshot later.
type News struct {
	// Moves are the changes since snapshot Before, the largest first; Before is empty for a
	// first snapshot.
	Moves  []views.Move
	Before string
	// Trends are the rates of boards over the last snapshots up to this one. They must not be
	// changed.
	Trends []nights.Series
	// Retracted is the reason for which the log retracts the snapshot; empty without one.
	Retracted string
}

// AsOf is when the newest answer of the site was given; zero where nothing was measured.
func (s *Site) AsOf() time.Time { return s.in.AsOf }

// Equal compares news. Trends are equal where they are the same slice: they are long, and read
// once.
func (n News) Equal(o News) bool {
	same := len(n.Trends) == len(o.Trends) && (len(n.Trends) == 0 || &n.Trends[0] == &o.Trends[0])
	return same && n.Before == o.Before && n.Retracted == o.Retracted && slices.Equal(n.Moves, o.Moves)
}

// A Site is the view of one snapshot.
type Site struct {
	ID        string
	Synthetic bool
	BaseURL   string
	Trials    bool // can be read one by one
	// Boards are the leaderboards, by category, with absolute URLs. They must not be changed.
	Boards []analytics.Board
	// Observed are the observed boards, by category, with absolute URLs. They are never
	// among Boards.
	Observed []observed.Board
	// Views renders the pages that a reader composes.
	Views *views.Renderer
	News

	in         Input // without boards
	press      *press
	observed   map[boardKey]*Resource // by is empty or AsCSV; without a category it is the list
	home       map[string]string      // the category in which a measured tool is reported, by slug
	reports    map[string]*Resource   // by slug, domain, package and name
	byCategory map[string]*Resource   // report by "category/slug"
	boards     map[boardKey]*Resource
	prompts    map[boardKey]*Resource // as observed
	lists      map[string]*Resource   // by domain; "" is all
	pages      map[string]Page        // by path
	index      *catalog.Index
	measured   *catalog.Index
	categories map[string]string
}

// A boardKey names a board; by is one of Cuts, AsCSV, or empty for the whole board.
type boardKey struct{ category, by string }

// Report returns the report that q names; nil where none exists. known reports whether
// the catalogue has the tool.
func (s *Site) Report(q string) (res *Resource, known bool) {
	if res := s.reports[q]; res != nil { // a slug as it is: no folding, no second look-up
		return res, true
	}
	if ref, _, ok := s.lookup(q); ok {
		return s.reports[ref.Slug], true
	}
	_, known = s.index.Lookup(q)
	return nil, known
}

// lookup returns the measured tool that q names, and which of its names q is. The slug of another tool that was observed
// is not a name of a measured one: both may have the same package.
func (s *Site) lookup(q string) (ref catalog.Ref, by catalog.Kind, ok bool) {
	if ref, by, ok = s.measured.LookupKind(q); !ok || by == catalog.BySlug {
		return ref, by, ok
	}
	if other, kind, known := s.index.LookupKind(q); known && kind == catalog.BySlug && other.Slug != ref.Slug {
		if _, seen := s.ObservedOf(other.Slug); seen {
			return catalog.Ref{}, "", false
		}
	}
	return ref, by, true
}

// Find returns the report of the tool that q names, as values and without prompts, and which
// of its names q is. known is as for Report.
func (s *Site) Find(q string) (report analytics.Report, by catalog.Kind, known bool) {
	ref, by, ok := s.lookup(q)
	if !ok {
		_, known = s.index.Lookup(q)
		return report, "", known
	}
	board, _ := s.Leaderboard(s.home[ref.Slug])
	board.Prompts = nil // they are long, and counted for each tool
	report, _ = board.Report(ref.Slug)
	return report, by, true
}

// Slug returns the slug of the tool that q names, measured or not.
func (s *Site) Slug(q string) (slug string, ok bool) {
	ref, ok := s.index.Lookup(q)
	return ref.Slug, ok
}

// Both returns the board that ranks two tools: that of a category; without one, that of the
// category of the first tool, or else any.
func (s *Site) Both(a, b, category string) (analytics.Board, bool) {
	names := []string{category}
	if category == "" {
		names = []string{s.home[a], s.home[b]}
		for _, board := range s.Boards {
			names = append(names, board.Category)
		}
	}
	for _, name := range names {
		if s.byCategory[name+"/"+a] != nil && s.byCategory[name+"/"+b] != nil {
			return s.Leaderboard(name)
		}
	}
	return analytics.Board{}, false
}

// TrialsURL is the address of the trials of a category, of those that picked a tool where
// it is not empty; empty where the snapshot has no trials to read.
func (s *Site) TrialsURL(category, tool string) string {
	if !s.Trials {
		return ""
	}
	return s.BaseURL + analytics.TrialsPath(category, "", tool)
}

// Leaderboard returns a category's leaderboard as values.
func (s *Site) Leaderboard(category string) (analytics.Board, bool) {
	i, ok := slices.BinarySearchFunc(s.Boards, category, func(b analytics.Board, category string) int { return cmp.Compare(b.Category, category) })
	if !ok {
		return analytics.Board{}, false
	}
	return s.Boards[i], true
}

// ReportIn returns the report of a tool in one category.
func (s *Site) ReportIn(category, q string) *Resource {
	ref, ok := s.index.Lookup(q)
	if !ok {
		return nil
	}
	return s.byCategory[category+"/"+ref.Slug]
}

// AsCSV, as the way in which a board is cut, is the table of its tools.
const AsCSV = "csv"

// Prompts returns the prompts of a category with their counts, or nil. form is AsCSV, or empty
// for JSON.
func (s *Site) Prompts(category, form string) *Resource { return s.prompts[boardKey{category, form}] }

// Board returns a category's leaderboard, or nil. by is one of Cuts for a board with only
// these cuts, AsCSV, or empty.
func (s *Site) Board(category, by string) *Resource { return s.boards[boardKey{category, by}] }

// ObservedBoard returns the observed board of a category, the list for "", or nil. form is
// AsCSV, which the list does not have, or empty for JSON.
func (s *Site) ObservedBoard(category, form string) *Resource {
	return s.observed[boardKey{category, form}]
}

// ObservedOf returns the first observed board, by category, that lists the tool that q names.
func (s *Site) ObservedOf(q string) (observed.Board, bool) {
	ref, ok := s.index.Lookup(q)
	if !ok {
		return observed.Board{}, false
	}
	for _, b := range s.Observed {
		if slices.ContainsFunc(b.Tools, func(t observed.Standing) bool { return t.Slug == ref.Slug }) {
			return b, true
		}
	}
	return observed.Board{}, false
}

// SuggestObserved returns slugs of observed boards whose slug or name is near q.
func (s *Site) SuggestObserved(q string) []string {
	names := map[string]string{}
	for _, b := range s.Observed {
		names[b.Category], names[strings.ToLower(b.Name)] = b.Category, b.Category
	}
	return nearest.Names(strings.ToLower(q), names, maxSuggestions)
}

// List returns the list of categories of a domain, "" for all, or nil.
func (s *Site) List(domain string) *Resource { return s.lists[domain] }

// Page returns the page at a path, or nil.
func (s *Site) Page(path string) Page { return s.pages[path] }

// maxSuggestions is how many near names an error carries.
const maxSuggestions = 5

// SuggestTools returns slugs near q, measured tools first.
func (s *Site) SuggestTools(q string) []string {
	out := s.measured.Suggest(q, maxSuggestions)
	for _, slug := range s.index.Suggest(q, maxSuggestions) {
		if len(out) < maxSuggestions && !slices.Contains(out, slug) {
			out = append(out, slug)
		}
	}
	return out
}

// SuggestCategories returns slugs of boards whose slug or name is near q.
func (s *Site) SuggestCategories(q string) []string {
	return nearest.Names(strings.ToLower(q), s.categories, maxSuggestions)
}

// A Holder carries the current site. The zero Holder has none.
type Holder struct{ p atomic.Pointer[Site] }

// Current returns the site, or nil before the first.
func (h *Holder) Current() *Site { return h.p.Load() }

// Set makes s the current site.
func (h *Holder) Set(s *Site) { h.p.Store(s) }
