package analytics

import (
	"time"

	"github.com/firstpick/firstpick/runner/pick"
)

// A Cell counts the valid trials of one category that are alike in everything
// the statistics look at.
type Cell struct {
	Prompt  string
	Agent   string
	Outcome pick.Kind
	// Picked is the slug of the tool where Outcome is pick.Tool.
	Picked string
	// Shortlist holds sorted slugs.
	Shortlist []string
	// Trials is how many there are.
	Trials int
	// Mismatched is how many of them said one tool and used another.
	Mismatched int
	// LastAt is when the latest of them finished.
	LastAt time.Time
}

// A Board is the leaderboard of one category: the shape that `rank --json` and
// GET /api/public/leaderboard?category= share.
type Board struct {
	Category string `json:"category"`
	Name     string `json:"name"`
	Domain   string `json:"domain"`
	// AsOf is when the last trial finished; null without trials.
	AsOf *time.Time `json:"asOf"`
	// Field is how many tools are ranked.
	Field int `json:"field"`
	// NTrials is the number of valid trials: the denominator of every rate.
	NTrials int `json:"nTrials"`
	// NPrompts is the number of prompts, the clusters of the intervals.
	NPrompts int `json:"nPrompts"`
	// Coverage is valid / planned trials, 0 to 1.
	Coverage float64 `json:"coverage"`
	// Synthetic marks figures of simulated agents.
	Synthetic bool     `json:"synthetic"`
	Warnings  []string `json:"warnings"`
	Outcomes  Outcomes `json:"outcomes"`
	// SayDoMismatchRate is the share of trials that said one tool and used
	// another.
	SayDoMismatchRate float64 `json:"sayDoMismatchRate"`
	// ExtractionError is nil without labels.
	ExtractionError *ExtractionError `json:"extractionError,omitempty"`
	Tools           []Standing       `json:"tools"`
	Agents          []AgentBoard     `json:"agents"`
	URL             string           `json:"url"`
}

// Outcomes counts the valid trials by outcome; the sum is Board.NTrials.
type Outcomes struct {
	Tool      int `json:"tool"`
	DIY       int `json:"diy"`
	Other     int `json:"other"`
	None      int `json:"none"`
	Ambiguous int `json:"ambiguous"`
	Refused   int `json:"refused"`
	Truncated int `json:"truncated"`
}

// A Standing is one tool on a board. Rates are shares of valid trials, 0 to 1,
// rounded to six decimals so that every platform prints the same bytes.
type Standing struct {
	// Rank is 1 for the highest rate; ties share the smaller number. RankLow
	// and RankHigh bound the tool's true rank at 95 % for all tools at once.
	Rank     int     `json:"rank"`
	RankLow  int     `json:"rankLow"`
	RankHigh int     `json:"rankHigh"`
	Tool     string  `json:"tool"`
	Slug     string  `json:"slug"`
	PickRate float64 `json:"pickRate"`
	// CILow and CIHigh are the 95 % interval over prompts; FlatLow and
	// FlatHigh the Wilson interval that ignores prompts, for comparison only.
	CILow    float64 `json:"ciLow"`
	CIHigh   float64 `json:"ciHigh"`
	FlatLow  float64 `json:"flatLow"`
	FlatHigh float64 `json:"flatHigh"`
	// ShortlistRate >= PickRate >= DefaultRate always holds.
	ShortlistRate float64  `json:"shortlistRate"`
	DefaultRate   float64  `json:"defaultRate"`
	Picks         int      `json:"picks"`
	NTrials       int      `json:"nTrials"`
	Warnings      []string `json:"warnings"`
	URL           string   `json:"url"`
	// Labelled is the rate that labels corrected; nil without them.
	Labelled *CorrectedRate `json:"labelled,omitempty"`

	// BeatenBy holds the rivals with a higher rate, best first. It is printed
	// in the tool's report, not on the board.
	BeatenBy []Rival `json:"-"`
}

// A Metric is a number of a standing that pages, markdown and `rank` show after the pick
// rate and its interval. Column is its heading in a table, Name that on a tool's page.
type Metric struct {
	Name, Column string
	Rate         bool // a share, shown in percent
	Value        func(Standing) float64
}

// Metrics returns the metrics in the order of the columns.
func Metrics() []Metric {
	return []Metric{
		{"Shortlist rate", "Shortlist", true, func(s Standing) float64 { return s.ShortlistRate }},
		{"Default rate", "Default", true, func(s Standing) float64 { return s.DefaultRate }},
		{"Picks", "Picks", false, func(s Standing) float64 { return float64(s.Picks) }},
	}
}

// A Rival is a tool with a higher pick rate than another.
type Rival struct {
	Tool     string  `json:"tool"`
	Slug     string  `json:"slug"`
	Rank     int     `json:"rank"`
	PickRate float64 `json:"pickRate"`
	// Diff is the rival's rate less the tool's, with its 95 % interval from the
	// paired difference clustered by prompt.
	Diff   float64 `json:"diff"`
	CILow  float64 `json:"ciLow"`
	CIHigh float64 `json:"ciHigh"`
	// PAdjusted is the p-value after Holm within the category; Significant
	// says whether it is below 0.05.
	PAdjusted   float64 `json:"pAdjusted"`
	Significant bool    `json:"significant"`
	URL         string  `json:"url"`
}

// An AgentBoard is the share that one agent gives to every tool.
type AgentBoard struct {
	Agent   string      `json:"agent"`
	NTrials int         `json:"nTrials"`
	Tools   []AgentRate `json:"tools"`
}

// An AgentRate is one tool's share with one agent.
type AgentRate struct {
	Slug     string  `json:"slug"`
	PickRate float64 `json:"pickRate"`
	Picks    int     `json:"picks"`
}

// A Report is the answer of GET /api/public/report: one tool, in one category.
type Report struct {
	Tool          string     `json:"tool"`
	Slug          string     `json:"slug"`
	Category      string     `json:"category"`
	PickRate      float64    `json:"pickRate"`
	CILow         float64    `json:"ciLow"`
	CIHigh        float64    `json:"ciHigh"`
	FlatLow       float64    `json:"flatLow"`
	FlatHigh      float64    `json:"flatHigh"`
	Rank          int        `json:"rank"`
	RankLow       int        `json:"rankLow"`
	RankHigh      int        `json:"rankHigh"`
	Field         int        `json:"field"`
	DefaultRate   float64    `json:"defaultRate"`
	ShortlistRate float64    `json:"shortlistRate"`
	Picks         int        `json:"picks"`
	NTrials       int        `json:"nTrials"`
	Coverage      float64    `json:"coverage"`
	AsOf          *time.Time `json:"asOf"`
	Synthetic     bool       `json:"synthetic"`
	Warnings      []string   `json:"warnings"`
	BeatenBy      []Rival    `json:"beatenBy"`
	URL           string     `json:"url"`
	// Labelled and ExtractionError are nil without labels.
	Labelled        *CorrectedRate   `json:"labelled,omitempty"`
	ExtractionError *ExtractionError `json:"extractionError,omitempty"`
}

// A CategoryItem is a line of the list of categories.
type CategoryItem struct {
	Slug    string     `json:"slug"`
	Name    string     `json:"name"`
	Domain  string     `json:"domain"`
	Field   int        `json:"field"`
	NTrials int        `json:"nTrials"`
	AsOf    *time.Time `json:"asOf"`
	URL     string     `json:"url"`
}
