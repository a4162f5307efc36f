package stats

import "math"

// CohenKappa is the agreement of two readers beyond chance (Cohen 1960): 1 is perfect, 0
// that of readers who guess with their own shares. A pair holds what each said of one
// item. ok is false without a pair, and where both always said the same one thing:
// chance alone then agrees always.
func CohenKappa(pairs [][2]string) (kappa float64, ok bool) {
	first, second := map[string]float64{}, map[string]float64{}
	agree, n := 0.0, float64(len(pairs))
	for _, p := range pairs {
		first[p[0]]++
		second[p[1]]++
		if p[0] == p[1] {
			agree++
		}
	}
	chance := 0.0
	for what, k := range first {
		chance += k * second[what]
	}
	chance /= n * n
	if n == 0 || math.Abs(1-chance) < 1e-12 {
		return 0, false
	}
	return (agree/n - chance) / (1 - chance), true
}
