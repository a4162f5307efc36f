// Package snapshotview renders all responses of a snapshot once: reports, leaderboards,
// lists and pages, each uncompressed, gzipped and as zstd, with its own strong ETag. A
// request looks a resource up and sends its bytes.
//
// A Site is immutable. A Holder carries the current one; swapping it is one
// atomic store, so a request sees one snapshot from beginning to end.
package snapshotview

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/nearest"
	"github.com/firstpick/firstpick/server/kit/render"
)

// An Input is the data of a snapshot view.
type Input struct {
	ID     string
	AsOf   time.Time // zero where nothing was measured
	Boards []analytics.Board
	Refs   []catalog.Ref
	// BaseURL is the public address without trailing slash.
	BaseURL   string
	Notes     []string // citations that pages must show
	Synthetic bool
}

// A Site is the view of one snapshot.
type Site struct {
	ID        string
	Synthetic bool
	BaseURL   string
	// Boards are the leaderboards, by category, with absolute URLs. They must not be changed.
	Boards []analytics.Board

	home       map[string]string    // the category in which a measured tool is reported, by slug
	reports    map[string]*Resource // by slug, domain, package and name
	byCategory map[string]*Resource // report by "category/slug"
	boards     map[string]*Resource
	lists      map[string]*Resource // by domain; "" is all
	pages      map[string]Page      // by path
	index      *catalog.Index
	measured   *catalog.Index
	categories map[string]string
}

// Build renders a site.
func Build(in Input) (*Site, error) {
	s := &Site{
		ID: in.ID, Synthetic: in.Synthetic, BaseURL: in.BaseURL, home: map[string]string{}, reports: map[string]*Resource{}, byCategory: map[string]*Resource{},
		boards: map[string]*Resource{}, lists: map[string]*Resource{}, pages: map[string]Page{},
		index: catalog.NewIndex(in.Refs), categories: map[string]string{},
	}
	boards := make([]analytics.Board, len(in.Boards))
	for i, b := range in.Boards {
		boards[i] = b.WithBase(in.BaseURL)
	}
	slices.SortFunc(boards, func(a, b analytics.Board) int { return cmp.Compare(a.Category, b.Category) })
	s.Boards = boards
	b := builder{site: s, in: in, boards: boards, pack: NewPacker(in.AsOf)}
	for _, step := range []func() error{b.documents, b.lists, b.names, b.pages} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("render snapshot %s: %w", in.ID, err)
		}
	}
	return s, nil
}

type builder struct {
	site   *Site
	in     Input
	boards []analytics.Board
	pack   *Packer
}

func (b *builder) json(v any) (*Resource, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.pack.Pack("application/json; charset=utf-8", buf.Bytes())
}

// documents renders boards and the reports of their tools.
func (b *builder) documents() error {
	for _, board := range b.boards {
		res, err := b.json(board)
		if err != nil {
			return err
		}
		b.site.boards[board.Category] = res
		b.site.categories[board.Category] = board.Category
		for _, tool := range board.Tools {
			report, _ := board.Report(tool.Slug)
			if b.site.byCategory[board.Category+"/"+tool.Slug], err = b.json(report); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *builder) lists() error {
	for _, domain := range []string{"", string(catalog.DevTools), string(catalog.SaaS)} {
		items := []analytics.CategoryItem{}
		for _, board := range b.boards {
			if domain == "" || board.Domain == domain {
				items = append(items, board.Item())
			}
		}
		res, err := b.json(map[string]any{"categories": items})
		if err != nil {
			return err
		}
		b.site.lists[domain] = res
	}
	return nil
}

// names makes every name of a measured tool find its report: in its home
// category where that is measured, else in the first that is.
func (b *builder) names() error {
	var measured []catalog.Ref
	for _, ref := range b.in.Refs {
		for _, c := range ref.Categories {
			if res := b.site.byCategory[c+"/"+ref.Slug]; res != nil {
				b.site.reports[ref.Slug], b.site.home[ref.Slug] = res, c
				measured = append(measured, ref)
				break
			}
		}
	}
	b.site.measured = catalog.NewIndex(measured)
	return nil
}

func (b *builder) pages() error {
	in := render.Input{Boards: b.boards, BaseURL: b.in.BaseURL, Notes: b.in.Notes, Synthetic: b.in.Synthetic, SnapshotID: b.in.ID}
	words := render.Markdown(in)
	for path, html := range render.Pages(in) {
		if err := errors.Join(html.Err, words[path].Err); err != nil {
			return err
		}
		page, err := b.pack.Page(b.in.BaseURL, path, html.Body, words[path].Body)
		if err != nil {
			return err
		}
		b.site.pages[path] = page
	}
	return nil
}

// Report returns the report that q names; nil where none exists. known reports whether
// the catalogue has the tool.
func (s *Site) Report(q string) (res *Resource, known bool) {
	if res := s.reports[q]; res != nil { // a slug as it is: no folding, no second look-up
		return res, true
	}
	if ref, ok := s.measured.Lookup(q); ok {
		return s.reports[ref.Slug], true
	}
	_, known = s.index.Lookup(q)
	return nil, known
}

// Find returns the report of the tool that q names, as values, and which of its names q is.
// known is as for Report.
func (s *Site) Find(q string) (report analytics.Report, by catalog.Kind, known bool) {
	ref, by, ok := s.measured.LookupKind(q)
	if !ok {
		_, known = s.index.Lookup(q)
		return report, "", known
	}
	board, _ := s.Leaderboard(s.home[ref.Slug])
	report, _ = board.Report(ref.Slug)
	return report, by, true
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

// Board returns a category's leaderboard, or nil.
func (s *Site) Board(category string) *Resource { return s.boards[category] }

// List returns the list of categories of a domain, "" for all, or nil.
func (s *Site) List(domain string) *Resource { return s.lists[domain] }

// Page returns the page at a path, which is nil where there is none.
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

// SuggestCategories returns slugs near q.
func (s *Site) SuggestCategories(q string) []string {
	return nearest.Names(strings.ToLower(q), s.categories, maxSuggestions)
}

// A Holder carries the current site. The zero Holder has none.
type Holder struct{ p atomic.Pointer[Site] }

// Current returns the site, or nil before the first.
func (h *Holder) Current() *Site { return h.p.Load() }

// Set makes s the current site.
func (h *Holder) Set(s *Site) { h.p.Store(s) }
