package stats

import "math"

// BenjaminiHochberg adjusts p-values so that rejecting those of at most q keeps the
// expected share of false rejections (FDR) at q, for independent or positively dependent
// tests (Benjamini and Hochberg 1995). The order is that of the input.
func BenjaminiHochberg(p []float64) []float64 {
	out, order := make([]float64, len(p)), ascending(p)
	run := 1.0
	for k := len(p) - 1; k >= 0; k-- {
		i := order[k]
		run = math.Min(run, p[i]*float64(len(p))/float64(k+1))
		out[i] = run
	}
	return out
}

// EBH selects the hypotheses to reject with e-values: the k largest, for the greatest k
// whose k-th largest e-value is at least K/(k alpha) among K hypotheses. It keeps the
// FDR at alpha under any dependence (Wang and Ramdas 2022, "False discovery rate control
// with e-values", JRSS-B 84, section 4). The order is that of the input.
//
// The guarantee is for e-values of one time. To look at e-processes every night and keep
// what was ever rejected, reject at K/alpha instead: by Ville's inequality and Bonferroni
// the chance of any false rejection, ever, is then at most alpha.
func EBH(e []float64, alpha float64) []bool {
	out, order := make([]bool, len(e)), ascending(e)
	n := float64(len(e))
	for first, i := range order { // the k largest begin at first
		if k := n - float64(first); k*e[i]*alpha >= n {
			for _, j := range order[first:] {
				out[j] = true
			}
			break
		}
	}
	return out
}
