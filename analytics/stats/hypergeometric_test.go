package stats

import (
	"fmt"
	"math"
	"testing"
)

func TestHypergeometric(t *testing.T) {
	choose := func(n, k int) float64 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return a - b - c
	}
	for _, c := range [][3]int{{5, 3, 20}, {5, 0, 20}, {5, 20, 20}, {5, 18, 20}, {1, 1, 2}, {100, 4000, 10_000}, {3000, 10, 6000}} {
		n, picks, total := c[0], c[1], c[2]
		d := hypergeometric(n, picks, total)
		for k := max(0, n-(total-picks)); k <= min(n, picks); k++ {
			want, got := math.Exp(choose(picks, k)+choose(total-picks, n-k)-choose(total, n)), 0.0
			if i := k - d.from; i >= 0 && i < len(d.mass) {
				got = d.mass[i]
			}
			within(t, fmt.Sprint(c, k), got, want, 1e-9)
		}
	}
	// The sum of two cells is that of one where both have the same rate by chance: 2 of 4
	// and 2 of 4 have the masses of {1,4,1}/6 convolved with itself.
	d := hypergeometric(2, 2, 4).plus(hypergeometric(2, 2, 4))
	for k, want := range []float64{1, 8, 18, 8, 1} {
		within(t, "sum", d.mass[k], want/36, 1e-12)
	}
	low, high := d.tails(3)
	within(t, "at most 3", low, 35./36, 1e-12)
	within(t, "at least 3", high, 9./36, 1e-12)
}
