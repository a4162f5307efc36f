package analytics

import (
	"time"

	"github.com/firstpick/firstpick/runner/pick"
)

// A Board is the leaderboard of one category: the shape that `rank --json` and
// GET /api/public/leaderboard?category= share.
type Board struct {
	Category string `json:"category"`
	Name     string `json:"name"`
	Domain   string `json:"domain"`
	// Study names the study that the category was made for; empty for a general category.
	Study string `json:"study,omitempty"`
	// AsOf is when the last trial finished; null without trials.
	AsOf *time.Time `json:"asOf"`
	// Field is how many tools are ranked.
	Field int `json:"field"`
	// NTrials is the number of valid trials: the denominator of every rate.
	NTrials int `json:"nTrials"`
	// NPrompts is the number of prompts, NFamilies that of prompt families: prompts that
	// ask for the same task are one family. Families are the clusters of the intervals.
	NPrompts  int `json:"nPrompts"`
	NFamilies int `json:"nFamilies,omitempty"`
	// Coverage is valid / planned trials, 0 to 1; nil where the number of planned trials
	// is unknown.
	Coverage *float64 `json:"coverage"`
	// Estimand says in one sentence what the rates are of.
	Estimand string `json:"estimand,omitempty"`
	// Synthetic marks figures of simulated agents.
	Synthetic bool     `json:"synthetic"`
	Warnings  []string `json:"warnings"`
	Outcomes  Outcomes `json:"outcomes"`
	// Unresolved counts the trials that no rule decided; they are in Outcomes.Ambiguous.
	// It is nil where a trial does not report it.
	Unresolved *int `json:"unresolved,omitempty"`
	// DecidedBy counts the trials by the layer of reading that decided; nil where unknown.
	DecidedBy *DecidedBy `json:"decidedBy,omitempty"`
	// Judge counts what two judges read; nil where they read nothing.
	Judge *JudgeCounts `json:"judge,omitempty"`
	// SayDoMismatchRate is the share of trials that said one tool and used another.
	SayDoMismatchRate float64 `json:"sayDoMismatchRate"`
	*BoardDetail
	// Consistency says how far repeats agree; nil without repeats.
	Consistency *Consistency `json:"consistency,omitempty"`
	// ExtractionError is nil without labels.
	ExtractionError *ExtractionError `json:"extractionError,omitempty"`
	Tools           []Standing       `json:"tools"`
	Agents          []AgentBoard     `json:"agents"`
	// FieldAgreement compares the ranks with those of an observed board; nil without one,
	// and with fewer than four tools in common.
	FieldAgreement *FieldAgreement `json:"fieldAgreement,omitempty"`
	// Cuts are the rates by tag of the prompts, sorted by tag and value; empty without tags.
	Cuts []Cut  `json:"cuts,omitempty"`
	URL  string `json:"url"`

	// Prompts are not printed on the board, but in a list of their own. Rank leaves them
	// out: Measurement.Prompts counts them.
	Prompts []Prompt `json:"-"`
}

// A BoardDetail is a part of Board. It is nil in boards of older snapshots.
type BoardDetail struct {
	// SayDoMismatchLow to SayDoMismatchHigh is the 95 % interval of SayDoMismatchRate.
	SayDoMismatchLow  float64 `json:"sayDoMismatchLow"`
	SayDoMismatchHigh float64 `json:"sayDoMismatchHigh"`
	// DIYRate is the share of trials that built their own, with its 95 % interval.
	DIYRate float64 `json:"diyRate"`
	DIYLow  float64 `json:"diyLow"`
	DIYHigh float64 `json:"diyHigh"`
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

// DecidedBy counts valid trials by the layer of reading that decided their outcome; the
// sum is Board.NTrials. Undecided are those that no layer decided: unresolved ones, and
// answers without a reason on record.
type DecidedBy struct {
	Structured int `json:"structured"`
	Actions    int `json:"actions"`
	Statement  int `json:"statement"`
	Judge      int `json:"judge"`
	Given      int `json:"given"`
	Undecided  int `json:"undecided"`
}

// JudgeCounts counts the trials that two judge models read because no rule decided.
// Resolved <= Agreed <= Judged; the others of Agreed are those that both cannot tell.
type JudgeCounts struct {
	Judged   int `json:"judged"`
	Agreed   int `json:"agreed"`
	Resolved int `json:"resolved"`
}

// Add counts n trials of a layer; see pick.Layers.
func (d *DecidedBy) Add(layer string, n int) {
	switch layer {
	case pick.LayerStructured:
		d.Structured += n
	case pick.LayerActions:
		d.Actions += n
	case pick.LayerStatement:
		d.Statement += n
	case pick.LayerJudge:
		d.Judge += n
	case pick.LayerGiven:
		d.Given += n
	default:
		d.Undecided += n
	}
}

func (d DecidedBy) sum() int {
	return d.Structured + d.Actions + d.Statement + d.Judge + d.Given + d.Undecided
}

// A Standing is one tool on a board. Rates are shares of valid trials as Estimand weighs
// them, 0 to 1, rounded to six decimals so that every platform prints the same bytes.
type Standing struct {
	// Rank is 1 for the highest rate; ties share the smaller number. RankLow
	// and RankHigh bound the tool's true rank at 95 % for all tools at once.
	Rank     int     `json:"rank"`
	RankLow  int     `json:"rankLow"`
	RankHigh int     `json:"rankHigh"`
	Tool     string  `json:"tool"`
	Slug     string  `json:"slug"`
	PickRate float64 `json:"pickRate"`
	// CILow and CIHigh are the 95 % interval over prompt families; FlatLow and
	// FlatHigh the Wilson interval that ignores them, for comparison only.
	CILow    float64 `json:"ciLow"`
	CIHigh   float64 `json:"ciHigh"`
	FlatLow  float64 `json:"flatLow"`
	FlatHigh float64 `json:"flatHigh"`
	// ShortlistRate >= PickRate >= DefaultRate always holds.
	ShortlistRate float64 `json:"shortlistRate"`
	DefaultRate   float64 `json:"defaultRate"`
	// FirstNamedRate is the share of trials whose final message names the tool before its
	// rivals; nil where a trial does not report it.
	FirstNamedRate *float64 `json:"firstNamedRate,omitempty"`
	Picks          int      `json:"picks"`
	NTrials        int      `json:"nTrials"`
	*Detail
	Warnings []string `json:"warnings"`
	URL      string   `json:"url"`
	// Labelled is the rate that labels corrected; nil without them.
	Labelled *CorrectedRate `json:"labelled,omitempty"`
	// FieldRate is what was observed of the tool; nil without an observed board.
	FieldRate *FieldRate `json:"fieldRate,omitempty"`

	// BeatenBy holds the rivals with a higher rate, best first. It and Breakdown are printed
	// in the tool's report, not on the board.
	BeatenBy  []Rival    `json:"-"`
	Breakdown *Breakdown `json:"-"`
}

// A Detail is what backs a tool's rates: a part of Standing and Report. It is nil in boards
// of older snapshots.
type Detail struct {
	// RawRate is Picks / NTrials; nil where every trial counts the same, as it is then
	// PickRate.
	RawRate *float64 `json:"rawRate,omitempty"`
	// ShortlistLow to ShortlistHigh and DefaultLow to DefaultHigh are 95 % intervals.
	ShortlistLow  float64 `json:"shortlistLow"`
	ShortlistHigh float64 `json:"shortlistHigh"`
	DefaultLow    float64 `json:"defaultLow"`
	DefaultHigh   float64 `json:"defaultHigh"`
	// PopulationLow to PopulationHigh is the 95 % interval of PickRate for agents like
	// these; nil with fewer than three agents or two prompt families.
	PopulationLow  *float64 `json:"populationLow,omitempty"`
	PopulationHigh *float64 `json:"populationHigh,omitempty"`
	// BoundLow to BoundHigh is the range of PickRate whatever the missing and the
	// unresolved trials would have picked (Manski 2003); nil where trials are missing of an
	// unbalanced plan.
	BoundLow  *float64 `json:"boundLow,omitempty"`
	BoundHigh *float64 `json:"boundHigh,omitempty"`
	// NEff is how many independent trials would say as much; 0 with one family.
	NEff float64 `json:"nEff"`
	// WithoutAgent and WithoutFamily are the ranges of PickRate when one agent or one
	// prompt family is left out; nil where there is only one.
	WithoutAgent  *Range `json:"withoutAgent,omitempty"`
	WithoutFamily *Range `json:"withoutFamily,omitempty"`
	// Variance says where the variance between trials comes from; nil without picks.
	Variance *Variance `json:"variance,omitempty"`
}

// A Range is a range of rates.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// A Metric is a number of a standing that pages, markdown and `rank` show after the pick
// rate and its interval. Column is its heading in a table, Name that on a tool's page.
type Metric struct {
	Name, Column string
	Rate         bool // a share, shown in percent
	// Value returns nil where the board does not have the metric.
	Value func(Standing) *float64
}

// Metrics returns the metrics in the order of the columns.
func Metrics() []Metric {
	return []Metric{
		{"Shortlist rate", "Shortlist", true, func(s Standing) *float64 { return &s.ShortlistRate }},
		{"Default rate", "Default", true, func(s Standing) *float64 { return &s.DefaultRate }},
		{"First-named rate", "First named", true, func(s Standing) *float64 { return s.FirstNamedRate }},
		{"Picks", "Picks", false, func(s Standing) *float64 { n := float64(s.Picks); return &n }},
	}
}

// A Rival is a tool with a higher pick rate than another.
type Rival struct {
	Tool     string  `json:"tool"`
	Slug     string  `json:"slug"`
	Rank     int     `json:"rank"`
	PickRate float64 `json:"pickRate"`
	// Diff is the rival's rate less the tool's. The interval allows for all pairs of the
	// board: it is above 0 exactly where Significant.
	Diff   float64 `json:"diff"`
	CILow  float64 `json:"ciLow"`
	CIHigh float64 `json:"ciHigh"`
	// PAdjusted is the one-sided p-value after Holm over all ordered pairs of the
	// category; Significant says whether it is below 0.05. Rank ranges follow from it.
	PAdjusted   float64 `json:"pAdjusted"`
	Significant bool    `json:"significant"`
	URL         string  `json:"url"`
}

// An AgentBoard is the share that one agent gives to every tool.
type AgentBoard struct {
	Agent   string `json:"agent"`
	NTrials int    `json:"nTrials"`
	// NFamilies is the number of prompt families that the agent answered, Weight how much
	// it counts in the rates of the board, 0 to 1.
	NFamilies int     `json:"nFamilies,omitempty"`
	Weight    float64 `json:"weight,omitempty"`
	// Unresolved is as in Board, of this agent's trials.
	Unresolved *int        `json:"unresolved,omitempty"`
	Tools      []AgentRate `json:"tools"`
}

// An AgentRate is one tool's share with one agent, or under one tag, with its 95 %
// interval.
type AgentRate struct {
	Slug     string  `json:"slug"`
	PickRate float64 `json:"pickRate"`
	*Interval
	Picks int `json:"picks"`
}

// An Interval is the 95 % interval of an AgentRate. It is nil in boards of older snapshots.
type Interval struct {
	CILow  float64 `json:"ciLow"`
	CIHigh float64 `json:"ciHigh"`
}

// A Cut is a board of the prompts that have one value of a tag.
type Cut struct {
	// Tag is ecosystem, intent or persona.
	Tag       string `json:"tag"`
	Value     string `json:"value"`
	NTrials   int    `json:"nTrials"`
	NFamilies int    `json:"nFamilies"`
	// Warnings has Directional for a small cut.
	Warnings []string    `json:"warnings"`
	Tools    []AgentRate `json:"tools"`
}

// A Report is the answer of GET /api/public/report: one tool, in one category.
type Report struct {
	Tool          string  `json:"tool"`
	Slug          string  `json:"slug"`
	Category      string  `json:"category"`
	PickRate      float64 `json:"pickRate"`
	CILow         float64 `json:"ciLow"`
	CIHigh        float64 `json:"ciHigh"`
	FlatLow       float64 `json:"flatLow"`
	FlatHigh      float64 `json:"flatHigh"`
	Rank          int     `json:"rank"`
	RankLow       int     `json:"rankLow"`
	RankHigh      int     `json:"rankHigh"`
	Field         int     `json:"field"`
	DefaultRate   float64 `json:"defaultRate"`
	ShortlistRate float64 `json:"shortlistRate"`
	// FirstNamedRate is that of Standing.
	FirstNamedRate *float64 `json:"firstNamedRate,omitempty"`
	Picks          int      `json:"picks"`
	NTrials        int      `json:"nTrials"`
	*Detail
	Estimand  string     `json:"estimand,omitempty"`
	Coverage  *float64   `json:"coverage"`
	AsOf      *time.Time `json:"asOf"`
	Synthetic bool       `json:"synthetic"`
	Warnings  []string   `json:"warnings"`
	BeatenBy  []Rival    `json:"beatenBy"`
	*Breakdown
	URL string `json:"url"`
	// Labelled and ExtractionError are nil without labels.
	Labelled        *CorrectedRate   `json:"labelled,omitempty"`
	ExtractionError *ExtractionError `json:"extractionError,omitempty"`
	// FieldRate is that of Standing.
	FieldRate *FieldRate `json:"fieldRate,omitempty"`
}

// A CategoryItem is a line of the list of categories.
type CategoryItem struct {
	Slug    string     `json:"slug"`
	Name    string     `json:"name"`
	Domain  string     `json:"domain"`
	Study   string     `json:"study,omitempty"` // as in Board
	Field   int        `json:"field"`
	NTrials int        `json:"nTrials"`
	AsOf    *time.Time `json:"asOf"`
	URL     string     `json:"url"`
}
