// Package observed makes boards of field studies: among the pull requests or commits that
// use a tool of a category, the share that uses each. They say what agents used, mostly
// what was there before, and not what agents pick. Every value that leaves is marked
// `observed: true`.
package observed

import (
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics"
	facts "github.com/firstpick/firstpick/fixtures/observed"
)

// A board has at least MinUnits units in MinRepos repositories; part of it with fewer has a
// warning.
const (
	MinUnits = 50
	MinRepos = 20
)

// MinUses is the least number of uses of a tool that say something.
const MinUses = 5

// MostlyOne reports whether more than half of the uses of a tool are in one repository, so that it says
// little about others.
func MostlyOne(uses, inOne int) bool { return uses >= MinUses && 2*inOne > uses }

// The warnings, published with the figures. Explain describes them.
const (
	FewUnits        = "few_units"
	FewRepositories = "few_repositories"
	MixedLanguages  = "mixed_languages"
	OneRepository   = "one_repository"
)

// Explain returns the meaning of a warning, one sentence without a full stop.
func Explain(code string) string {
	switch code {
	case FewUnits:
		return "fewer than 50 pull requests or commits"
	case FewRepositories:
		return "fewer than 20 repositories"
	case MixedLanguages:
		return "more than one language: a tool can only be used in its own languages, so compare within a language"
	case OneRepository:
		return "one repository has more than a quarter of the pull requests or commits"
	default:
		return "unknown warning"
	}
}

// Chip returns a warning in a few words. unit is what is counted.
func Chip(code, unit string) string {
	switch code {
	case FewUnits:
		return "fewer than 50 " + unit + "s"
	case OneRepository:
		return "one repository has over a quarter"
	case MixedLanguages:
		return "several languages"
	default:
		return Explain(code)
	}
}

// A Board is the observed board of one category.
type Board struct {
	Category string `json:"category"`
	Name     string `json:"name"`
	Domain   string `json:"domain"`
	// Observed is true: no trial is behind these figures.
	Observed bool `json:"observed"`
	// FieldStudy names the study that the board is counted from.
	FieldStudy string       `json:"fieldStudy"`
	AsOf       *time.Time   `json:"asOf"`
	Estimand   string       `json:"estimand"`
	Source     facts.Source `json:"source"`
	// Unit is what is counted: "pull request" or "commit".
	Unit string `json:"unit"`
	// NUnits is the number of units that use a tool of the category: the denominator of
	// every rate. NRepos is that of their repositories: the clusters.
	NUnits   int        `json:"nUnits"`
	NRepos   int        `json:"nRepos"`
	Warnings []string   `json:"warnings"`
	Tools    []Standing `json:"tools"`
	// Languages and Agents are parts of the board, those with most units first.
	Languages []LanguageBoard `json:"languages"`
	Agents    []AgentBoard    `json:"agents"`
	URL       string          `json:"url"`
	// Largest is the repository of the warning OneRepository, and Pairs compares the tools of a
	// board of one language, by slug, that with the higher rate first. Recount counts both: no
	// document has them.
	Largest *Largest           `json:"-"`
	Pairs   map[[2]string]Pair `json:"-"`
}

// A Standing is one tool of a board. Shares need not sum to 1: a unit may use several tools.
type Standing struct {
	// Rank is 1 for the highest rate; ties share the smaller number. RankLow and RankHigh
	// bound the true rank at 95 % for all tools at once.
	Rank     int    `json:"rank"`
	RankLow  int    `json:"rankLow"`
	RankHigh int    `json:"rankHigh"`
	Tool     string `json:"tool"`
	Slug     string `json:"slug"`
	Use
	Repos  int    `json:"repos"` // repositories with a use
	NUnits int    `json:"nUnits"`
	URL    string `json:"url"`
	// InOne is as in Rate.
	InOne int `json:"-"`
}

// A Use is the share of units that use a tool, 0 to 1, rounded to six decimals, with its
// 95 % interval over repositories.
type Use struct {
	UseRate float64 `json:"useRate"`
	CILow   float64 `json:"ciLow"`
	CIHigh  float64 `json:"ciHigh"`
	Uses    int     `json:"uses"`
}

// A Rate is the share of one tool in a part of a board.
type Rate struct {
	Slug string `json:"slug"`
	Use
	// Repos is the number of repositories with a use, and InOne the number of uses in the repository
	// with most of them; both are 0 in a board from a document, until Recount counted them.
	Repos int `json:"-"`
	InOne int `json:"-"`
}

// A Part is the board of one language or agent: the tools that it used, best first.
type Part struct {
	NUnits   int      `json:"nUnits"`
	NRepos   int      `json:"nRepos"`
	Warnings []string `json:"warnings"`
	Tools    []Rate   `json:"tools"`
	// Largest and Pairs are as in Board, for the part of a language or an agent.
	Largest *Largest           `json:"-"`
	Pairs   map[[2]string]Pair `json:"-"`
}

// Whole returns the board as a part of itself.
func (b *Board) Whole() Part {
	p := Part{NUnits: b.NUnits, NRepos: b.NRepos, Warnings: b.Warnings, Largest: b.Largest, Pairs: b.Pairs}
	for _, s := range b.Tools {
		p.Tools = append(p.Tools, Rate{Slug: s.Slug, Use: s.Use, Repos: s.Repos, InOne: s.InOne})
	}
	return p
}

// A LanguageBoard is the part of a board in one language.
type LanguageBoard struct {
	Language string `json:"language"`
	Part
	// Agents are parts of this part, once Recount counted them. No document has them:
	// they follow from the lines of the study.
	Agents []AgentBoard `json:"-"`
}

// An AgentBoard is the part of a board by one agent.
type AgentBoard struct {
	Agent string `json:"agent"`
	Part
}

// An Item is a line of the list of observed boards.
type Item struct {
	Category   string     `json:"category"`
	Name       string     `json:"name"`
	Domain     string     `json:"domain"`
	Observed   bool       `json:"observed"`
	FieldStudy string     `json:"fieldStudy"`
	Unit       string     `json:"unit"`
	NUnits     int        `json:"nUnits"`
	NRepos     int        `json:"nRepos"`
	AsOf       *time.Time `json:"asOf"`
	URL        string     `json:"url"`
}

// An Omitted is a category that a study saw and that has no board of it.
type Omitted struct {
	Category   string `json:"category"`
	Observed   bool   `json:"observed"`
	FieldStudy string `json:"fieldStudy"`
	NUnits     int    `json:"nUnits"`
	NRepos     int    `json:"nRepos"`
	Reason     string `json:"reason"`
}

// Item returns the board's line in the list.
func (b Board) Item() Item {
	return Item{b.Category, b.Name, b.Domain, true, b.FieldStudy, b.Unit, b.NUnits, b.NRepos, b.AsOf, b.URL}
}

// Rate returns the field rate of a tool; nil where the board does not list it.
func (b Board) Rate(slug string) *analytics.FieldRate {
	for _, s := range b.Tools {
		if s.Slug == slug {
			return &analytics.FieldRate{
				Observed: true, UseRate: s.UseRate, CILow: s.CILow, CIHigh: s.CIHigh, Uses: s.Uses, NUnits: b.NUnits, NRepos: b.NRepos, URL: b.URL,
			}
		}
	}
	return nil
}

// WithBase returns a copy whose URLs begin with base, an address without trailing slash.
func (b Board) WithBase(base string) Board {
	b.URL = base + b.URL
	b.Tools = append([]Standing{}, b.Tools...)
	for i := range b.Tools {
		b.Tools[i].URL = base + b.Tools[i].URL
	}
	return b
}

// Heading is the title of a board, with the mark.
func (b Board) Heading() string { return Mark + ": " + b.Name + ", what agents used" }

// Mark begins every text that has observed figures.
const Mark = "OBSERVED"

// Notice is what stands above observed figures.
const Notice = Mark + ": counted from real work, not from answers to prompts. Never a pick rate."

// Cite is the line that must accompany the figures.
func (b Board) Cite() string {
	parts := []string{b.Source.Cite}
	if b.Source.URL != "" {
		parts = append(parts, b.Source.URL)
	}
	if b.Source.Licence != "" {
		parts = append(parts, "("+b.Source.Licence+")")
	}
	return strings.Join(parts, " ")
}
