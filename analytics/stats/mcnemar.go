package stats

import "math"

// McNemar is the chi-square statistic, 1 degree of freedom, of b trials that went one way
// and c that went the other: (b-c)^2/(b+c), without continuity correction (McNemar 1947).
// It is 0 without such trials. It takes trials as independent; see Design.Compare.
func McNemar(b, c int) float64 {
	if b+c == 0 {
		return 0
	}
	return sq(float64(b-c)) / float64(b+c)
}

// SignTest is the exact two-sided p-value of the same comparison: twice the binomial tail
// at rate 1/2, at most 1.
func SignTest(b, c int) float64 {
	return math.Min(1, 2*BinomialTail(max(b, c), b+c, 0.5))
}
