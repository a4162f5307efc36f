package analytics

import "math"

// A Variance says where the variance between the trials of a tool comes from: shares of
// it, which sum to 1 but for rounding.
type Variance struct {
	// Prompt is the part between prompt families, Agent between agents, Template between
	// templates; Interaction is how far these depend on each other; Repeat is the part
	// between repeats of the same.
	Prompt      float64 `json:"prompt"`
	Agent       float64 `json:"agent"`
	Template    float64 `json:"template"`
	Interaction float64 `json:"interaction"`
	Repeat      float64 `json:"repeat"`
}

// variance estimates the components by the analysis of variance of the means of cells
// (Searle, Casella and McCulloch, Variance Components, 1992, chapter 4): a negative
// component is 0. Without repeats the interaction is counted as repeat.
func (t *tally) variance(tool int) *Variance {
	if sum(t.picks[tool]) == 0 || sum(t.picks[tool]) == t.total.Trials {
		return nil
	}
	var all effect
	var by [3][]effect
	for i := range by {
		by[i] = make([]effect, t.levels[i])
	}
	var within, repeats, n, inverse float64
	for i, c := range t.cells {
		k := float64(c.trials)
		p := float64(t.picked[tool][i]) / k
		within, repeats, inverse, n = within+k*p*(1-p), repeats+k-1, inverse+1/k, n+1
		all.add(p)
		for j, level := range c.level {
			by[j][level].add(p)
		}
	}
	repeat := 0.0
	if repeats > 0 {
		repeat = within / repeats
	}
	rest, df := all.squares-all.n*all.mean()*all.mean(), all.n-1
	var between [3]float64
	for i := range by {
		for _, e := range by[i] {
			d := e.mean() - all.mean()
			between[i] += e.n * d * d
		}
		rest, df = rest-between[i], df-float64(len(by[i])-1)
	}
	noise := repeat * inverse / n // the variance of a cell's mean that repeats explain
	residual := noise
	if df > 0 {
		residual = math.Max(0, rest) / df
	}
	var parts [3]float64
	for i := range by {
		if k := float64(len(by[i])); k > 1 {
			parts[i] = math.Max(0, (between[i]/(k-1)-residual)/(n/k))
		}
	}
	v := Variance{Prompt: parts[0], Agent: parts[1], Template: parts[2], Interaction: math.Max(0, residual-noise), Repeat: repeat}
	if repeats == 0 {
		v.Interaction, v.Repeat = 0, residual
	}
	return v.shares()
}

func (v Variance) shares() *Variance {
	whole := v.Prompt + v.Agent + v.Template + v.Interaction + v.Repeat
	if whole <= 0 {
		return nil
	}
	return &Variance{Round(v.Prompt / whole), Round(v.Agent / whole), Round(v.Template / whole), Round(v.Interaction / whole), Round(v.Repeat / whole)}
}

// An effect sums the means of the cells of one level.
type effect struct{ n, sum, squares float64 }

func (e *effect) add(p float64) { e.n, e.sum, e.squares = e.n+1, e.sum+p, e.squares+p*p }

func (e *effect) mean() float64 { return e.sum / e.n }
