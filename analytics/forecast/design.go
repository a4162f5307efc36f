package forecast

import (
	"cmp"
	"math"
	"slices"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

// A Detection answers which designs of an eval show a difference.
type Detection struct {
	// Difference is between the rates of the two most picked tools, 0 to 1.
	Difference float64 `json:"difference"`
	// Designs are, for every ICC, in order of trials: the cheapest first. Each next one
	// has fewer prompts.
	Designs []Design `json:"designs"`
}

// A Design is a number of prompts, each a family of its own, and repeats that show the
// difference with 80 % power, with the eval's agents and templates.
type Design struct {
	// ICC is assumed, or Measured in earlier runs.
	ICC      float64 `json:"icc"`
	Measured bool    `json:"measured"`
	Prompts  int     `json:"prompts"`
	Repeats  int     `json:"repeats"`
	Trials   int     `json:"trials"`
	// ExpectedUSD is at the expected cost per trial; null where that is not known.
	ExpectedUSD *float64 `json:"expectedUSD"`
}

// detection finds the designs that show the difference in.Detect, with the cost per trial
// of f.
func (in Input) detection(f *Forecast) *Detection {
	out := &Detection{Difference: in.Detect, Designs: []Design{}}
	for _, icc := range iccs() {
		out.Designs = append(out.Designs, in.designs(f, Design{ICC: icc}, NewField(in.Tools))...)
	}
	if p := in.Pilot; p != nil {
		out.Designs = append(out.Designs, in.designs(f, Design{ICC: p.ICC, Measured: true}, Field{in.Tools, p.Second})...)
	}
	return out
}

// designs returns the designs at the ICC of d that no other beats in prompts and trials.
func (in Input) designs(f *Forecast, d Design, field Field) (out []Design) {
	repeats := []int{1, 2, 3, 5, 10, in.Eval.Repeats}
	slices.Sort(repeats)
	perRepeat := len(in.Eval.Agents) * len(in.Eval.Templates)
	for _, d.Repeats = range slices.Compact(repeats) {
		prompts := field.Prompts(in.Detect, perRepeat*d.Repeats, d.ICC)
		if math.IsInf(prompts, 1) {
			continue
		}
		d.Prompts = int(prompts)
		d.Trials = d.Prompts * perRepeat * d.Repeats
		if f.Expected != nil && f.Trials > 0 {
			d.ExpectedUSD = finite(f.Expected.USD / float64(f.Trials) * float64(d.Trials))
		}
		out = append(out, d)
	}
	sorting.StableFunc(out, func(a, b Design) int { return cmp.Compare(a.Trials, b.Trials) })
	fewest := math.MaxInt
	return slices.DeleteFunc(out, func(d Design) bool {
		beaten := d.Prompts >= fewest
		fewest = min(fewest, d.Prompts)
		return beaten
	})
}
