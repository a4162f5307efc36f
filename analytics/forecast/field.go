package forecast

import (
	"math"
	"sort"

	"github.com/firstpick/firstpick/analytics/stats"
)

const (
	// boardLevel is the chance that a board shows any difference that is not there.
	boardLevel = 0.05
	// power is the chance that a run shows the difference that is planned for.
	power = 0.80
	// manyPrompts ends the search for a number of prompts.
	manyPrompts = 1e9
)

// A Field models the tools of a board and how their shares spread over prompts.
//
// The board calls a difference significant by a one-sided t test over prompts (G-1
// degrees of freedom), Holm-corrected at 5 % over all k(k-1) ordered pairs of its k tools.
//
// Shares: the leader takes p1; Second is the part of the rest that goes to the second
// tool; the others share what remains in proportion to 1/rank. Spread: a prompt has its
// own shares, drawn from a Dirichlet distribution with concentration 1/ICC - 1, and its
// trials are multinomial. So the ICC is the share of variance that lies between prompts.
//
// Level: the pair has to pass at 5 %/(k(k-1)), the first step of Holm. Holm's own level is
// between that and 5 %, but close to it: only the leader and the second tool are ahead of
// many others, and pairs of rarely picked tools stay untested. On simulated boards of 2 to
// 40 tools the second step on adds 0 to 4 points of power.
//
// In simulation the promised 80 % are 77 to 84 % from 10 prompts with 3 trials each on, and
// 81 to 88 % with logit-normal prompts. They rest on Second: where two tools share 90 % of
// the picks and a field of 12 with shares of 1/rank was assumed, they are 45 to 63 %.
type Field struct {
	// Tools is k, the number of tools on the board.
	Tools int
	// Second is the second tool's share of the trials without the leader's, 0 to 1.
	Second float64
}

// NewField returns the field of so many tools that is assumed where nothing was
// measured: behind the leader, shares are proportional to 1/rank (Zipf's law).
func NewField(tools int) Field {
	behind := 0.0
	for rank := 2; rank <= tools; rank++ {
		behind += 1 / float64(rank)
	}
	return Field{tools, 0.5 / max(behind, 0.5)}
}

// Shares returns the expected shares of the tools, most picked first, where the leader is
// ahead of the second by diff, 0 to 1. They sum to 1, or less where Second leaves trials
// without a pick to a field of two.
func (f Field) Shares(diff float64) []float64 {
	out := make([]float64, f.Tools)
	behind := 0.0
	for i := range out {
		switch i {
		case 0:
			out[i] = (diff + f.Second) / (1 + f.Second)
		case 1:
			out[i] = f.Second * (1 - out[0])
		default:
			out[i] = 1 / float64(i+1)
			behind += out[i]
		}
	}
	for i := 2; i < len(out); i++ {
		out[i] *= (1 - out[0] - out[1]) / behind
	}
	return out
}

// Power returns the chance, 0 to 1, that a board of so many prompts with so many trials
// each shows the leader ahead of the second tool, if it is ahead by diff. icc is from 0 to
// 1, diff above 0 and below 1. Trials that share a prompt count as alike, whatever the
// agent.
func (f Field) Power(prompts, trials int, icc, diff float64) float64 {
	if f.Tools < 2 || prompts < 2 || trials < 1 {
		return 0
	}
	level := boardLevel / float64(f.Tools*(f.Tools-1))
	first := (diff + f.Second) / (1 + f.Second)
	both, m := first+f.Second*(1-first), float64(trials)
	// One trial scores 1, -1 or 0: variance and third moment. A prompt's mean of m
	// trials has these times the factors of the Dirichlet-multinomial distribution
	// (Mosimann 1962).
	variance := both - diff*diff
	third := diff - 3*diff*both + 2*diff*diff*diff
	shrunk := icc + (1-icc)/m
	skew := third / math.Pow(variance, 1.5) * (1 - icc + 2*m*icc) / (m * (1 + icc) * math.Sqrt(shrunk))
	p := stats.ClusterPower(diff/math.Sqrt(variance*shrunk), skew, prompts, level)
	if math.Pow(0.5, float64(prompts)) > level {
		// A board on which all trials agree is decided by a sign test, which so few
		// prompts cannot pass.
		p = min(p, 1-math.Pow(unanimous(first, m, icc), float64(prompts)))
	}
	return p
}

// unanimous returns the chance that all m trials of a prompt pick the tool with the
// expected share p (Pólya's urn).
func unanimous(p, m, icc float64) float64 {
	switch icc {
	case 0:
		return math.Pow(p, m)
	case 1:
		return p
	}
	c := 1/icc - 1
	lgamma := func(v float64) float64 { out, _ := math.Lgamma(v); return out }
	return math.Exp(lgamma(c*p+m) - lgamma(c*p) + lgamma(c) - lgamma(c+m))
}

// Detectable returns the smallest difference, 0 to 1, between the two most picked tools
// that such a board shows with 80 % power. It is infinite if the board can show no difference.
func (f Field) Detectable(prompts, trials int, icc float64) float64 {
	const steps = 1e5 // differences are searched to a thousandth of a point
	i := sort.Search(steps-1, func(i int) bool {
		return f.Power(prompts, trials, icc, float64(i+1)/steps) >= power
	})
	if i == steps-1 {
		return math.Inf(1)
	}
	return float64(i+1) / steps
}

// Prompts returns how many prompts of so many trials each show a difference of diff with
// 80 % power; it is infinite beyond 10^9.
func (f Field) Prompts(diff float64, trials int, icc float64) float64 {
	n := sort.Search(manyPrompts, func(n int) bool { return f.Power(n, trials, icc, diff) >= power })
	if n == manyPrompts {
		return math.Inf(1)
	}
	return float64(n)
}
