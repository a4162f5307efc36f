package forecast

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/firstpick/firstpick/analytics/stats"
)

// urn draws the trials of one prompt from a Dirichlet-multinomial distribution by Pólya's
// urn, and counts them by tool; what the shares lack of 1 picks nothing.
func urn(r *rand.Rand, shares []float64, trials int, icc float64) []int {
	counts, picks := make([]int, len(shares)+1), make([]int, 0, trials)
	for i := range trials {
		tool := 0
		if old := float64(i) * icc; r.Float64()*(1-icc+old) < old {
			tool = picks[r.IntN(i)]
		} else {
			for u := r.Float64(); tool < len(shares) && u >= shares[tool]; tool++ {
				u -= shares[tool]
			}
		}
		picks = append(picks, tool)
		counts[tool]++
	}
	return counts
}

// holm returns the critical values of the steps of Holm over all ordered pairs.
func holm(tools, prompts int) []float64 {
	out := make([]float64, tools*(tools-1))
	for i := range out {
		out[i] = stats.TQuantile(1-0.05/float64(len(out)-i), float64(prompts-1))
	}
	return out
}

// shows reports whether a board of these picks, prompts by tools, shows the first tool
// ahead of the second.
func shows(board [][]int, tools, trials int, critical []float64) bool {
	type pair struct {
		t     float64
		first bool
	}
	var pairs []pair
	g := float64(len(board))
	for a := range tools {
		for b := range a {
			sum, squares := 0.0, 0.0
			for _, row := range board {
				d := float64(row[b]-row[a]) / float64(trials)
				sum, squares = sum+d, squares+d*d
			}
			t := sum / math.Sqrt(max(0, squares-sum*sum/g)*g/(g-1))
			if math.IsInf(t, 0) || math.Abs(t) > 1e6 { // all trials agree: a sign test
				t = stats.TQuantile(1-math.Pow(0.5, g), g-1)
			}
			if !math.IsNaN(t) {
				pairs = append(pairs, pair{math.Abs(t), a == 1 && t > 0})
			}
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(b.t, a.t) })
	for i, p := range pairs {
		if p.t <= critical[i] {
			break
		}
		if p.first {
			return true
		}
	}
	return false
}

// simulate returns the share of boards that show the difference.
func simulate(r *rand.Rand, f Field, prompts, trials int, icc, diff float64, boards int) float64 {
	shares, critical, shown := f.Shares(diff), holm(f.Tools, prompts), 0
	board := make([][]int, prompts)
	for range boards {
		for i := range board {
			board[i] = urn(r, shares, trials, icc)
		}
		if shows(board, f.Tools, trials, critical) {
			shown++
		}
	}
	return float64(shown) / float64(boards)
}

// TestBoardsKeepThePromise: the difference that is called detectable is shown on 75 to 85 %
// of boards. 3,000 boards have a standard error of 0.7 points.
func TestBoardsKeepThePromise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		field           Field
		prompts, trials int
		icc             float64
	}{
		{NewField(2), 20, 3, 0.6},
		{NewField(2), 40, 12, 0.1},
		{NewField(6), 10, 12, 0.3},
		{NewField(6), 20, 12, 0.6},
		{NewField(6), 40, 3, 0},
		{NewField(12), 10, 12, 0.6},
		{NewField(12), 20, 3, 0.1},
		{NewField(12), 20, 12, 0.3},
		{NewField(12), 40, 12, 0.3},
		{NewField(12), 8, 12, 0.1},
		{Field{12, 0.5}, 20, 12, 0.3},
		{Field{2, 0.2}, 20, 3, 0.3},
		{NewField(6), 80, 24, 0.1},
	} {
		d := c.field.Detectable(c.prompts, c.trials, c.icc)
		if got := simulate(r, c.field, c.prompts, c.trials, c.icc, d, 3000); got < 0.75 || got > 0.85 {
			t.Errorf("%+v: %.3f is shown on %.1f%% of boards", c, d, 100*got)
		}
		less := 0.7 * d
		if want, got := c.field.Power(c.prompts, c.trials, c.icc, less), simulate(r, c.field, c.prompts, c.trials, c.icc, less, 1000); math.Abs(got-want) > 0.08 {
			t.Errorf("%+v: %.3f is shown on %.1f%% of boards, want %.1f%%", c, less, 100*got, 100*want)
		}
	}
}

// TestBoardsThatShowNothing: where few prompts agree completely, the sign test of the
// board shows nothing, so no difference is promised.
func TestBoardsThatShowNothing(t *testing.T) {
	f := NewField(12)
	if d := f.Detectable(6, 12, 0.6); !math.IsInf(d, 1) {
		t.Errorf("6 prompts show %g", d)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, d := range []float64{0.8, 0.9, 0.95, 0.99} {
		if got := simulate(r, f, 6, 12, 0.6, d, 200); got >= 0.8 {
			t.Errorf("%g is shown on %.0f%% of boards", d, 100*got)
		}
	}
	for name, f := range map[string]Field{"no tool": NewField(0), "one tool": NewField(1)} {
		if d := f.Detectable(100, 100, 0); !math.IsInf(d, 1) {
			t.Errorf("%s: %g", name, d)
		}
	}
	if d := f.Detectable(1, 1000, 0); !math.IsInf(d, 1) {
		t.Errorf("one prompt shows %g", d)
	}
}

func TestShares(t *testing.T) {
	for _, f := range []Field{NewField(2), NewField(3), NewField(40), {12, 0.5}} {
		for _, diff := range []float64{0.01, 0.2, 0.9} {
			shares, sum := f.Shares(diff), 0.0
			for _, p := range shares {
				sum += p
			}
			if len(shares) != f.Tools || math.Abs(sum-1) > 1e-12 || math.Abs(shares[0]-shares[1]-diff) > 1e-12 ||
				!slices.IsSortedFunc(shares, func(a, b float64) int { return cmp.Compare(b, a) }) {
				t.Errorf("%+v, %g: %v", f, diff, shares)
			}
		}
	}
	zipf := NewField(4).Shares(0.24) // 12, 6, 4 and 3 of 25
	if math.Abs(zipf[0]-0.48) > 1e-12 || math.Abs(zipf[3]-0.12) > 1e-12 {
		t.Errorf("got %v", zipf)
	}
}

// TestPromptsInvertDetectable: more of anything detects less, and the number of prompts
// for a difference is the smallest one that detects it.
func TestPromptsInvertDetectable(t *testing.T) {
	f := NewField(12)
	for _, icc := range []float64{0, 0.1, 0.6, 1} {
		for _, trials := range []int{3, 24} {
			n := int(f.Prompts(0.1, trials, icc))
			if d := f.Detectable(n, trials, icc); d > 0.1+1e-9 {
				t.Errorf("ICC %g: %d prompts of %d trials detect %g", icc, n, trials, d)
			}
			if d := f.Detectable(n-1, trials, icc); d <= 0.1 {
				t.Errorf("ICC %g: %d prompts of %d trials detect %g", icc, n-1, trials, d)
			}
		}
		if few, many := f.Detectable(40, 3, icc), f.Detectable(40, 24, icc); icc < 1 && few <= many || icc == 1 && few != many {
			t.Errorf("ICC %g: 3 trials detect %g, 24 detect %g", icc, few, many)
		}
	}
	if (Field{20, f.Second}).Prompts(0.1, 3, 0.3) <= f.Prompts(0.1, 3, 0.3) {
		t.Error("more tools do not take more prompts")
	}
	if n := f.Prompts(1e-9, 1, 1); !math.IsInf(n, 1) {
		t.Errorf("%g prompts", n)
	}
}
