package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/analytics/stats"
)

// A Status is the outcome of a rule.
type Status string

// The statuses.
const (
	Met       Status = "met"
	Failed    Status = "failed"
	Undecided Status = "undecided" // the measured runs do not decide it
)

// A Subject is one measured category, and the baselines that rules name for it.
type Subject struct {
	Board       analytics.Board
	Measurement analytics.Measurement
	// Missing counts planned trials that are neither answered nor excluded: the run
	// is not over.
	Missing int
	// Baselines are measurements of snapshots, by the name that the rules have for them. A
	// snapshot without the category has none.
	Baselines map[string]Baseline
	// Nights are those of the category, up to the measured runs, by Rule.Since; a rule that
	// has it needs them.
	Nights map[string][]nights.Line
}

// A Baseline is the earlier state of a category.
type Baseline struct {
	Measurement analytics.Measurement
	// Notes list the other differences to the baseline.
	Notes []string
}

// A Verdict is the result of one rule for one category.
type Verdict struct {
	Rule     string `json:"rule"`
	Category string `json:"category"`
	Status   Status `json:"status"`
	// Value is the figure, Low and High its interval where it has one.
	Value *float64 `json:"value,omitempty"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
	// Measured describes the number, Why the reason.
	Measured string `json:"measured"`
	Why      string `json:"why"`
}

// Check evaluates rules against measured runs. Every rule gives one result per
// matching category, or one undecided result if no category matches.
func Check(rules []Rule, subjects []Subject) []Verdict {
	out := []Verdict{}
	differences := compareAll(rules, subjects)
	for _, r := range rules {
		found := false
		for i := range subjects {
			if s := &subjects[i]; r.About(s.Board) {
				found = true
				out = append(out, r.judge(s, differences))
			}
		}
		if !found {
			out = append(out, Verdict{Rule: r.Text, Category: r.Category, Status: Undecided, Measured: "nothing", Why: "no trials of that were made"})
		}
	}
	return out
}

// About reports whether the rule is about a board: of its category, with its tool.
func (r Rule) About(b analytics.Board) bool {
	if r.Category != "" && r.Category != b.Category {
		return false
	}
	return r.Tool == "" || slices.ContainsFunc(b.Tools, func(s analytics.Standing) bool { return s.Slug == r.Tool })
}

func (r Rule) judge(s *Subject, differences map[comparison]*analytics.Difference) Verdict {
	v := Verdict{Rule: r.Text, Category: s.Board.Category, Status: Undecided, Measured: "nothing"}
	if s.Board.NTrials == 0 {
		v.Why = "no valid trial"
		return v
	}
	switch r.Metric {
	case drop:
		return r.judgeDrop(v, s, differences)
	case night:
		return r.judgeNight(v, s)
	}
	f := r.figure(s.Board)
	if math.IsNaN(f.value) {
		v.Why = "the trials do not report it; run `firstpick extract --run RUN` to read them again (imported outcomes never report it)"
		return v
	}
	v.Value, v.Measured = &f.value, f.String()
	if f.bounded {
		v.Low, v.High = &f.low, &f.high
	}
	decides, name := f.value, "it"
	switch r.Bound {
	case "low":
		decides, name = f.low, "its lower end"
	case "high":
		decides, name = f.high, "its upper end"
	}
	v.Status, v.Why = Failed, fmt.Sprintf("%s is %s, not %s %s", name, f.show(decides), r.Op, f.show(r.Limit))
	if compare(decides, r.Op, r.Limit) {
		v.Status, v.Why = Met, fmt.Sprintf("%s is %s", name, f.show(decides))
	}
	return v
}

func compare(v float64, op string, limit float64) bool {
	switch op {
	case ">=":
		return v >= limit
	case "<=":
		return v <= limit
	case ">":
		return v > limit
	default:
		return v < limit
	}
}

// A comparison is one tool of one category against one snapshot.
type comparison struct{ category, tool, baseline string }

// compareAll makes the differences of all drops, corrected together: a gate with twenty
// tools would fail every other night by chance alone.
func compareAll(rules []Rule, subjects []Subject) map[comparison]*analytics.Difference {
	out := map[comparison]*analytics.Difference{}
	var all []*analytics.Difference
	for _, r := range rules {
		for _, s := range subjects {
			key := comparison{s.Board.Category, r.Tool, r.Baseline}
			base, ok := s.Baselines[r.Baseline]
			if r.Metric != drop || !r.About(s.Board) || !ok || out[key] != nil {
				continue
			}
			d := &analytics.Differences(base.Measurement, s.Measurement, []string{r.Tool})[0]
			out[key], all = d, append(all, d)
		}
	}
	analytics.Simultaneous(all)
	return out
}

func (r Rule) judgeDrop(v Verdict, s *Subject, differences map[comparison]*analytics.Difference) Verdict {
	base, ok := s.Baselines[r.Baseline]
	if !ok {
		v.Why = "snapshot " + r.Baseline + " does not have this category"
		return v
	}
	d := differences[comparison{s.Board.Category, r.Tool, r.Baseline}]
	how := "other prompts than before"
	if d.Paired > 0 {
		how = fmt.Sprintf("%d prompts paired", d.Paired)
	}
	v.Value, v.Low, v.High = &d.Value, &d.Interval.Low, &d.Interval.High
	v.Measured = fmt.Sprintf("%.1f%% → %.1f%%: %+.1f pp (95 %%: %+.1f to %+.1f), p %.3f, %s",
		stats.Percent(d.Old), stats.Percent(d.New), stats.Percent(d.Value), stats.Percent(d.Interval.Low), stats.Percent(d.Interval.High), d.P, how)
	switch {
	case math.IsNaN(d.SE):
		v.Why = "too few prompts, or no variance between them: the test is undefined"
	case r.Op != "":
		v.Status, v.Why = r.judgeMargin(d)
	case d.Value < 0 && d.Shown:
		v.Status, v.Why = Failed, "the pick rate dropped"
	default:
		v.Status, v.Why = Met, fmt.Sprintf("no drop is shown; one of up to %.1f pp is possible", 100*math.Max(0, -d.Interval.Low))
	}
	for _, n := range base.Notes {
		v.Why += "; " + n
	}
	return v
}

// judgeMargin checks that a drop is at most the limit: met if the whole interval is below
// it (non-inferiority: Schuirmann 1987), failed if the whole interval is above, otherwise
// undecided by the trials, which is not met either.
func (r Rule) judgeMargin(d *analytics.Difference) (Status, string) {
	most, least := -d.Interval.Low, -d.Interval.High
	switch {
	case compare(most, r.Op, r.Limit):
		return Met, fmt.Sprintf("the drop is at most %.1f pp", 100*math.Max(0, most))
	case !compare(least, r.Op, r.Limit):
		return Failed, fmt.Sprintf("the drop is at least %.1f pp", 100*least)
	}
	return Failed, fmt.Sprintf("a drop of %.1f pp is not excluded: more prompts would narrow the interval", 100*most)
}

// A figure is a number with its interval, and how it is shown; NaN if it is unknown.
type figure struct {
	value, low, high float64
	bounded, share   bool
}

func (f figure) show(v float64) string {
	if f.share {
		return fmt.Sprintf("%.1f%%", stats.Percent(v))
	}
	return fmt.Sprintf("%g", math.Round(v*1000)/1000)
}

func (f figure) String() string {
	if !f.bounded {
		return f.show(f.value)
	}
	return fmt.Sprintf("%s (%s–%s)", f.show(f.value), f.show(f.low), f.show(f.high))
}

func (r Rule) figure(b analytics.Board) figure {
	switch r.Metric {
	case coverage:
		if b.Coverage == nil {
			return figure{value: math.NaN()}
		}
		return figure{value: *b.Coverage, share: true}
	case mismatchRate:
		return figure{b.SayDoMismatchRate, b.SayDoMismatchLow, b.SayDoMismatchHigh, true, true}
	case diyRate:
		return figure{b.DIYRate, b.DIYLow, b.DIYHigh, true, true}
	case unresolved:
		return figure{value: unresolvedRate(b), share: true}
	case trials:
		return figure{value: float64(b.NTrials)}
	case prompts:
		return figure{value: float64(b.NFamilies)}
	}
	s := b.Tools[slices.IndexFunc(b.Tools, func(s analytics.Standing) bool { return s.Slug == r.Tool })]
	switch r.Metric {
	case Rank:
		return figure{float64(s.Rank), float64(s.RankLow), float64(s.RankHigh), true, false}
	case shortlistRate:
		return figure{s.ShortlistRate, s.ShortlistLow, s.ShortlistHigh, true, true}
	case defaultRate:
		return figure{s.DefaultRate, s.DefaultLow, s.DefaultHigh, true, true}
	case firstNamed:
		if s.FirstNamedRate == nil {
			return figure{value: math.NaN()}
		}
		return figure{value: *s.FirstNamedRate, share: true}
	default:
		return figure{s.PickRate, s.CILow, s.CIHigh, true, true}
	}
}

// unresolvedRate is the share of a board's trials that no rule decided.
func unresolvedRate(b analytics.Board) float64 {
	if b.Unresolved == nil {
		return math.NaN()
	}
	return float64(*b.Unresolved) / float64(b.NTrials)
}
