package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// A Test holds the parameters of a planned comparison: the chance of a false alarm and the
// chance to show a difference that is there.
type Test struct {
	// Alpha is two-sided; divide it by the number of comparisons that count at
	// once (Bonferroni).
	Alpha float64
	Power float64
}

// z returns the sum of the normal quantiles of both.
func (t Test) z() float64 { return NormalQuantile(1-t.Alpha/2) + NormalQuantile(t.Power) }

// PairedVariance is the variance of the difference of two tools over the same
// trials, one of which at most is picked: p1 + p2 - (p1-p2)^2.
func PairedVariance(p1, p2 float64) float64 { return p1 + p2 - (p1-p2)*(p1-p2) }

// PairedTrials is how many independent trials separate two tools of the same trials
// apart that are picked with the rates p1 and p2 (Miettinen 1968 for matched
// pairs, normal approximation). It is infinite where the rates are the same.
func (t Test) PairedTrials(p1, p2 float64) float64 {
	return ceil(t.z() * t.z() * PairedVariance(p1, p2) / sq(p1-p2))
}

// TrialsPerSide is how many independent trials each of two sides needs, be they
// agents or snapshots, to separate rates p1 and p2 (Fleiss, Levin and Paik,
// Statistical Methods for Rates and Proportions, 2003, 4.14, without continuity
// correction).
func (t Test) TrialsPerSide(p1, p2 float64) float64 {
	mean := (p1 + p2) / 2
	a := NormalQuantile(1-t.Alpha/2) * math.Sqrt(2*mean*(1-mean))
	b := NormalQuantile(t.Power) * math.Sqrt(p1*(1-p1)+p2*(1-p2))
	return ceil(sq(a+b) / sq(p1-p2))
}

// HalfWidthTrials is how many independent trials give a 95 % interval of p +- half
// by the normal approximation.
func HalfWidthTrials(p, half float64) float64 { return ceil(sq(Z975/half) * p * (1 - p)) }

// DesignEffect is by how much the variance of a mean grows where m trials share a
// cluster and correlate by rho (Kish 1965).
func DesignEffect(m, rho float64) float64 { return 1 + (m-1)*rho }

// A Spread is where the variance of a score comes from.
type Spread struct {
	// Between is the variance of the clusters' own means, Within that of trials
	// around the mean of their cluster.
	Between, Within float64
}

// Rho is the share of the variance between clusters; 0 where there is
// none.
func (s Spread) Rho() float64 {
	if s.Between+s.Within == 0 {
		return 0
	}
	return s.Between / (s.Between + s.Within)
}

// PromptsNeeded is how many prompts show a difference of delta with so many trials
// a prompt: z^2 (between + within/trials) / delta^2 (Miller 2024, arXiv 2411.00640,
// section 5, with the question as cluster). More trials of the same prompt lessen
// the second term only.
func (t Test) PromptsNeeded(s Spread, trials int, delta float64) float64 {
	return ceil(sq(t.z()) * (s.Between + s.Within/float64(trials)) / sq(delta))
}

// ClusterPower is the power of the one-sided t test, at the level alpha, of a mean over
// clusters whose own means are effect standard deviations above zero and have the
// given skewness. With df = G-1 and the kurtosis k it is
//
//	Phi((sqrt(G) effect - t (1 - 1/4df)) / sqrt(1 + t^2 (k-1)/4df - t skew/sqrt(df))),
//
// the normal approximation of the non-central t (Abramowitz and Stegun 26.7.10) with the
// covariance of mean and standard deviation, which is half the skewness over G. Without it
// the power of a large share is 5 to 10 points too high: shares that cannot exceed 1 are
// skewed. k is that of the normal distribution, 3, or the least that the skewness allows.
// The power is 0 with fewer than two clusters.
func ClusterPower(effect, skew float64, clusters int, alpha float64) float64 {
	if clusters < 2 {
		return 0
	}
	df := float64(clusters - 1)
	t, kurtosis := TQuantile(1-alpha, df), math.Max(3, 1+skew*skew)
	mean := math.Sqrt(float64(clusters))*effect - t*(1-1/(4*df))
	return math.Erfc(-mean/math.Sqrt(2*(1+t*t*(kurtosis-1)/(4*df)-t*skew/math.Sqrt(df)))) / 2
}

// SpreadOf estimates where a score's variance comes from, by the one-way analysis
// of variance with unequal clusters (Searle, Casella and McCulloch, Variance
// Components, 1992, section 3.6); a negative estimate between clusters is 0. ok is
// false if there are too few clusters or repeats.
func SpreadOf(clusters []Cluster) (s Spread, ok bool) {
	a := oneWay(clusters)
	if a.df1 < 1 || a.df2 < 1 {
		return s, false
	}
	return Spread{math.Max(0, (a.between-a.within)/a.size), a.within}, true
}

// RhoRange returns an interval of the share of the variance between clusters that holds
// it with the chance level (Searle 1971; for unequal clusters by their mean size): F
// quantiles, exact for normal scores. It is 0 to 1 if there are too few clusters or repeats.
func RhoRange(clusters []Cluster, level float64) (low, high float64) {
	a := oneWay(clusters)
	if a.df1 < 1 || a.df2 < 1 {
		return 0, 1
	}
	end := func(q float64) float64 {
		x := mathext.InvRegIncBeta(a.df1/2, a.df2/2, q)
		quantile := a.df2 * x / (a.df1 * (1 - x))
		excess := math.Max(0, a.between-a.within*quantile)
		if excess == 0 {
			return 0
		}
		return excess / (excess + a.size*a.within*quantile)
	}
	return end((1 + level) / 2), end((1 - level) / 2)
}

// An anova is a one-way analysis of variance: mean squares with their degrees of freedom,
// and the mean size of a cluster.
type anova struct{ between, within, df1, df2, size float64 }

func oneWay(clusters []Cluster) anova {
	var n, sum, g, nn, within, between float64
	for _, c := range clusters {
		if c.N > 0 {
			k := float64(c.N)
			n, sum, g, nn = n+k, sum+c.Sum, g+1, nn+k*k
			within += c.Squares - c.Sum*c.Sum/k
		}
	}
	for _, c := range clusters {
		if c.N > 0 {
			between += float64(c.N) * sq(c.Sum/float64(c.N)-sum/n)
		}
	}
	return anova{between / (g - 1), math.Max(0, within) / (n - g), g - 1, n - g, (n - nn/n) / (g - 1)}
}

func sq(v float64) float64 { return v * v }

// ceil rounds up, tolerating rounding errors above a whole number.
func ceil(v float64) float64 { return math.Ceil(v - 1e-9) }
