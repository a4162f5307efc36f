package tools

import (
	"slices"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// A comparison is the answer of compareTools.
type comparison struct {
	Category  string     `json:"category"`
	Name      string     `json:"name"`
	AsOf      *time.Time `json:"asOf"`
	NTrials   int        `json:"nTrials"`
	Estimand  string     `json:"estimand,omitempty"`
	Synthetic bool       `json:"synthetic"`
	Warnings  []string   `json:"warnings"`
	A         side       `json:"a"`
	B         side       `json:"b"`
	// Diff is the rate of a less that of b. The test is nil where the rates are equal.
	Diff        float64 `json:"diff"`
	Significant bool    `json:"significant"`
	*test
	ByAgent []agentPair `json:"byAgent,omitempty"`
	URL     string      `json:"url"`
}

type test struct {
	CILow     float64 `json:"ciLow"`
	CIHigh    float64 `json:"ciHigh"`
	PAdjusted float64 `json:"pAdjusted"`
}

// A side is one of two compared tools.
type side struct {
	Tool     string  `json:"tool"`
	Slug     string  `json:"slug"`
	PickRate float64 `json:"pickRate"`
	CILow    float64 `json:"ciLow"`
	CIHigh   float64 `json:"ciHigh"`
	Rank     int     `json:"rank"`
	RankLow  int     `json:"rankLow"`
	RankHigh int     `json:"rankHigh"`
	Picks    int     `json:"picks"`
	URL      string  `json:"url"`
	evidence
}

type agentPair struct {
	Agent   string  `json:"agent"`
	NTrials int     `json:"nTrials"`
	A       float64 `json:"a"`
	B       float64 `json:"b"`
}

func (c Call) compare(s *snapshotview.Site) Answer {
	args := read(c.Arguments, "a", "b", "category")
	names, category := [2]string{args.text("a", true, MaxQuery), args.text("b", true, MaxQuery)}, args.slug("category")
	if len(args.issues) > 0 {
		return invalid(args.issues)
	}
	var slugs [2]string
	for i, name := range names {
		if r, by, _ := s.Find(name); by != "" {
			slugs[i] = r.Slug
			continue
		}
		slug, known := s.Slug(name)
		if !known {
			return noTool(s, name, false)
		}
		slugs[i] = slug
	}
	if slugs[0] == slugs[1] {
		return invalid([]Issue{{"/b", "names the same tool as a: " + slugs[0]}})
	}
	board, found := s.Both(slugs[0], slugs[1], category)
	if !found {
		return c.notCompared(s, names, slugs, category)
	}
	return Answer{JSON: encode(c.pair(s, board, slugs))}
}

// notCompared is the failure of two tools that no board of trials ranks, of one category where it is not empty. It has what
// was observed of both.
func (c Call) notCompared(s *snapshotview.Site, names, slugs [2]string, category string) Answer {
	f := Failure{Code: "category_not_found", Query: category}
	_, trials := s.Leaderboard(category)
	if category != "" && !trials && s.ObservedBoard(category, "") == nil {
		f.Description, f.Suggestions = "No such category is measured. Call getLeaderboard for the list of those that are.", s.SuggestCategories(category)
		return Fail(f)
	}
	if board, other := s.Both(slugs[0], slugs[1], ""); other {
		f.Description = "This category does not rank both tools; " + board.Category + " does."
		return Fail(f)
	}
	if uses, page := s.UsesOfBoth(slugs[0], slugs[1], category); page != "" {
		f.Observed = uses
		f.Description = "No trials compare these tools. How often coding agents used each, where both were used, is in observed; " + c.tag(page) + " compares them."
		return Fail(f)
	}
	for _, name := range names {
		if _, by, known := s.Find(name); by == "" {
			return noTool(s, name, known)
		}
	}
	f.Description = "No measured category ranks both tools. Call lookupTool for the category of each."
	return Fail(f)
}

func (c Call) pair(s *snapshotview.Site, board analytics.Board, slugs [2]string) comparison {
	var of [2]analytics.Report
	var sides [2]side
	board.Prompts = nil // not needed
	for i, slug := range slugs {
		r, _ := board.Report(slug)
		of[i] = r
		sides[i] = side{r.Tool, r.Slug, r.PickRate, r.CILow, r.CIHigh, r.Rank, r.RankLow, r.RankHigh, r.Picks, c.tag(r.URL), evidenceOf(s, r)}
	}
	out := comparison{
		Category: board.Category, Name: board.Name, AsOf: board.AsOf, NTrials: board.NTrials, Estimand: board.Estimand, Synthetic: board.Synthetic,
		Warnings: board.Warnings, A: sides[0], B: sides[1], URL: c.tag(board.URL),
	}
	// A board of an older snapshot has only the tests of the rivals that are ahead.
	for i, sign := range []float64{-1, 1} {
		if k := slices.IndexFunc(of[i].BeatenBy, func(r analytics.Rival) bool { return r.Slug == slugs[1-i] }); k >= 0 {
			r := of[i].BeatenBy[k]
			out.Diff, out.Significant, out.test = sign*r.Diff, r.Significant, &test{r.CILow, r.CIHigh, r.PAdjusted}
			if sign < 0 {
				out.CILow, out.CIHigh = 0-r.CIHigh, 0-r.CILow
			}
		}
	}
	if of[0].Breakdown != nil && of[1].Breakdown != nil {
		for i, a := range of[0].ByAgent {
			out.ByAgent = append(out.ByAgent, agentPair{a.Agent, a.NTrials, a.PickRate, of[1].ByAgent[i].PickRate})
		}
	}
	return out
}
