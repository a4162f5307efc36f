package analytics

import (
	"math"
	"slices"

	"github.com/firstpick/firstpick/analytics/stats"
)

// A Difference is how a tool's pick rate changed between two measurements of a category,
// or differs between two agents of one.
type Difference struct {
	Slug string
	// Old and New are the rates that were compared, of the agents that both have.
	Old, New float64
	stats.Change
	// P is the p-value after Bonferroni's correction for all differences of a family of
	// tests, and Interval the simultaneous 95 % interval of all of them: it excludes 0
	// exactly where Shown. Simultaneous sets all three.
	Interval stats.Interval
	P        float64
	Shown    bool
}

// Simultaneous corrects differences for being tested together. Every command that tests
// differences calls it once, with all of them.
func Simultaneous(differences []*Difference) {
	n := float64(max(1, len(differences)))
	for _, d := range differences {
		d.P = math.Min(1, n*d.Change.P())
		d.Interval = d.Change.Interval(significant / n)
		if d.Shown = d.P < significant; d.Shown && d.Value > 0 { // also with six decimals
			d.Interval.Low = math.Max(1e-6, d.Interval.Low)
		} else if d.Shown {
			d.Interval.High = math.Min(-1e-6, d.Interval.High)
		}
	}
}

// Differences compares tools in two measurements of a category, in the order of slugs.
// Prompt families are paired by their names in the designs, agents by name: an agent that
// one side lacks is left out of both. Where no agent is common, all are compared.
func Differences(older, newer Measurement, slugs []string) []Difference {
	was, is := newTally(slugs, older.Cells, older.Design), newTally(slugs, newer.Cells, newer.Design)
	common := commonAgents(was.agents, is.agents)
	out := make([]Difference, len(slugs))
	for i, slug := range slugs {
		x, y := was.familyMeans(i, common), is.familyMeans(i, common)
		out[i] = difference(slug, x, y, len(common) == 0)
	}
	return out
}

// AgentDifferences compares tools between two agents of one measurement: agent's rates
// less those of other.
func AgentDifferences(m Measurement, agent, other string, slugs []string) []Difference {
	t := newTally(slugs, m.Cells, m.Design)
	out := make([]Difference, len(slugs))
	for i, slug := range slugs {
		out[i] = difference(slug, t.familyMeans(i, []string{other}), t.familyMeans(i, []string{agent}), true)
	}
	return out
}

func commonAgents(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(name string) bool { return !slices.Contains(b, name) })
}

// A familyMean is a tool's weighted mean in one family, and what each agent adds to it.
type familyMean struct {
	value, weight float64
	byAgent       map[string][2]float64 // mean and weight
}

// familyMeans returns the means of a tool by family over some agents; nil for all.
func (t *tally) familyMeans(tool int, agents []string) map[string]familyMean {
	out := map[string]familyMean{}
	for at, n := range t.trials {
		a := t.agents[at%len(t.agents)]
		if n == 0 || len(agents) > 0 && !slices.Contains(agents, a) {
			continue
		}
		name := t.families[at/len(t.agents)]
		f := out[name]
		if f.byAgent == nil {
			f.byAgent = map[string][2]float64{}
		}
		w, mean := t.design.AgentWeight(at%len(t.agents)), float64(t.picks[tool][at])/float64(n)
		f.byAgent[a] = [2]float64{mean, w}
		f.value, f.weight = f.value+w*mean, f.weight+w
		out[name] = f
	}
	for name, f := range out {
		f.value /= f.weight
		out[name] = f
	}
	return out
}

func difference(slug string, was, is map[string]familyMean, others bool) Difference {
	var s stats.Sides
	for _, name := range sortedKeys(was) {
		s.Old = append(s.Old, was[name].value)
		if d, ok := paired(was[name], is[name], others); ok {
			s.Paired = append(s.Paired, d)
		} else {
			s.RestOld = append(s.RestOld, was[name].value)
		}
	}
	for _, name := range sortedKeys(is) {
		s.New = append(s.New, is[name].value)
		if _, ok := paired(was[name], is[name], others); !ok {
			s.RestNew = append(s.RestNew, is[name].value)
		}
	}
	return Difference{Slug: slug, Old: mean(s.Old), New: mean(s.New), Change: stats.ChangeOf(s)}
}

// paired returns the change of one family over the agents that both sides have in it. With
// others, sides without a common agent are compared as they are.
func paired(was, is familyMean, others bool) (float64, bool) {
	if was.weight == 0 || is.weight == 0 {
		return 0, false
	}
	var sum, weight float64
	for _, a := range sortedKeys(was.byAgent) {
		if now, ok := is.byAgent[a]; ok {
			w := (was.byAgent[a][1] + now[1]) / 2
			sum, weight = sum+w*(now[0]-was.byAgent[a][0]), weight+w
		}
	}
	if weight == 0 {
		return is.value - was.value, others
	}
	return sum / weight, true
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / math.Max(1, float64(len(v)))
}
