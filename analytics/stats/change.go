package stats

import "math"

// MinPaired is the number of common families from which two measurements are compared
// family by family.
const MinPaired = 10

// Sides holds the means of a rate's families in two measurements, -1 to 1 each.
type Sides struct {
	// Paired are new less old means of the families that both have.
	Paired []float64
	// Old and New are the means of all families of each side, RestOld and RestNew those of
	// the families that only one side has.
	Old, New, RestOld, RestNew []float64
}

// A Change is how far a rate moved from one measurement to another.
type Change struct {
	// Value is the new rate less the old, -1 to 1; SE its standard error and DF the degrees
	// of freedom of Student's t. SE is not a number where nothing can be shown.
	Value, SE, DF float64
	// Paired is the number of families that were compared with themselves.
	Paired int
	sign   float64 // p-value of a sign test, where all families moved by the same
}

// ChangeOf estimates a change. With at least MinPaired common families, or where all
// families are common, each is compared with itself; the families that only one side has
// are compared as two samples, and the two estimates are combined by inverse variance. The
// variance between families of the second is estimated from all families of each side: a
// few replaced prompts have none of their own to speak of. Degrees of freedom are
// Satterthwaite's (1946). With fewer common families the sides are two samples (Welch
// 1947).
func ChangeOf(s Sides) Change {
	rest, all := min(len(s.RestOld), len(s.RestNew)), len(s.RestOld)+len(s.RestNew) == 0
	switch {
	case all && len(s.Paired) == 1:
		return Change{Value: s.Paired[0], SE: math.NaN(), Paired: 1}
	case len(s.Paired) < MinPaired && !all, len(s.Paired) == 0:
		return twoSamples(s.Old, s.New, s.Old, s.New)
	}
	mean, variance := moments(s.Paired)
	g := float64(len(s.Paired))
	c := Change{Value: mean, SE: math.Sqrt(variance / g), DF: g - 1, Paired: len(s.Paired)}
	if variance < 1e-12 {
		c.Value, c.SE = mean, 0
		c.sign = math.Min(1, 2*math.Pow(0.5, g))
		return c
	}
	if rest == 0 {
		return c
	}
	other := twoSamples(s.RestOld, s.RestNew, s.Old, s.New)
	if math.IsNaN(other.SE) || other.SE == 0 {
		return c
	}
	v1, v2 := c.SE*c.SE, other.SE*other.SE
	w := v2 / (v1 + v2)
	p1, p2 := w*w*v1, (1-w)*(1-w)*v2
	c.Value = w*c.Value + (1-w)*other.Value
	c.SE = math.Sqrt(p1 + p2)
	c.DF = (p1 + p2) * (p1 + p2) / (p1*p1/c.DF + p2*p2/other.DF)
	return c
}

// twoSamples compares the means of two samples of families, with the variance between
// families of the populations they are from.
func twoSamples(older, newer, allOld, allNew []float64) Change {
	x, _ := moments(older)
	y, _ := moments(newer)
	c := Change{Value: y - x, SE: math.NaN()}
	if len(allOld) < 2 || len(allNew) < 2 || len(older) == 0 || len(newer) == 0 {
		return c
	}
	_, v := moments(allOld)
	_, w := moments(allNew)
	a, b := v/float64(len(older)), w/float64(len(newer))
	if a+b < 1e-12 {
		return c
	}
	c.SE = math.Sqrt(a + b)
	c.DF = (a + b) * (a + b) / (a*a/float64(len(allOld)-1) + b*b/float64(len(allNew)-1))
	return c
}

// moments returns mean and sample variance; the variance of one value is 0.
func moments(v []float64) (mean, variance float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		variance += (x - mean) * (x - mean) / math.Max(1, float64(len(v)-1))
	}
	return mean, variance
}

// P is the two-sided p-value of no change; 1 where nothing can be shown. Where all
// families moved by the same it is that of a sign test over families.
func (c Change) P() float64 {
	switch {
	case math.IsNaN(c.SE) || c.SE == 0 && math.Abs(c.Value) < 1e-9:
		return 1
	case c.SE == 0:
		return c.sign
	}
	return math.Min(1, 2*tTail(math.Abs(c.Value)/c.SE, c.DF))
}

// Interval is the interval at level 1 - alpha, within [-1, 1]; it excludes 0 exactly where
// P is below alpha. Without a standard error it is [-1, 1]; where all families moved by
// the same it says no more than the side, and ends at 1e-6 or -1e-6.
func (c Change) Interval(alpha float64) Interval {
	out := Interval{-1, 1}
	switch {
	case math.IsNaN(c.SE):
	case c.SE == 0 && c.P() == 1:
		g := float64(c.Paired)
		high := Wilson(0, NewCritical(c.Paired).shrink(g)).High
		out = Interval{-high, high}
	case c.SE == 0 && c.P() < alpha && c.Value > 0:
		out.Low = barely
	case c.SE == 0 && c.P() < alpha:
		out.High = -barely
	case c.SE > 0:
		half := TQuantile(1-alpha/2, c.DF) * c.SE
		out = Interval{math.Max(-1, c.Value-half), math.Min(1, c.Value+half)}
	}
	return out
}
