package stats

import "math"

// A Cluster is the contribution of one prompt: the sum of its trials' scores, the
// sum of their squares and their number.
type Cluster struct {
	Sum, Squares float64
	N            int
}

// A Critical holds the 97.5 % quantile of Student's t for a number of clusters.
// It spares callers that make many intervals over the same prompts from
// computing it for each.
type Critical struct {
	clusters int
	t975     float64
}

// NewCritical computes the quantile for G-1 degrees of freedom; it is infinite
// with fewer than two clusters.
func NewCritical(clusters int) Critical {
	return Critical{clusters, TQuantile(1-alpha/2, float64(clusters-1))}
}

// of returns k, or the right quantile where k belongs to another number.
func (k Critical) of(clusters int) Critical {
	if k.clusters == clusters {
		return k
	}
	return NewCritical(clusters)
}

// shrink turns effective trials into those whose normal interval is as wide as
// the t interval of these clusters.
func (k Critical) shrink(n float64) float64 { return n * (Z975 / k.t975) * (Z975 / k.t975) }

// A Mean is a mean over clustered trials with its standard errors.
type Mean struct {
	// N counts trials, Clusters the clusters that hold any.
	N, Clusters int
	Value       float64
	// FlatSE takes trials as independent, MillerSE takes clusters as the unit
	// (Miller 2024, arXiv 2411.00640), and SE is MillerSE times
	// sqrt(G/(G-1)), the small-sample form.
	FlatSE, MillerSE, SE float64
}

// ClusteredMean computes a mean and its standard errors. Clusters without
// trials do not count. With fewer than two clusters SE is not a number, with
// fewer than two trials FlatSE is 0. SE is exactly 0 where all clusters have
// the same mean: sums are whole numbers, so the deviations are taken before
// dividing and leave no rounding that would pass for a tiny variance.
func ClusteredMean(clusters []Cluster) Mean {
	var m Mean
	var sum, squares float64
	for _, c := range clusters {
		if c.N > 0 {
			sum, squares, m.N, m.Clusters = sum+c.Sum, squares+c.Squares, m.N+c.N, m.Clusters+1
		}
	}
	if m.N == 0 {
		m.SE = math.NaN()
		return m
	}
	n, g := float64(m.N), float64(m.Clusters)
	m.Value = sum / n
	if m.N > 1 {
		m.FlatSE = math.Sqrt(math.Max(0, squares*n-sum*sum)/(n-1)) / n
	}
	var s float64
	for _, c := range clusters {
		e := (c.Sum*n - sum*float64(c.N)) / n
		s += e * e
	}
	m.MillerSE = math.Sqrt(s) / n
	m.SE = math.NaN()
	if m.Clusters > 1 {
		m.SE = m.MillerSE * math.Sqrt(g/(g-1))
	}
	return m
}

// T975 is the 97.5 % quantile of Student's t that belongs to the mean's
// clusters.
func (m Mean) T975() float64 { return NewCritical(m.Clusters).t975 }

// A Proportion is a clustered share with its bounded interval.
type Proportion struct {
	Mean
	// Deff is the design effect; NEff = N/Deff trials would say as much if they
	// were independent; NStar shrinks that for the degrees of freedom. All are
	// 0 with fewer than two clusters.
	Deff, NEff, NStar float64
	// Interval is Wilson's on NStar (Korn and Graubard 1998), within [0, 1].
	Interval Interval
}

// ClusteredProportion is the share of successes among 0/1 scores in clusters,
// with its 95 % interval. The rules for data without a design effect are those
// of Critical.Proportion.
func ClusteredProportion(clusters []Cluster) Proportion {
	return NewCritical(len(clusters)).Proportion(clusters)
}

// Proportion is ClusteredProportion with the quantile at hand. Where all trials
// agree the data hold no design effect, and the worst one is taken: every
// cluster counts as one trial. Where clusters have the same share and trials
// differ, trials are taken as independent. With one cluster the interval is
// [0, 1], the limit of NStar towards 0.
func (k Critical) Proportion(clusters []Cluster) Proportion {
	p := Proportion{Mean: ClusteredMean(clusters), Interval: Interval{0, 1}}
	if p.Clusters < 2 {
		return p
	}
	n, flat := float64(p.N), p.Value*(1-p.Value)/float64(p.N)
	switch {
	case flat == 0:
		p.Deff = n / float64(p.Clusters)
	case p.SE == 0:
		p.Deff = 1
	default:
		p.Deff = p.SE * p.SE / flat
	}
	p.NEff = n / p.Deff
	p.NStar = k.of(p.Clusters).shrink(p.NEff)
	p.Interval = Wilson(p.Value*p.NStar, p.NStar)
	return p
}
