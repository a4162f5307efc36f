package stats

import "math"

// NewRatio makes the design of clusters of different sizes in which every trial counts the
// same: theta = sum_g y_g / sum_g n_g, a ratio estimate. Its standard error is that of the
// delete-one jackknife (Efron and Tibshirani 1993, section 11.1), which allows for the
// leverage of large clusters; clusters of one size give that of NewDesign. It has one
// agent; every cluster must have a trial. Where few clusters hold most trials, their number
// says too much about the standard error: Student's t has (sum n)^2 / sum n^2 - 1 degrees of
// freedom, the effective number of clusters less one (Carter, Schnepel and Steigerwald 2017,
// for errors alike within a cluster), rounded down.
func NewRatio(trials []int) *Design {
	d := &Design{families: len(trials), agents: 1, weights: []float64{1}, answered: []float64{float64(len(trials))}, Balanced: true, ratio: true}
	squares := 0.0
	for _, n := range trials {
		d.trials = append(d.trials, float64(n))
		d.Trials += n
		squares += float64(n) * float64(n)
	}
	d.Effective = float64(d.Trials)
	if d.families > 0 {
		d.alike = d.Effective * d.Effective / squares
		d.least = int(d.alike + 1e-9)
	}
	d.critical = NewCritical(d.least)
	return d
}

// leverage is the factor of a cluster's deviation in its influence: theta without the
// cluster is theta - n_g / (n - n_g) (m_g - theta). At most 99 % of the trials count as its.
func (d *Design) leverage(cluster int) float64 {
	share, g := math.Min(d.trials[cluster]/d.Effective, 0.99), float64(d.families)
	return share / (1 - share) * (g - 1) / g
}
