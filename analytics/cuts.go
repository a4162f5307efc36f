package analytics

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics/stats"
	"github.com/firstpick/firstpick/fixtures/sorting"
)

// CutTags returns the tags that boards are cut by.
func CutTags() []string { return []string{"ecosystem", "intent", "persona"} }

// CutProject is the name of a cut by the project that the trials began with.
const CutProject = "project"

// cuts ranks the prompts of each value of each tag, if there are at least two values: one
// value is the board itself.
func (t *tally) cuts(m Measurement) []Cut {
	var out []Cut
	tags := CutTags()
	if m.CutProjects {
		tags = append(tags, CutProject)
	}
	for _, tag := range tags {
		byValue := map[string][]int{}
		var value string
		for i, c := range m.Cells {
			if tag == CutProject {
				value = c.Template
			} else if i == 0 || c.Prompt != m.Cells[i-1].Prompt {
				value = m.Design.Tags[c.Prompt][tag]
			}
			byValue[value] = append(byValue[value], i)
		}
		delete(byValue, "") // prompts without the tag
		if len(byValue) < 2 {
			continue
		}
		for value, cells := range byValue {
			out = append(out, t.cut(tag, value, cells))
		}
	}
	sorting.Func(out, func(a, b Cut) int {
		return cmp.Or(strings.Compare(a.Tag, b.Tag), strings.Compare(a.Value, b.Value))
	})
	return out
}

// cut ranks some of the cells.
func (t *tally) cut(tag, value string, cells []int) Cut {
	place := make([]int, len(t.families)) // of a family among those of the cells
	for _, i := range cells {
		place[t.cells[i].level[0]] = 1
	}
	families := 0
	for i, used := range place {
		place[i], families = families, families+used
	}
	rows := make([][]int, families)
	for i := range rows {
		rows[i] = make([]int, len(t.agents))
	}
	at, trials := make([]int, len(cells)), 0
	for k, i := range cells {
		c := t.cells[i]
		row := place[c.level[0]]
		rows[row][c.level[1]] += c.trials
		at[k], trials = row*len(t.agents)+c.level[1], trials+c.trials
	}
	design := stats.NewDesign(rows, t.of.weightsOf(t.agents))
	estimates, rates, picks := make([]stats.Estimate, len(t.tools)), make([]stats.Rate, len(t.tools)), make([]int, len(t.tools))
	for tool, picked := range t.picked {
		counts := make([]int, families*len(t.agents))
		for k, i := range cells {
			counts[at[k]] += picked[i]
		}
		picks[tool], estimates[tool] = sum(counts), design.Estimate(counts)
		rates[tool] = design.Rate(estimates[tool])
	}
	design.Borrow(estimates, rates)
	c := Cut{Tag: tag, Value: value, NTrials: trials, NFamilies: families, Warnings: []string{}, Tools: picked(agentRates(t.tools, rates, picks))}
	if c.NFamilies < MinFamilies || c.NTrials < minTrials {
		c.Warnings = append(c.Warnings, Directional)
	}
	return c
}

// CutBy returns the board with the cuts of one tag only.
func (b Board) CutBy(tag string) Board {
	b.Cuts = slices.DeleteFunc(slices.Clone(b.Cuts), func(c Cut) bool { return c.Tag != tag })
	return b
}
