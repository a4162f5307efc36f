package snapshotview

import (
	"cmp"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/public/views"
)

// Build prepares a site, and takes over in.Boards. Its first page is rendered, so that a snapshot that cannot be shown
// is refused; every other response is made when it is first asked for.
func Build(in Input) (*Site, error) {
	s := &Site{
		ID: in.ID, Synthetic: in.Synthetic, Trials: in.Trials, BaseURL: in.BaseURL, home: map[string]string{}, reports: map[string]*Resource{}, byCategory: map[string]*Resource{},
		boards: map[boardKey]*Resource{}, prompts: map[boardKey]*Resource{}, lists: map[string]*Resource{}, pages: map[string]Page{},
		press: newPress(views.Modified(in.AsOf, in.Observed), maxKept), index: catalog.NewIndex(in.Refs), categories: map[string]string{}, observed: map[boardKey]*Resource{},
	}
	for _, b := range in.Observed {
		s.Observed = append(s.Observed, b.WithBase(in.BaseURL))
	}
	s.Boards, in.Boards = withBase(in.Boards, in.BaseURL), nil
	s.in = in
	b := builder{site: s, in: in, press: s.press}
	b.documents()
	b.fieldDocuments()
	b.lists()
	b.names()
	return s.With(in.News)
}

// With returns the site with other news. Its pages are made again; all else is shared.
func (s *Site) With(news News) (*Site, error) {
	out := *s
	out.News, out.in.News, out.pages = news, news, map[string]Page{}
	b := builder{site: &out, in: out.in, press: s.press}
	if err := b.pages(); err != nil {
		return nil, fmt.Errorf("render snapshot %s: %w", s.ID, err)
	}
	return &out, nil
}

// withBase copies boards with all processors, sorted by category. It empties from, so that the
// boards are never all there twice.
func withBase(from []analytics.Board, base string) []analytics.Board {
	boards := make([]analytics.Board, len(from))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(len(from), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(from); i = int(next.Add(1)) - 1 {
				boards[i], from[i] = known(from[i].WithBase(base)), analytics.Board{}
			}
		})
	}
	wg.Wait()
	sorting.Func(boards, func(a, b analytics.Board) int { return cmp.Compare(a.Category, b.Category) })
	return boards
}

// known returns a board without what an older snapshot claims and cannot know: the coverage
// of imported answers.
func known(b analytics.Board) analytics.Board {
	if slices.Contains(b.Warnings, analytics.CoverageUnknown) {
		b.Coverage = nil
	}
	return b
}

type builder struct {
	site  *Site
	in    Input
	press *press
}

// csv is a table as a resource.
func (b *builder) csv(table func() [][]any) *Resource {
	return b.press.later(render.CSVType, func() ([]byte, error) { return render.CSV(table()), nil })
}

// documents are boards and the reports of their tools.
func (b *builder) documents() {
	s, id := b.site, b.in.ID
	for i := range s.Boards {
		board := &s.Boards[i]
		whole := b.press.json(func() any { return board })
		s.boards[boardKey{board.Category, ""}] = whole
		for _, by := range Cuts() {
			s.boards[boardKey{board.Category, by}] = b.cut(board, by, whole)
		}
		s.boards[boardKey{board.Category, AsCSV}] = b.csv(func() [][]any { return table(*board, id) })
		s.prompts[boardKey{board.Category, ""}] = b.promptList(board)
		s.prompts[boardKey{board.Category, AsCSV}] = b.csv(func() [][]any { return promptTable(*board, id) })
		s.categories[board.Category], s.categories[strings.ToLower(board.Name)] = board.Category, board.Category
		for _, tool := range board.Tools {
			s.byCategory[board.Category+"/"+tool.Slug] = b.press.json(func() any {
				report, _ := board.Report(tool.Slug)
				return report
			})
		}
	}
}

// fieldDocuments are the observed boards and their list.
func (b *builder) fieldDocuments() {
	items := []observed.Item{}
	for i := range b.site.Observed {
		board := &b.site.Observed[i]
		items = append(items, board.Item())
		b.site.observed[boardKey{board.Category, ""}] = b.press.json(func() any { return board })
		b.site.observed[boardKey{board.Category, AsCSV}] = b.csv(func() [][]any { return observedTable(*board, b.in.ID) })
	}
	list := map[string]any{"observed": true, "categories": items, "omitted": append([]observed.Omitted{}, b.in.Omitted...)}
	b.site.observed[boardKey{}] = b.press.json(func() any { return list })
}

// A PromptList is the answer of /api/public/prompts.
type PromptList struct {
	Category  string `json:"category"`
	Snapshot  string `json:"snapshot"`
	Synthetic bool   `json:"synthetic"`
	// Prompts is empty in older snapshots. Untrusted text of eval authors: data, not
	// instructions.
	Prompts []analytics.Prompt `json:"prompts"`
}

func (b *builder) promptList(board *analytics.Board) *Resource {
	return b.press.later(JSONType, func() ([]byte, error) {
		list := PromptList{board.Category, b.in.ID, board.Synthetic, append([]analytics.Prompt{}, board.Prompts...)}
		data, err := json.Marshal(list) // escapes ampersands too
		return inert.JSON(append(data, '\n')), err
	})
}

// tagged begins the name of a cut by a tag.
const tagged = "tag:"

// Cuts returns the ways in which boards are cut, as the parameter by names them.
func Cuts() (by []string) {
	for _, tag := range analytics.CutTags() {
		by = append(by, tagged+tag)
	}
	return by
}

// cut is a board with the cuts of one tag. A board without cuts is the whole one.
func (b *builder) cut(board *analytics.Board, by string, whole *Resource) *Resource {
	if len(board.Cuts) == 0 {
		return whole
	}
	return b.press.json(func() any { return board.CutBy(strings.TrimPrefix(by, tagged)) })
}

func (b *builder) lists() {
	for _, domain := range []string{"", string(catalog.DevTools), string(catalog.SaaS)} {
		items := []analytics.CategoryItem{}
		for _, board := range b.site.Boards {
			if domain == "" || board.Domain == domain {
				items = append(items, board.Item())
			}
		}
		b.site.lists[domain] = b.press.json(func() any { return map[string]any{"categories": items} })
	}
}

// names makes every name of a measured tool find its report: in its home
// category where that is measured, else in the first that is.
func (b *builder) names() {
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
}

func (b *builder) pages() error {
	r, err := views.New(views.Input{
		Site:   render.Site{BaseURL: b.in.BaseURL, Contact: b.in.Contact, Notes: b.in.Notes, Synthetic: b.in.Synthetic, SnapshotID: b.in.ID, Retracted: b.in.Retracted},
		Boards: b.site.Boards, Observed: b.site.Observed, Units: b.in.Units, UnitsRead: b.in.UnitsRead, Moves: b.in.Moves, Before: b.in.Before, Trends: b.in.Trends, AsOf: b.in.AsOf, Now: b.in.Now, Trials: b.in.Trials, Evidence: b.in.Evidence,
	})
	if err != nil {
		return err
	}
	b.site.Views = r
	for _, path := range r.Paths() {
		b.site.pages[path] = linked(b.in.BaseURL, path,
			b.press.later(htmlType, func() ([]byte, error) { p, err := r.Page(path); return p.HTML, err }),
			b.press.later(markdownType, func() ([]byte, error) { p, err := r.Page(path); return p.Markdown, err }))
	}
	_, err = b.site.pages["/"].html.make()
	return err
}
