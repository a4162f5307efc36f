package forecast

import (
	"math"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/stats"
	"github.com/firstpick/firstpick/runner/eval"
)

const (
	// atRate and delta are the example that is planned for: a tool picked in 30 % of
	// trials against one in 25 %.
	atRate = 0.30
	delta  = 0.05
	// between is the share of the variance that is assumed between prompts
	// where nothing was measured; a published comparison of tools has 0.09 of 0.5475.
	between = 0.09 / 0.5475
	// fewPrompts is from how many prompts on a spread is believed: a variance between
	// three of them may be anything.
	fewPrompts = 10
)

var usual = stats.Test{Alpha: 0.05, Power: 0.8}

// A Power is the sensitivity of an eval, at 80 % power and a two-sided
// level of 5 % for one comparison.
type Power struct {
	// TrialsPerPrompt is over all agents, templates and repeats.
	TrialsPerPrompt int `json:"trialsPerPrompt"`
	// Rho is the share of the variance between prompts; Measured says that
	// it comes from earlier runs.
	Rho      float64 `json:"rho"`
	Measured bool    `json:"measured"`
	// Detectable is the smallest difference of the rates of two tools that can be
	// shown; null where none can.
	Detectable *float64 `json:"detectable"`
	// PromptsFor5 is how many prompts show a difference of 0.05 with as many trials
	// each.
	PromptsFor5 float64 `json:"promptsFor5"`
	// PromptsAtBest is the same with any number of repeats: the limit of repeats.
	PromptsAtBest float64 `json:"promptsAtBest"`
	// Deff is the design effect on one rate: a trial says 1/Deff as much as an
	// independent one.
	Deff float64 `json:"deff"`
	// TrialsForHalf5 is how many trials give an interval of +- 0.05 around 0.30,
	// TrialsPerSide how many each of two snapshots with other prompts needs to detect
	// 0.30 from 0.25.
	TrialsForHalf5 float64 `json:"trialsForHalf5"`
	TrialsPerSide  float64 `json:"trialsPerSide"`
	// IndependentTrials is how many would do if no two shared a prompt.
	IndependentTrials float64 `json:"independentTrials"`
}

func powerOf(e *eval.Eval, measured *stats.Spread) Power {
	variance := stats.PairedVariance(atRate, atRate-delta)
	s := stats.Spread{Between: between * variance, Within: (1 - between) * variance}
	p := Power{TrialsPerPrompt: len(e.Agents) * len(e.Templates) * e.Repeats}
	if measured != nil {
		s, p.Measured = *measured, true
	}
	p.Rho, p.Deff = s.Rho(), stats.DesignEffect(float64(p.TrialsPerPrompt), s.Rho())
	if d := usual.Detectable(s, len(e.Prompts), p.TrialsPerPrompt); !math.IsInf(d, 1) && d <= 1 {
		p.Detectable = &d
	}
	p.PromptsFor5 = usual.PromptsNeeded(s, max(1, p.TrialsPerPrompt), delta)
	p.PromptsAtBest = usual.PromptsNeeded(s, math.MaxInt32, delta)
	p.TrialsForHalf5 = math.Ceil(stats.HalfWidthTrials(atRate, delta) * p.Deff)
	p.TrialsPerSide = math.Ceil(usual.TrialsPerSide(atRate, atRate-delta) * p.Deff)
	p.IndependentTrials = usual.PairedTrials(atRate, atRate-delta)
	return p
}

// SpreadOf estimates how the variance between the two most picked tools splits into
// prompts and repeats, from earlier trials of the same category; nil if unknown.
func SpreadOf(cells []analytics.Cell) *stats.Spread {
	picks := map[string]int{}
	for _, c := range cells {
		for _, t := range c.Tools {
			picks[t.Slug] += t.Picks
		}
	}
	var slugs []string
	for slug := range picks {
		slugs = append(slugs, slug)
	}
	slices.SortFunc(slugs, func(a, b string) int {
		if picks[a] != picks[b] {
			return picks[b] - picks[a]
		}
		return strings.Compare(a, b)
	})
	if len(slugs) < 2 {
		return nil
	}
	prompts := map[string]*stats.Cluster{}
	var clusters []*stats.Cluster
	for _, c := range cells {
		p := prompts[c.Prompt]
		if p == nil {
			p = &stats.Cluster{}
			prompts[c.Prompt], clusters = p, append(clusters, p)
		}
		p.N += c.Trials
		first, second := float64(c.Picks(slugs[0])), float64(c.Picks(slugs[1]))
		p.Sum, p.Squares = p.Sum+first-second, p.Squares+first+second
	}
	values := make([]stats.Cluster, len(clusters))
	for i, c := range clusters {
		values[i] = *c
	}
	s, ok := stats.SpreadOf(values)
	if !ok || len(values) < fewPrompts || s.Between+s.Within == 0 {
		return nil
	}
	return &s
}
