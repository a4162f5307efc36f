package stats

import (
	"maps"
	"math"
	"slices"
)

// A Confusion counts items by their true class and the predicted one, in this order.
type Confusion map[[2]string]int

// A ClassScore holds the scores of one class among predictions, 0 to 1.
type ClassScore struct {
	// Precision is the share of predictions of the class that are true, 0 without any;
	// Recall the share of its items that are predicted, 0 without any.
	Precision, Recall float64
	// F1 is the harmonic mean of both.
	F1 float64
}

// totals returns all items, those with equal classes, and the counts by class.
func (c Confusion) totals() (n, equal float64, truth, predicted map[string]float64) {
	truth, predicted = map[string]float64{}, map[string]float64{}
	for pair, k := range c {
		v := float64(k)
		n += v
		truth[pair[0]] += v
		predicted[pair[1]] += v
		if pair[0] == pair[1] {
			equal += v
		}
	}
	return n, equal, truth, predicted
}

// Agreement returns the share of items with equal classes and the share that chance
// gives: the sum over classes of the product of both shares. Both are not a number without
// an item.
func (c Confusion) Agreement() (observed, chance float64) {
	n, equal, truth, predicted := c.totals()
	for class, k := range truth {
		chance += k * predicted[class]
	}
	return equal / n, chance / (n * n)
}

// Kappa is the agreement beyond chance (Cohen 1960): 1 is perfect, 0 that of readers who
// guess with their own shares. ok is false without an item, and where all are of one
// class on both sides: chance alone then agrees always.
func (c Confusion) Kappa() (kappa float64, ok bool) {
	observed, chance := c.Agreement()
	if !(math.Abs(1-chance) >= 1e-12) {
		return 0, false
	}
	return (observed - chance) / (1 - chance), true
}

// CohenKappa is Confusion.Kappa of two readers; a pair holds what each said of one item.
func CohenKappa(pairs [][2]string) (kappa float64, ok bool) {
	c := Confusion{}
	for _, p := range pairs {
		c[p]++
	}
	return c.Kappa()
}

// Scores returns the scores of each class that occurs, and the unweighted mean of their
// F1 (macro F1), which is not a number without an item.
func (c Confusion) Scores() (classes map[string]ClassScore, macroF1 float64) {
	_, _, truth, predicted := c.totals()
	all := maps.Clone(truth)
	maps.Copy(all, predicted)
	classes = map[string]ClassScore{}
	for _, class := range slices.Sorted(maps.Keys(all)) { // sums need one order
		hits := float64(c[[2]string{class, class}])
		s := ClassScore{F1: 2 * hits / (truth[class] + predicted[class])}
		if hits > 0 {
			s.Precision, s.Recall = hits/predicted[class], hits/truth[class]
		}
		classes[class] = s
		macroF1 += s.F1 / float64(len(all))
	}
	if len(all) == 0 {
		macroF1 = math.NaN()
	}
	return classes, macroF1
}
