package pick

import (
	"math"
	"slices"
)

// A Ratio is N of Of cases or entries, with its 95 % Wilson interval. Value, Low and High
// are null if Of is 0.
type Ratio struct {
	N     int      `json:"n"`
	Of    int      `json:"of"`
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// Measures compare extracted results with labels.
type Measures struct {
	Cases int `json:"cases"`
	// Accuracy is over all cases: outcome and pick agree.
	Accuracy Ratio `json:"accuracy"`
	// PickPrecision is over cases extracted as tool, PickRecall over cases labelled so; a
	// hit has the same tool.
	PickPrecision Ratio `json:"pickPrecision"`
	PickRecall    Ratio `json:"pickRecall"`
	// DIYPrecision is over cases extracted as diy, DIYRecall over cases labelled so.
	DIYPrecision Ratio `json:"diyPrecision"`
	DIYRecall    Ratio `json:"diyRecall"`
	// The others are over entries of lists: precision over extracted ones, recall over
	// labelled ones.
	ShortlistPrecision Ratio `json:"shortlistPrecision"`
	ShortlistRecall    Ratio `json:"shortlistRecall"`
	RejectedPrecision  Ratio `json:"rejectedPrecision"`
	RejectedRecall     Ratio `json:"rejectedRecall"`
	// Unresolved is the share of cases that no rule decided.
	Unresolved Ratio `json:"unresolved"`
}

// add counts a case.
func (m *Measures) add(want Gold, got *Result) {
	m.Cases++
	same := label(want.Outcome, want.picked()) == label(got.Kind, got.Picked)
	m.Accuracy.count(same)
	if got.Kind == Tool {
		m.PickPrecision.count(same)
	}
	if want.Outcome == Tool {
		m.PickRecall.count(same)
	}
	if got.Kind == DIY {
		m.DIYPrecision.count(want.Outcome == DIY)
	}
	if want.Outcome == DIY {
		m.DIYRecall.count(got.Kind == DIY)
	}
	m.ShortlistPrecision.countAll(got.Shortlist, want.Shortlist)
	m.ShortlistRecall.countAll(want.Shortlist, got.Shortlist)
	m.RejectedPrecision.countAll(got.Rejected, want.Rejected)
	m.RejectedRecall.countAll(want.Rejected, got.Rejected)
	m.Unresolved.count(got.Unresolved)
}

// countAll counts the entries of a list, those in the other as hits.
func (r *Ratio) countAll(list, other []string) {
	for _, slug := range list {
		r.count(slices.Contains(other, slug))
	}
}

func (r *Ratio) count(hit bool) {
	r.Of++
	if hit {
		r.N++
	}
	v := float64(r.N) / float64(r.Of)
	low, high := wilson(float64(r.N), float64(r.Of))
	r.Value, r.Low, r.High = &v, &low, &high
}

// wilson is the 95 % score interval of x hits among n > 0 (Wilson 1927).
func wilson(x, n float64) (low, high float64) {
	const z = 1.959963984540054
	p := x / n
	centre, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	scale := 1 + z*z/n
	return max(0, min(p, (centre-half)/scale)), min(1, max(p, (centre+half)/scale))
}
