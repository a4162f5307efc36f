package stats

// NonOverlapRanks bounds ranks by whether intervals overlap: a tool ranks below those
// whose interval lies wholly above its own, and above those whose interval lies wholly
// below. Chatbot Arena publishes Low (Chiang et al. 2024, arXiv 2403.04132). Overlap is
// not a test of a difference: this is to compare the clustered ranges with Arena's. Boards
// publish Order.Ranks.
func NonOverlapRanks(intervals []Interval) []RankSet {
	sets := make([]RankSet, len(intervals))
	for i, a := range intervals {
		sets[i] = RankSet{1, len(intervals)}
		for _, b := range intervals {
			if b.Low > a.High {
				sets[i].Low++
			}
			if a.Low > b.High {
				sets[i].High--
			}
		}
	}
	return sets
}
