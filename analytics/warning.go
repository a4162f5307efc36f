package analytics

import (
	"fmt"
	"math"
	"slices"

	"github.com/firstpick/firstpick/analytics/stats"
)

// The warnings. A warning is a code published with the numbers; Explain describes
// it.
const (
	Directional  = "directional"
	SinglePrompt = "single_prompt"
	Incomplete   = "incomplete"
	Synthetic    = "synthetic"
	NoTrials     = "no_trials"
	// CoverageUnknown: answers were imported, and the number of planned trials is unknown.
	CoverageUnknown = "coverage_unknown"
	// Unbalanced: trials do not all count the same; WeightsMatter: counting them the same
	// would change a rank, or a rate by more than 5 points.
	Unbalanced    = "unbalanced"
	WeightsMatter = "weights_matter"
	// The reliability flags of a rate (Parker et al. 2017, National Center for Health
	// Statistics data presentation standards for proportions).
	FewEffectiveTrials   = "few_effective_trials"
	WideInterval         = "wide_interval"
	WideRelativeInterval = "wide_relative_interval"
	FewFamilies          = "few_families"
	// StoppedByRule: a run ended when its stopping rule was decided.
	StoppedByRule = "stopped_by_rule"
	// Unlabelled: nobody has checked the extracted outcomes; see Board.WithLabels.
	Unlabelled = "unlabelled"
)

// WarningCodes returns every code in the order of its name.
func WarningCodes() []string {
	return []string{
		CoverageUnknown, Directional, FewEffectiveTrials, FewFamilies, Incomplete, NoTrials, SinglePrompt, StoppedByRule, Synthetic, Unbalanced, Unlabelled,
		WeightsMatter, WideInterval, WideRelativeInterval,
	}
}

// Explain returns the meaning of a warning, one sentence without a full stop.
func Explain(code string) string {
	switch code {
	case Directional:
		return "early result: fewer than 20 prompt families or 30 trials, or coverage unknown or below 95 %"
	case CoverageUnknown:
		return "imported answers: the number of planned trials is unknown, and so is coverage"
	case SinglePrompt:
		return "measured with one prompt only; other prompts may differ, so the interval is 0 to 100 %"
	case Incomplete:
		return "some planned trials are missing"
	case Synthetic:
		return "answers of simulated agents, not a measurement"
	case NoTrials:
		return "no valid trials yet"
	case StoppedByRule:
		return "a run ended when its stopping rule was decided, so rates lean towards the verdict: quote the verdict"
	case Unbalanced:
		return "some agents or prompt families have more trials than others: rates count agents by weight and families equally, rawRate counts all trials equally"
	case WeightsMatter:
		return "if all trials counted equally, a rank or a rate by more than 5 points would be different: compare pickRate with rawRate"
	case FewEffectiveTrials:
		return "unreliable rate: answers to one prompt are alike, and together these count as fewer than 30 independent ones"
	case WideInterval:
		return "unreliable rate: the 95 % interval is 30 points wide or wider"
	case WideRelativeInterval:
		return "unreliable rate: the 95 % interval is wider than 5 points and than 130 % of the rate, or of the rest"
	case FewFamilies:
		return "unreliable interval: fewer than 9 prompt families"
	case Unlabelled:
		return "the share of wrongly extracted outcomes is unknown: fewer than 30 trials of a random sample are labelled by people"
	default:
		return "unknown warning"
	}
}

// warnings lists the doubts about a board, sorted by code.
func (b *Board) warnings(doubts []string) []string {
	out := []string{}
	if slices.Contains(doubts, CoverageUnknown) {
		out = append(out, CoverageUnknown)
	}
	if b.directional() || len(doubts) > 0 {
		out = append(out, Directional)
	}
	if b.Coverage != nil && *b.Coverage < 1 || slices.Contains(doubts, Incomplete) {
		out = append(out, Incomplete)
	}
	if b.NTrials == 0 {
		out = append(out, NoTrials)
	}
	if b.NFamilies == 1 {
		out = append(out, SinglePrompt)
	}
	if slices.Contains(doubts, StoppedByRule) {
		out = append(out, StoppedByRule)
	}
	if b.Synthetic {
		out = append(out, Synthetic)
	}
	return out
}

// addWeightWarnings adds the warnings of a board whose trials do not count the same.
func (b *Board) addWeightWarnings(t *tally) {
	if t.design.Balanced || b.NTrials == 0 {
		return
	}
	b.Warnings = append(b.Warnings, Unbalanced)
	for i, s := range b.Tools {
		rank := 1
		for _, other := range b.Tools {
			if other.Picks > s.Picks {
				rank++
			}
		}
		if rank != b.Tools[i].Rank || math.Abs(*s.RawRate-s.PickRate) > 0.05 {
			b.Warnings = append(b.Warnings, WeightsMatter)
			break
		}
	}
	slices.Sort(b.Warnings)
}

// toolWarnings returns the doubts of the whole board that a single row repeats, and the
// reliability flags of its rate, sorted.
func (b *Board) toolWarnings(p stats.Rate, families int) []string {
	out := []string{}
	for _, code := range b.Warnings {
		if code == Directional || code == Synthetic {
			out = append(out, code)
		}
	}
	if b.NTrials == 0 {
		return out
	}
	if families < 9 {
		out = append(out, FewFamilies)
	}
	width := p.Interval.High - p.Interval.Low
	if p.NEff < minTrials {
		out = append(out, FewEffectiveTrials)
	}
	switch {
	case width >= 0.30:
		out = append(out, WideInterval)
	case width > 0.05 && 0 < p.Value && p.Value < 1 && width > 1.3*math.Min(p.Value, 1-p.Value):
		out = append(out, WideRelativeInterval)
	}
	slices.Sort(out)
	return out
}

func (b *Board) directional() bool { return len(b.Early()) > 0 }

// Early returns what a firm result needs that a board lacks, each as "20 prompt families
// (here 1)".
func (b *Board) Early() (out []string) {
	if b.NFamilies < MinFamilies {
		out = append(out, fmt.Sprintf("%d prompt families (here %d)", MinFamilies, b.NFamilies))
	}
	if b.NTrials < minTrials {
		out = append(out, fmt.Sprintf("%d answers (here %d)", minTrials, b.NTrials))
	}
	switch {
	case b.Coverage == nil:
		out = append(out, fmt.Sprintf("a coverage of %.0f %% (here unknown)", 100*MinCoverage))
	case *b.Coverage < MinCoverage:
		out = append(out, fmt.Sprintf("a coverage of %.0f %% (here %.0f %%)", 100*MinCoverage, math.Floor(100**b.Coverage)))
	}
	return out
}
