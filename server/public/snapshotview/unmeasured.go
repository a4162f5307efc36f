package snapshotview

import (
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/public/views"
)

// observedPath is the path of an observed board as data.
func observedPath(category string) string { return "/api/public/observed?category=" + category }

// NoCategory is the error of a category without a leaderboard. It names the observed board, or
// the list of categories.
func (s *Site) NoCategory(category string) *apierr.Error {
	e := apierr.CategoryNotFound(s.SuggestCategories(category))
	e.Description = "No such category is measured. /api/public/leaderboard lists those that are."
	if category != "" && s.ObservedBoard(category, "") != nil {
		e.Description = "No trials measure this category, but it has an observed board: " + observedPath(category)
	}
	return e
}

// An ObservedUse is how often coding agents used a tool, on an observed board or in one language of it.
type ObservedUse struct {
	Observed bool       `json:"observed"` // always true: it is never a pick rate
	Slug     string     `json:"slug"`     // of the tool
	Category string     `json:"category"`
	Language string     `json:"language,omitempty"`
	Unit     string     `json:"unit"`
	AsOf     *time.Time `json:"asOf"`
	observed.Use
	NUnits int `json:"nUnits"`
	NRepos int `json:"nRepos"`
	// MostlyOneRepository is true where one repository has more than half of the uses.
	MostlyOneRepository bool     `json:"mostlyOneRepository"`
	Warnings            []string `json:"warnings"` // of the part of the board
	URL                 string   `json:"url"`
}

// ObservedUses returns how often the tool that q names was used; a board of several languages has those with a use. A tool
// that was not used at all has the boards that count it, with 0 uses.
func (s *Site) ObservedUses(q string) (out []ObservedUse) {
	ref, ok := s.index.Lookup(q)
	if !ok {
		return nil
	}
	for i := range s.Observed {
		b := &s.Observed[i]
		parts := b.Languages
		if len(parts) < 2 {
			parts = []observed.LanguageBoard{{Part: b.Whole()}}
		}
		for _, p := range parts {
			if at := slices.IndexFunc(p.Tools, func(t observed.Rate) bool { return t.Slug == ref.Slug && t.Uses > 0 }); at >= 0 {
				out = append(out, ObservedUse{true, ref.Slug, b.Category, p.Language, b.Unit, b.AsOf, p.Tools[at].Use, p.NUnits, p.NRepos, observed.MostlyOne(p.Tools[at].Uses, p.Tools[at].InOne), p.Warnings, b.URL})
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, b := range s.Observed {
		if at := slices.IndexFunc(b.Tools, func(t observed.Standing) bool { return t.Slug == ref.Slug }); at >= 0 {
			out = append(out, ObservedUse{true, ref.Slug, b.Category, "", b.Unit, b.AsOf, b.Tools[at].Use, b.NUnits, b.NRepos, false, b.Warnings, b.URL})
		}
	}
	return out
}

// Unused is like: Not used in 79 pull requests of Authentication (observed). It is empty for a tool that was used, or that no
// observed board counts.
func (s *Site) Unused(q string) string {
	uses := s.ObservedUses(q)
	if len(uses) == 0 || uses[0].Uses > 0 {
		return ""
	}
	var parts []string
	for _, u := range uses {
		name := u.Category
		if i := slices.IndexFunc(s.Observed, func(b observed.Board) bool { return b.Category == u.Category }); i >= 0 {
			name = s.Observed[i].Name
		}
		parts = append(parts, chart.Count(u.NUnits, u.Unit, u.Unit+"s")+" of "+name)
	}
	return "Not used in " + strings.Join(parts, ", nor in ") + " (observed)."
}

// Uses is the part of an error that has what was observed.
type Uses struct {
	Observed []ObservedUse `json:"observed"`
}

// UsesOfBoth returns how often two tools, by slug, were used where both were: on the same board, that of a category where it
// is not empty, in the same language. page is the address that compares them; it is empty where there is no such place.
func (s *Site) UsesOfBoth(a, b, category string) (out []ObservedUse, page string) {
	first, second := s.ObservedUses(a), s.ObservedUses(b)
	for _, x := range first {
		for _, y := range second {
			if x.Uses > 0 && y.Uses > 0 && x.Category == y.Category && x.Language == y.Language && (category == "" || category == x.Category) {
				out = append(out, x, y)
			}
		}
	}
	if len(out) > 0 {
		page = s.BaseURL + views.ComparePath(a, b)
	}
	return out, page
}

// NoTool is the error of a name without a report. It has what was observed of the tool.
func (s *Site) NoTool(q string) *apierr.Error {
	if _, ok := s.Slug(q); !ok {
		return apierr.ToolNotFound("No tool has this name, slug, domain or package. Names are matched exactly.", s.SuggestTools(q))
	}
	if b, ok := s.ObservedOf(q); ok {
		e := apierr.ToolNotFound("No trials measure this tool, but it is on an observed board: "+observedPath(b.Category), nil)
		if uses := s.ObservedUses(q); len(uses) > 0 {
			e.Description += ". How often coding agents used it is in observed."
			e.Extra = Uses{uses}
		}
		return e
	}
	return apierr.ToolNotFound("The tool is in the catalogue, but none of its categories is measured yet. /api/public/leaderboard lists those that are.", nil)
}
