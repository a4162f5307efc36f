package nights

import "maps"

// Rates returns the rates of nights, oldest first, and what changed between them besides the
// answers. It tests no differences, so it needs no trials and counts every night.
func Rates(all []Night) []Line {
	out, models := make([]Line, 0, len(all)), map[string]string{}
	var last *Night
	for i := range all {
		n := &all[i]
		line := Line{At: n.At, Snapshot: n.Snapshot, Synthetic: n.Synthetic, Breaks: breaks(last, n, models), Tools: []Tool{}}
		for _, s := range n.Board.Tools {
			line.Tools = append(line.Tools, Tool{Slug: s.Slug, PickRate: s.PickRate, CILow: s.CILow, CIHigh: s.CIHigh, NTrials: s.NTrials})
		}
		maps.Copy(models, n.Models)
		out, last = append(out, line), n
	}
	return out
}
