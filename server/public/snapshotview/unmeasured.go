package snapshotview

import "github.com/firstpick/firstpick/server/kit/apierr"

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

// NoTool is the error of a name without a report. It names the observed board of the tool.
func (s *Site) NoTool(q string) *apierr.Error {
	if _, ok := s.Slug(q); !ok {
		return apierr.ToolNotFound("No tool has this name, slug, domain or package. Names are matched exactly.", s.SuggestTools(q))
	}
	if b, ok := s.ObservedOf(q); ok {
		return apierr.ToolNotFound("No trials measure this tool, but it is on an observed board: "+observedPath(b.Category), nil)
	}
	return apierr.ToolNotFound("The tool is in the catalogue, but none of its categories is measured yet. /api/public/leaderboard lists those that are.", nil)
}
