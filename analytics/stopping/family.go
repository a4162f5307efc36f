package stopping

import (
	"slices"

	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/journal"
)

// Means returns the means of tools in the trials of one family: of the share of each agent's
// trials that picked the tool, weighted by agent. weights is nil for equal ones. An agent
// without a valid trial does not count; ok is false without any.
func Means(family []runner.Choice, tools []string, weights map[string]float64) (means []float64, ok bool) {
	type counts struct {
		trials int
		picks  map[string]int
	}
	byAgent := map[string]*counts{}
	var agents []string
	for _, c := range family {
		of := byAgent[c.Agent]
		if of == nil {
			of = &counts{picks: map[string]int{}}
			byAgent[c.Agent], agents = of, append(agents, c.Agent)
		}
		of.trials++
		of.picks[c.Picked]++
	}
	slices.Sort(agents)
	means = make([]float64, len(tools))
	sum := 0.0
	for _, name := range agents {
		weight := 1.0
		if len(weights) > 0 {
			weight = weights[name]
		}
		sum += weight
		for i, tool := range tools {
			means[i] += weight * float64(byAgent[name].picks[tool]) / float64(byAgent[name].trials)
		}
	}
	for i := range means {
		means[i] /= sum
	}
	return means, sum > 0
}

// Look returns a function that adds one family after the other to a new decision, and
// returns the verdict once it is reached. A family without a valid trial says nothing.
func Look(r Rule, weights map[string]float64) func(family []runner.Choice) (journal.Verdict, bool) {
	d := New(r)
	return func(family []runner.Choice) (journal.Verdict, bool) {
		if means, ok := Means(family, r.tools, weights); ok {
			d.Add(means)
		}
		return d.Decided()
	}
}
