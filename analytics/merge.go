package analytics

import "slices"

// Merge returns the cells of several runs, sorted as those of Cells. Cells of the same
// prompt, agent and template are summed: two runs of an eval have such cells. The cells of
// one run are returned as they are.
func Merge(runs ...[]Cell) []Cell {
	if len(runs) == 1 {
		return runs[0]
	}
	out := slices.Concat(runs...)
	slices.SortFunc(out, compareCells)
	n := 0
	for _, c := range out {
		if n == 0 || compareCells(out[n-1], c) != 0 {
			out[n] = c
			n++
			continue
		}
		out[n-1].merge(&c)
	}
	return out[:n]
}

func (c *Cell) merge(o *Cell) {
	c.sumWith(o)
	c.Tools = slices.Clone(c.Tools)
	for _, t := range o.Tools {
		of := c.tool(t.Slug)
		of.Picks += t.Picks
		of.Shortlists += t.Shortlists
		of.Defaults += t.Defaults
		of.FirstNamed += t.FirstNamed
	}
	c.sortTools()
}
