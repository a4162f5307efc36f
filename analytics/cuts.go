package analytics

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// CutTags returns the tags that boards are cut by.
func CutTags() []string { return []string{"ecosystem", "intent", "persona"} }

// cuts ranks the prompts of each value of each tag, if there are at least two values: one
// value is the board itself.
func (m Measurement) cuts(tools []string) []Cut {
	var out []Cut
	for _, tag := range CutTags() {
		values, sizes := map[string]string{}, map[string]int{} // by prompt, by value
		for i, c := range m.Cells {
			if i == 0 || c.Prompt != m.Cells[i-1].Prompt {
				values[c.Prompt] = m.Design.Tags[c.Prompt][tag]
			}
			sizes[values[c.Prompt]]++
		}
		if len(sizes) < 2 {
			continue
		}
		byValue := map[string][]Cell{}
		for _, c := range m.Cells {
			value := values[c.Prompt]
			if value == "" {
				continue
			}
			if byValue[value] == nil {
				byValue[value] = make([]Cell, 0, sizes[value])
			}
			byValue[value] = append(byValue[value], c)
		}
		for value, cells := range byValue {
			out = append(out, m.cut(tools, tag, value, cells))
		}
	}
	slices.SortFunc(out, func(a, b Cut) int {
		return cmp.Or(strings.Compare(a.Tag, b.Tag), strings.Compare(a.Value, b.Value))
	})
	return out
}

func (m Measurement) cut(tools []string, tag, value string, cells []Cell) Cut {
	t := newTally(tools, cells, m.Design)
	_, rates := t.rates(t.picks)
	picks := make([]int, len(tools))
	for i, counts := range t.picks {
		picks[i] = sum(counts)
	}
	c := Cut{Tag: tag, Value: value, NTrials: t.total.Trials, NFamilies: len(t.families), Warnings: []string{}, Tools: agentRates(tools, rates, picks)}
	if c.NFamilies < minFamilies || c.NTrials < minTrials {
		c.Warnings = append(c.Warnings, Directional)
	}
	return c
}

// CutBy returns the board with the cuts of one tag only.
func (b Board) CutBy(tag string) Board {
	b.Cuts = slices.DeleteFunc(slices.Clone(b.Cuts), func(c Cut) bool { return c.Tag != tag })
	return b
}

// HasCuts returns the tags that the board is cut by, sorted.
func (b Board) HasCuts() []string {
	seen := map[string]bool{}
	for _, c := range b.Cuts {
		seen[c.Tag] = true
	}
	return slices.Sorted(maps.Keys(seen))
}
