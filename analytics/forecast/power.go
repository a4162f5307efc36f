package forecast

import (
	"math"

	"github.com/firstpick/firstpick/analytics/stats"
	"github.com/firstpick/firstpick/runner/eval"
)

const (
	// atRate and delta are the example that is planned for: a tool picked in 30 % of
	// trials against one in 25 %.
	atRate = 0.30
	delta  = 0.05
	// assumedICC is the ICC where nothing was measured: the middle one of iccs.
	assumedICC = 0.3
)

// iccs returns the values of the ICC for which every answer is reported.
func iccs() []float64 { return []float64{0.1, assumedICC, 0.6} }

// A Power is the sensitivity of an eval: what its board shows as significant with 80 %
// power. See Field for the test and the model.
type Power struct {
	// TrialsPerPrompt is over all agents, templates and repeats.
	TrialsPerPrompt int `json:"trialsPerPrompt"`
	// Tools is how many the board compares, Families how many families the prompts
	// have: the clusters of the test.
	Tools    int `json:"tools"`
	Families int `json:"families"`
	// Rho is the ICC, the share of the variance between prompts; Measured reports that
	// it comes from earlier runs.
	Rho      float64 `json:"rho"`
	Measured bool    `json:"measured"`
	// Detectable is the smallest difference between the rates of the two most picked
	// tools that the board shows at Rho; null where it shows none.
	Detectable *float64 `json:"detectable"`
	// ByICC is the same for other values of the ICC, of a field with shares of 1/rank.
	ByICC []AtICC `json:"byICC"`
	// Pilot is the answer from earlier runs; absent without them.
	Pilot *FromPilot `json:"pilot,omitempty"`
	// PromptsFor5 is how many prompts show a difference of 0.05 with as many trials
	// each; null where no number does.
	PromptsFor5 *float64 `json:"promptsFor5"`
	// PromptsAtBest is the same with any number of repeats: the limit of repeats.
	PromptsAtBest *float64 `json:"promptsAtBest"`
	// Deff is the design effect on one rate: a trial says 1/Deff as much as an
	// independent one.
	Deff float64 `json:"deff"`
	// TrialsForHalf5 is how many trials give an interval of +- 0.05 around 0.30,
	// TrialsPerSide how many each of two snapshots with other prompts needs to detect
	// 0.30 from 0.25 by one test at 5 %, two-sided.
	TrialsForHalf5 float64 `json:"trialsForHalf5"`
	TrialsPerSide  float64 `json:"trialsPerSide"`
	// IndependentTrials is how many would show a difference of 0.05 if no two shared a
	// prompt.
	IndependentTrials *float64 `json:"independentTrials"`
}

// An AtICC is the smallest difference that the board shows at an assumed ICC; null where
// it shows none.
type AtICC struct {
	ICC        float64  `json:"icc"`
	Detectable *float64 `json:"detectable"`
	// DetectableOfTwo is the same where the two tools share all picks, the field that
	// takes the most prompts.
	DetectableOfTwo *float64 `json:"detectableOfTwo"`
}

// A FromPilot is the smallest difference that the board shows at the measured ICC, with
// its 80 % range; ends are null where no difference is shown.
type FromPilot struct {
	// Prompts counts the prompts of the earlier runs.
	Prompts    int      `json:"prompts"`
	ICC        float64  `json:"icc"`
	Detectable *float64 `json:"detectable"`
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
}

func (in Input) power() Power {
	e := in.Eval
	p := Power{
		TrialsPerPrompt: len(e.Agents) * len(e.Templates) * e.Repeats, Tools: in.Tools, Families: families(e),
		Rho: assumedICC, ByICC: []AtICC{},
	}
	trials := e.Trials() / max(1, p.Families) // phrasings of a family are repeats of its task
	field := NewField(in.Tools)
	two := Field{in.Tools, 1}
	for _, icc := range iccs() {
		p.ByICC = append(p.ByICC, AtICC{icc, finite(field.Detectable(p.Families, trials, icc)), finite(two.Detectable(p.Families, trials, icc))})
	}
	p.Detectable = finite(field.Detectable(p.Families, trials, p.Rho))
	if in.Pilot != nil {
		d, low, high := in.Pilot.detectable(in.Tools, p.Families, trials)
		p.Pilot = &FromPilot{in.Pilot.Prompts, in.Pilot.ICC, finite(d), finite(low), finite(high)}
		field.Second, p.Rho, p.Measured, p.Detectable = in.Pilot.Second, in.Pilot.ICC, true, finite(d)
	}
	p.Deff = stats.DesignEffect(float64(p.TrialsPerPrompt), p.Rho)
	p.PromptsFor5 = finite(field.Prompts(delta, p.TrialsPerPrompt, p.Rho))
	p.PromptsAtBest = finite(field.Prompts(delta, math.MaxInt32, p.Rho))
	p.TrialsForHalf5 = math.Ceil(stats.HalfWidthTrials(atRate, delta) * p.Deff)
	p.TrialsPerSide = math.Ceil(stats.Test{Alpha: boardLevel, Power: power}.TrialsPerSide(atRate, atRate-delta) * p.Deff)
	p.IndependentTrials = finite(field.Prompts(delta, 1, 0))
	return p
}

// families counts the families of an eval's prompts.
func families(e *eval.Eval) int {
	names := map[string]bool{}
	for _, p := range e.Prompts {
		names[p.FamilyName()] = true
	}
	return len(names)
}

// finite is nil for a value that is infinite or not a number.
func finite(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}
