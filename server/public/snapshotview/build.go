package snapshotview

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/public/views"
)

// Build renders a site.
func Build(in Input) (*Site, error) {
	s := &Site{
		ID: in.ID, Synthetic: in.Synthetic, Trials: in.Trials, BaseURL: in.BaseURL, home: map[string]string{}, reports: map[string]*Resource{}, byCategory: map[string]*Resource{},
		boards: map[boardKey]*Resource{}, prompts: map[boardKey]*Resource{}, lists: map[string]*Resource{}, pages: map[string]Page{},
		index: catalog.NewIndex(in.Refs), categories: map[string]string{}, observed: map[boardKey]*Resource{},
	}
	for _, b := range in.Observed {
		s.Observed = append(s.Observed, b.WithBase(in.BaseURL))
	}
	boards := make([]analytics.Board, len(in.Boards))
	for i, b := range in.Boards {
		boards[i] = known(b.WithBase(in.BaseURL))
	}
	slices.SortFunc(boards, func(a, b analytics.Board) int { return cmp.Compare(a.Category, b.Category) })
	s.Boards = boards
	b := builder{site: s, in: in, boards: boards, pack: NewPacker(in.AsOf)}
	for _, step := range []func() error{b.documents, b.fieldDocuments, b.lists, b.names, b.pages} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("render snapshot %s: %w", in.ID, err)
		}
	}
	return s, nil
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
	site   *Site
	in     Input
	boards []analytics.Board
	pack   *Packer
}

func (b *builder) json(v any) (*Resource, error) { return b.pack.JSON(v) }

// documents renders boards and the reports of their tools.
func (b *builder) documents() error {
	for _, board := range b.boards {
		res, err := b.json(board)
		if err != nil {
			return err
		}
		b.site.boards[boardKey{board.Category, ""}] = res
		for _, by := range Cuts() {
			if b.site.boards[boardKey{board.Category, by}], err = b.cut(board, by, res); err != nil {
				return err
			}
		}
		if b.site.boards[boardKey{board.Category, AsCSV}], err = b.pack.Pack(render.CSVType, render.CSV(table(board, b.in.ID))); err != nil {
			return err
		}
		if b.site.prompts[boardKey{board.Category, ""}], err = b.promptList(board); err != nil {
			return err
		}
		if b.site.prompts[boardKey{board.Category, AsCSV}], err = b.pack.Pack(render.CSVType, render.CSV(promptTable(board, b.in.ID))); err != nil {
			return err
		}
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

// fieldDocuments renders the observed boards and their list.
func (b *builder) fieldDocuments() (err error) {
	items := []observed.Item{}
	for _, board := range b.site.Observed {
		items = append(items, board.Item())
		if b.site.observed[boardKey{board.Category, ""}], err = b.json(board); err != nil {
			return err
		}
		if b.site.observed[boardKey{board.Category, AsCSV}], err = b.pack.Pack(render.CSVType, render.CSV(observedTable(board, b.in.ID))); err != nil {
			return err
		}
	}
	b.site.observed[boardKey{}], err = b.json(map[string]any{"observed": true, "categories": items, "omitted": append([]observed.Omitted{}, b.in.Omitted...)})
	return err
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

func (b *builder) promptList(board analytics.Board) (*Resource, error) {
	list := PromptList{board.Category, b.in.ID, board.Synthetic, append([]analytics.Prompt{}, board.Prompts...)}
	data, err := json.Marshal(list) // escapes ampersands too
	if err != nil {
		return nil, err
	}
	return b.pack.Pack(JSONType, inert.JSON(append(data, '\n')))
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

// cut renders a board with the cuts of one tag. A board without cuts is the whole one.
func (b *builder) cut(board analytics.Board, by string, whole *Resource) (*Resource, error) {
	if len(board.Cuts) == 0 {
		return whole, nil
	}
	return b.json(board.CutBy(strings.TrimPrefix(by, tagged)))
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
	r, err := views.New(views.Input{
		Site:   render.Site{BaseURL: b.in.BaseURL, Notes: b.in.Notes, Synthetic: b.in.Synthetic, SnapshotID: b.in.ID},
		Boards: b.boards, Observed: b.site.Observed, Moves: b.in.Moves, Before: b.in.Before, AsOf: b.in.AsOf, Now: b.in.Now, Trials: b.in.Trials, Evidence: b.in.Evidence,
	})
	if err != nil {
		return err
	}
	b.site.Views = r
	for _, path := range r.Paths() {
		page, err := r.Page(path)
		if err != nil {
			return err
		}
		if b.site.pages[path], err = b.pack.Page(b.in.BaseURL, path, page.HTML, page.Markdown); err != nil {
			return err
		}
	}
	return nil
}
