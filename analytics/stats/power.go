package stats

import "math"

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

// Detectable is the smallest difference that prompts of so many trials each show.
// It is the inverse of PromptsNeeded with Student's t on G-1 degrees of freedom in
// the place of the normal quantile of alpha, because the comparison will be
// tested with. It is infinite with fewer than two prompts.
func (t Test) Detectable(s Spread, prompts, trials int) float64 {
	if prompts < 2 || trials < 1 {
		return math.Inf(1)
	}
	g := float64(prompts)
	z := TQuantile(1-t.Alpha/2, g-1) + NormalQuantile(t.Power)
	return z * math.Sqrt((s.Between+s.Within/float64(trials))/g)
}

// SpreadOf estimates where a score's variance comes from, by the one-way analysis
// of variance with unequal clusters (Searle, Casella and McCulloch, Variance
// Components, 1992, section 3.6); a negative estimate between clusters is 0. ok is
// false if there are too few clusters or repeats.
func SpreadOf(clusters []Cluster) (s Spread, ok bool) {
	var n, sum, g, nn, within float64
	for _, c := range clusters {
		if c.N > 0 {
			k := float64(c.N)
			n, sum, g, nn = n+k, sum+c.Sum, g+1, nn+k*k
			within += c.Squares - c.Sum*c.Sum/k
		}
	}
	if g < 2 || n <= g {
		return s, false
	}
	between := 0.0
	for _, c := range clusters {
		if c.N > 0 {
			between += float64(c.N) * sq(c.Sum/float64(c.N)-sum/n)
		}
	}
	s.Within = math.Max(0, within/(n-g))
	s.Between = math.Max(0, (between/(g-1)-s.Within)/((n-nn/n)/(g-1)))
	return s, true
}

func sq(v float64) float64 { return v * v }

// ceil rounds up, tolerating rounding errors above a whole number.
func ceil(v float64) float64 { return math.Ceil(v - 1e-9) }
