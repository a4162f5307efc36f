package tools

import (
	"slices"
	"time"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// An observedRanking is an observed board in short. Its rows have a name of their own, so
// that nobody takes a use rate for a pick rate.
type observedRanking struct {
	Kind     string        `json:"kind"`
	Observed bool          `json:"observed"`
	Category string        `json:"category"`
	Name     string        `json:"name"`
	AsOf     *time.Time    `json:"asOf"`
	Field    int           `json:"field"`
	Unit     string        `json:"unit"`
	NUnits   int           `json:"nUnits"`
	NRepos   int           `json:"nRepos"`
	Estimand string        `json:"estimand"`
	Warnings []string      `json:"warnings"`
	Cite     string        `json:"cite"`
	Tools    []observedRow `json:"observedTools"`
	URL      string        `json:"url"`
}

// An observedRow is a standing without what the board says of all.
type observedRow struct {
	observed.Standing
	NUnits hidden `json:"nUnits,omitempty"`
	URL    hidden `json:"url,omitempty"`
}

type observedList struct {
	Kind       string          `json:"kind"`
	Observed   bool            `json:"observed"`
	AsOf       *time.Time      `json:"asOf"`
	Field      int             `json:"field"`
	Categories []observed.Item `json:"observedCategories"`
	URL        string          `json:"url"`
}

// observed answers getLeaderboard for the kind observed.
func (c Call) observed(s *snapshotview.Site, category, domain string, limit int) Answer {
	if category == "" {
		return c.observedList(s, domain, limit)
	}
	i := slices.IndexFunc(s.Observed, func(b observed.Board) bool { return b.Category == category })
	if i < 0 {
		return Fail(Failure{
			Code: "category_not_found", Query: category, Suggestions: s.SuggestObserved(category),
			Description: "No observed board has this category. Call getLeaderboard with kind observed and without category for the list.",
		})
	}
	b := s.Observed[i]
	out := observedRanking{
		Kind: "observed", Observed: true, Category: b.Category, Name: b.Name, AsOf: b.AsOf, Field: len(b.Tools), Unit: b.Unit, NUnits: b.NUnits, NRepos: b.NRepos,
		Estimand: b.Estimand, Warnings: b.Warnings, Cite: b.Cite(), Tools: []observedRow{}, URL: c.tag(b.URL),
	}
	for _, t := range b.Tools[:min(limit, len(b.Tools))] {
		out.Tools = append(out.Tools, observedRow{Standing: t})
	}
	return Answer{JSON: encode(out)}
}

func (c Call) observedList(s *snapshotview.Site, domain string, limit int) Answer {
	out := observedList{Kind: "observedCategories", Observed: true, Categories: []observed.Item{}, URL: c.tag(s.BaseURL + "/")}
	for _, b := range s.Observed {
		if domain != "" && b.Domain != domain {
			continue
		}
		out.Field++
		if b.AsOf != nil && (out.AsOf == nil || b.AsOf.After(*out.AsOf)) {
			out.AsOf = b.AsOf
		}
		if len(out.Categories) < limit {
			item := b.Item()
			item.URL = c.tag(item.URL)
			out.Categories = append(out.Categories, item)
		}
	}
	return Answer{JSON: encode(out)}
}
