package analytics

import (
	"math"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics/stats"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/runner/label"
	"github.com/firstpick/firstpick/runner/pick"
)

// MinLabels is the number of labelled trials from which a category has a share of
// extraction errors and corrected rates; with fewer it counts as unlabelled.
const MinLabels = 30

// Labels are the labelled trials of a category.
type Labels struct {
	Trials []LabelledTrial
	// Frame is the number of trials that the samples were drawn from.
	Frame int
	// Extracted is the number of trials whose outcome people can check: extracted from the
	// answers of real agents. It is 0 for ready outcomes, recorded studies and simulations.
	Extracted int
}

// A LabelledTrial is one trial that people read.
type LabelledTrial struct {
	// Prompt and Agent are those of the trial's cell, Outcome and Picked what was extracted.
	Prompt  string
	Agent   string
	Outcome pick.Kind
	Picked  string
	// True and TruePicked are what people say.
	True       pick.Kind
	TruePicked string
	// P is the probability that the trial was drawn and labelled.
	P float64
}

// A RunLabels is what people say of the trials of one run.
type RunLabels struct {
	Run string
	// Frame is the number of trials that the sample was drawn from.
	Frame  int
	Labels []Reading
}

// A Reading is the label that counts for a trial.
type Reading struct {
	Trial   string    `json:"trial"`
	Outcome pick.Kind `json:"outcome"`
	Picked  string    `json:"picked,omitempty"`
	// P is the probability that the trial was drawn and labelled.
	P float64 `json:"p"`
}

// ReadingsOf returns the labels that count, in the order of the trials' ids. The order of
// labelling is random, so a sample that is labelled in part is a smaller sample: each
// probability is reduced by that part.
func ReadingsOf(set *label.Set) RunLabels {
	settled := set.Settle()
	out := RunLabels{Run: set.Sample.Run, Frame: set.Sample.Frame}
	part := float64(len(settled)) / float64(len(set.Sample.Trials))
	for _, s := range settled {
		out.Labels = append(out.Labels, Reading{s.Trial, s.Outcome, s.Picked, s.P * part})
	}
	sorting.Func(out.Labels, func(a, b Reading) int { return strings.Compare(a.Trial, b.Trial) })
	return out
}

// An ExtractionError is the share of trials whose extracted outcome or tool differs from
// the label, estimated from a random sample of them.
type ExtractionError struct {
	Rate   float64 `json:"rate"`
	CILow  float64 `json:"ciLow"`
	CIHigh float64 `json:"ciHigh"`
	// NLabels is the number of labelled trials.
	NLabels int `json:"nLabels"`
}

// A CorrectedRate is a pick rate that labels corrected for errors of extraction.
type CorrectedRate struct {
	PickRate float64 `json:"pickRate"`
	CILow    float64 `json:"ciLow"`
	CIHigh   float64 `json:"ciHigh"`
	// Method is ppi++: see stats.PredictionPowered.
	Method string `json:"method"`
	// Lambda is the trust in the extracted outcomes, 0 to 1.
	Lambda  float64 `json:"lambda"`
	NLabels int     `json:"nLabels"`
	// RoganGladen is nil where that correction does not exist.
	RoganGladen *RoganGladen `json:"roganGladen"`
}

// A RoganGladen is the same rate corrected by the sensitivity and the specificity of
// extraction: see stats.RoganGladen.
type RoganGladen struct {
	PickRate    float64 `json:"pickRate"`
	CILow       float64 `json:"ciLow"`
	CIHigh      float64 `json:"ciHigh"`
	Sensitivity float64 `json:"sensitivity"`
	Specificity float64 `json:"specificity"`
}

// WithLabels returns the board corrected by labels; m is the measurement it was ranked from.
// With labels of at least MinLabels trials it has ExtractionError; rates are corrected where
// the samples stand for all trials of the board. Otherwise it has the warning Unlabelled, if
// there is anything to label.
func (b Board) WithLabels(m Measurement, l Labels) Board {
	enough := len(l.Trials) >= MinLabels
	if !enough || float64(l.Frame) < MinCoverage*float64(l.Extracted) {
		if l.Extracted > 0 {
			b.Warnings = append(slices.Clone(b.Warnings), Unlabelled)
			slices.Sort(b.Warnings)
		}
		return b
	}
	c := newCorrection(b, m, l)
	b.ExtractionError = c.extractionError()
	if float64(l.Frame) < MinCoverage*float64(b.NTrials) {
		return b
	}
	b.Tools = slices.Clone(b.Tools)
	for i := range b.Tools {
		b.Tools[i].Labelled = c.rate(b.Tools[i].Slug)
	}
	return b
}

// A correction is the labels of a category and the tally of its cells.
type correction struct {
	tally  *tally
	trials []LabelledTrial
}

func newCorrection(b Board, m Measurement, l Labels) *correction {
	slugs := make([]string, len(b.Tools))
	for i, s := range b.Tools {
		slugs[i] = s.Slug
	}
	return &correction{newTally(slugs, m.Cells, m.Design), l.Trials}
}

// labels returns the labelled trials as seen by a yes-or-no question. A label counts as
// much as its trial does in the rates.
func (c *correction) labels(extracted, truth func(LabelledTrial) bool) []stats.Label {
	out := make([]stats.Label, 0, len(c.trials))
	for _, t := range c.trials {
		at := c.tally.at(Cell{Prompt: t.Prompt, Agent: t.Agent})
		family, agent := at/len(c.tally.agents), at%len(c.tally.agents)
		l := stats.Label{Cluster: family, Weight: c.tally.design.Weight(family, agent) / t.P}
		if extracted(t) {
			l.Predicted = 1
		}
		if truth(t) {
			l.True = 1
		}
		out = append(out, l)
	}
	return out
}

func (c *correction) extractionError() *ExtractionError {
	right := func(t LabelledTrial) bool {
		return label.Text(t.Outcome, t.Picked) == label.Text(t.True, t.TruePicked)
	}
	labels := c.labels(right, func(LabelledTrial) bool { return true })
	rate, ci := stats.ErrorRate(len(c.tally.families), labels)
	return &ExtractionError{Round(rate), Round(ci.Low), Round(ci.High), len(labels)}
}

func (c *correction) rate(slug string) *CorrectedRate {
	labels := c.labels(
		func(t LabelledTrial) bool { return t.Outcome == pick.Tool && t.Picked == slug },
		func(t LabelledTrial) bool { return t.True == pick.Tool && t.TruePicked == slug },
	)
	e := c.tally.design.Estimate(c.tally.picks[c.tally.index[slug]])
	p := c.tally.design.PredictionPowered(e, labels)
	out := &CorrectedRate{
		PickRate: Round(p.Value), CILow: Round(p.Interval.Low), CIHigh: Round(p.Interval.High),
		Method: "ppi++", Lambda: Round(p.Lambda), NLabels: len(labels),
	}
	observed := c.tally.design.Rate(e)
	sensitivity, specificity := stats.Accuracy(labels)
	if m, ok := stats.RoganGladen(stats.Share{P: observed.Value, N: observed.NEff}, sensitivity, specificity); ok && !math.IsNaN(m.Interval.Low) {
		out.RoganGladen = &RoganGladen{
			PickRate: Round(m.Value), CILow: Round(m.Interval.Low), CIHigh: Round(m.Interval.High),
			Sensitivity: Round(sensitivity.P), Specificity: Round(specificity.P),
		}
	}
	return out
}
