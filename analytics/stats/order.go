package stats

import "math"

// An Order compares all tools of a board with each other.
type Order struct {
	tools int
	pairs map[[2]int]Lead // by the one that is ahead, and the other
}

// A Lead is how far one tool is ahead of another.
type Lead struct {
	// Diff is the difference of their rates, above 0. Interval holds for all pairs at once
	// at 95 % (Bonferroni), and is above 0 exactly where Shown: its lower end is at least
	// barely where Holm's later steps show a lead that Bonferroni's does not.
	Diff     float64
	Interval Interval
	// P is the one-sided p-value, Adjusted the same after Holm over all ordered pairs and
	// after the guard; Shown says that it is below 5 %.
	P, Adjusted float64
	Shown       bool
	se          float64
}

// Compare tests for every ordered pair of tools whether one is ahead of the other. Each
// test is one-sided with families as clusters: Student's t on G-1 degrees of freedom over
// the standard error of the difference on the same trials. Holm (1979) corrects for all
// k(k-1) ordered pairs, so that the chance of any false lead is at most 5 %. Rank ranges
// from these tests hold for all tools at once (Mogstad, Romano, Shaikh and Wilhelm 2024).
//
// A lead must also pass a guard: the interval of the difference from both tools' own
// intervals excludes 0 (MOVER: Zou and Donner 2008). It stops a tool with a small constant
// share from beating one that few families pick always, when the sample missed those.
// Against a tool without a pick, which has no variance of its own, the lead has the larger
// p-value of the two tests and the lower of their two lower ends, shown or not.
func (d *Design) Compare(estimates []Estimate, rates []Rate) Order {
	o := Order{len(estimates), map[[2]int]Lead{}}
	var order [][2]int
	diff := make([]float64, d.families)
	for j := range estimates {
		for k := range estimates {
			if v := estimates[j].Value - estimates[k].Value; v > 1e-12 {
				for g := range diff {
					diff[g] = estimates[j].Influence[g] - estimates[k].Influence[g]
				}
				o.pairs[[2]int{j, k}] = d.lead(v, diff, rates[j].Value, rates[k].Value)
				order = append(order, [2]int{j, k})
			}
		}
	}
	p := make([]float64, len(estimates)*(len(estimates)-1)) // of all ordered pairs
	for i := range p {
		if p[i] = 1; i < len(order) {
			p[i] = o.pairs[order[i]].P
		}
	}
	adjusted := Holm(p)
	t := TQuantile(1-alpha/float64(max(1, len(p))), float64(d.least-1))
	for i, pair := range order {
		l := o.pairs[pair]
		l.Adjusted = adjusted[i]
		d.finish(&l, t, rates[pair[0]], rates[pair[1]])
		o.pairs[pair] = l
	}
	return o
}

// lead tests a difference above 0.
func (d *Design) lead(diff float64, influence []float64, ahead, behind float64) Lead {
	l := Lead{Diff: diff, P: 1, se: d.SE(influence)}
	switch {
	case d.least < 2:
	case l.se > 0:
		l.P = tTail(diff/l.se, float64(d.least-1))
	case diff < 1-1e-12: // families do not differ: trials are taken as independent
		l.se = math.Sqrt((ahead + behind - diff*diff) / d.Effective)
		l.P = tTail(diff/l.se, float64(d.least-1))
	default: // all trials agree: each family is one trial of a sign test
		l.P = math.Pow(0.5, float64(d.least))
	}
	return l
}

// barely is the smallest difference that is published as one: rates have six decimals.
const barely = 1e-6

// finish applies the guard and sets the interval.
func (d *Design) finish(l *Lead, t float64, ahead, behind Rate) {
	if d.least < 2 {
		l.Interval = Interval{-1, 1}
		return
	}
	if l.se > 0 {
		l.Interval = Interval{math.Max(-1, l.Diff-t*l.se), math.Min(1, l.Diff+t*l.se)}
	} else {
		n := d.critical.shrink(d.alike)
		l.Interval = Interval{2*Wilson(n, n).Low - 1, 1}
	}
	unpicked := behind.Value == 0
	always := unpicked && !d.Formulas2
	if l.Adjusted < alpha || always {
		if unpicked { // families that were not drawn may pick it always
			behind.NStar = math.Min(behind.NStar, d.critical.shrink(d.alike))
		}
		low := mover(l.Diff, ahead, behind, Z975)
		if low <= 0 || always {
			l.Adjusted = math.Max(l.Adjusted, guardP(l.Diff, ahead, behind, low > 0))
			l.Interval.Low = math.Min(l.Interval.Low, low)
		}
	}
	l.Shown = l.Adjusted < alpha
	if !l.Shown {
		l.Interval.Low = math.Min(0, l.Interval.Low)
	} else {
		l.Interval.Low = math.Max(barely, l.Interval.Low)
	}
}

// mover is the lower end of a difference of two rates from their own intervals, at the
// normal quantile z of the intervals.
func mover(diff float64, ahead, behind Rate, z float64) float64 {
	low := wilson(ahead.Value*ahead.NStar, ahead.NStar, z).Low
	high := wilson(behind.Value*behind.NStar, behind.NStar, z).High
	return diff - math.Hypot(ahead.Value-low, high-behind.Value)
}

// guardP is the two-sided level at which the guard's interval begins at 0: below alpha if
// the lead passes the guard.
func guardP(diff float64, ahead, behind Rate, passes bool) float64 {
	low, high := 0.0, Z975
	if passes {
		low, high = Z975, maxZ
	}
	for range 40 {
		if z := (low + high) / 2; mover(diff, ahead, behind, z) > 0 {
			low = z
		} else {
			high = z
		}
	}
	if passes {
		return math.Erfc(high / math.Sqrt2)
	}
	return math.Max(alpha, math.Erfc(low/math.Sqrt2))
}

// maxZ is where guardP ends its search: a level of 1e-15.
const maxZ = 8

// Lead returns how far one tool is ahead of another with a smaller rate; ok is false where
// the rates are equal or the other one's is higher.
func (o Order) Lead(ahead, behind int) (l Lead, ok bool) {
	l, ok = o.pairs[[2]int{ahead, behind}]
	return l, ok
}

// Ranks returns the range of each tool's true rank, at 95 % for all tools at once: 1 plus
// the number of tools shown ahead of it, and the number of tools less those it is shown
// ahead of.
func (o Order) Ranks() []RankSet {
	sets := make([]RankSet, o.tools)
	for i := range sets {
		sets[i] = RankSet{1, o.tools}
	}
	for pair, l := range o.pairs {
		if l.Shown {
			sets[pair[0]].High--
			sets[pair[1]].Low++
		}
	}
	return sets
}
