package stats

import "math"

// A Share is a proportion and the number of trials it rests on, which may be a fraction.
type Share struct{ P, N float64 }

// A Misclassified is a rate corrected for the known error rates of its reader.
type Misclassified struct {
	// Value is the Rogan-Gladen estimate, within [0, 1]; SE is its delta-method standard
	// error.
	Value, SE float64
	// Interval is the 95 % interval of Lang and Reiczigel, within [0, 1].
	Interval Interval
}

// RoganGladen corrects an observed share for the sensitivity and the specificity of what
// observed it (Rogan and Gladen 1978):
//
//	rate = (p + sp - 1) / (se + sp - 1)
//
// SE has the sampling of all three (delta method). Interval is that of Lang and Reiczigel
// (2014): the same with one success and one failure added to sensitivity and specificity
// and z²/2 of each to the observed share, shifted for the skewness of the quotient. ok is
// false where the correction does not exist: nothing known of one side, or a reader that
// is no better than chance.
func RoganGladen(p, se, sp Share) (m Misclassified, ok bool) {
	if p.N <= 0 || se.N <= 0 || sp.N <= 0 || se.P+sp.P <= 1 {
		return m, false
	}
	clip := func(v float64) float64 { return math.Max(0, math.Min(1, v)) }
	of := func(p, se, sp Share) (value, sd, shift float64) {
		j := se.P + sp.P - 1
		value = (p.P + sp.P - 1) / j
		v, w := se.P*(1-se.P)/se.N, sp.P*(1-sp.P)/sp.N
		sd = math.Sqrt(p.P*(1-p.P)/p.N+value*value*v+(1-value)*(1-value)*w) / j
		return value, sd, 2 * Z975 * Z975 * (value*v - (1-value)*w)
	}
	value, sd, _ := of(p, se, sp)
	m.Value, m.SE = clip(value), sd
	plus := func(s Share, add float64) Share {
		return Share{(s.P*s.N + add/2) / (s.N + add), s.N + add}
	}
	wide, sd, shift := of(plus(p, Z975*Z975), plus(se, 2), plus(sp, 2))
	low, high := clip(wide+shift-Z975*sd), clip(wide+shift+Z975*sd)
	m.Interval = Interval{math.Min(low, m.Value), math.Max(high, m.Value)}
	return m, true
}

// Accuracy returns the weighted sensitivity and specificity of extraction among labels:
// the shares of true picks that were extracted, and of true others that were not. N is
// the effective number of labels of each (Kish 1965), 0 where there is none.
func Accuracy(labels []Label) (sensitivity, specificity Share) {
	var w, squares, hits [2]float64
	for _, l := range labels {
		for side, share := range [2]float64{l.True, 1 - l.True} {
			weight := l.Weight * share
			w[side] += weight
			squares[side] += weight * weight
			hits[side] += weight * [2]float64{l.Predicted, 1 - l.Predicted}[side]
		}
	}
	out := [2]Share{}
	for side := range out {
		if w[side] > 0 {
			out[side] = Share{hits[side] / w[side], w[side] * w[side] / squares[side]}
		}
	}
	return out[0], out[1]
}
