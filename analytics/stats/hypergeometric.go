package stats

import "slices"

// A countDistribution is that of a count: mass[i] is the probability of from + i. Tails
// below negligible are cut off.
type countDistribution struct {
	from int
	mass []float64
}

const negligible = 1e-20

// hypergeometric is the distribution of the picks among n trials that are drawn without
// replacement from total trials, of which picks are picks.
func hypergeometric(n, picks, total int) countDistribution {
	ratio := func(k int) float64 { // of the probabilities of k+1 and k
		return float64(picks-k) * float64(n-k) / (float64(k+1) * float64(total-picks-n+k+1))
	}
	low, high := max(0, n-(total-picks)), min(n, picks)
	mode := min(high, max(low, int(float64(n+1)*float64(picks+1)/float64(total+2))))
	above, below := []float64{1}, []float64(nil)
	for k, p := mode, 1.0; k < high && p > negligible; k++ {
		p *= ratio(k)
		above = append(above, p)
	}
	for k, p := mode, 1.0; k > low && p > negligible; k-- {
		p /= ratio(k - 1)
		below = append(below, p)
	}
	slices.Reverse(below)
	d := countDistribution{mode - len(below), append(below, above...)}
	sum := 0.0
	for _, p := range d.mass {
		sum += p
	}
	for i := range d.mass {
		d.mass[i] /= sum
	}
	return d
}

// plus is the distribution of the sum of two independent counts.
func (d countDistribution) plus(e countDistribution) countDistribution {
	mass := make([]float64, len(d.mass)+len(e.mass)-1)
	for i, p := range d.mass {
		for j, q := range e.mass {
			mass[i+j] += p * q
		}
	}
	first, end := 0, len(mass)
	for mass[first] < negligible {
		first++
	}
	for mass[end-1] < negligible {
		end--
	}
	return countDistribution{d.from + e.from + first, mass[first:end]}
}

// tails returns P(count <= k) and P(count >= k).
func (d countDistribution) tails(k int) (atMost, atLeast float64) {
	for i, p := range d.mass {
		if d.from+i <= k {
			atMost += p
		}
		if d.from+i >= k {
			atLeast += p
		}
	}
	return min(1, atMost), min(1, atLeast)
}
