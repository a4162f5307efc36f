package analytics

import "slices"

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
	// Unlabelled: nobody has checked the extracted outcomes; see Board.WithLabels.
	Unlabelled = "unlabelled"
)

// WarningCodes returns every code in the order of its name.
func WarningCodes() []string {
	return []string{CoverageUnknown, Directional, Incomplete, NoTrials, SinglePrompt, Synthetic, Unlabelled}
}

// Explain returns the meaning of a warning, one sentence without a full stop.
func Explain(code string) string {
	switch code {
	case Directional:
		return "early result: fewer than 20 prompts or 30 trials, or coverage unknown or below 95 %"
	case CoverageUnknown:
		return "imported answers: the number of planned trials is unknown, so coverage counts imported answers only"
	case SinglePrompt:
		return "measured with one prompt only; other prompts may differ, so the interval is 0 to 100 %"
	case Incomplete:
		return "some planned trials are missing"
	case Synthetic:
		return "answers of simulated agents, not a measurement"
	case NoTrials:
		return "no valid trials yet"
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
	if b.Coverage < 1 || slices.Contains(doubts, Incomplete) {
		out = append(out, Incomplete)
	}
	if b.NTrials == 0 {
		out = append(out, NoTrials)
	}
	if b.NPrompts == 1 {
		out = append(out, SinglePrompt)
	}
	if b.Synthetic {
		out = append(out, Synthetic)
	}
	return out
}

// toolWarnings are those of a single row: all tools share the denominator, so
// they share its doubts.
func (b *Board) toolWarnings() []string {
	out := []string{}
	for _, code := range b.Warnings {
		if code == Directional || code == Synthetic {
			out = append(out, code)
		}
	}
	return out
}

func (b *Board) directional() bool {
	return b.NPrompts < minPrompts || b.NTrials < minTrials || b.Coverage < MinCoverage
}
