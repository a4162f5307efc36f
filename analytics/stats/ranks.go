package stats

import (
	"cmp"
	"slices"
)

// A RankSet bounds a true rank; 1 is best.
type RankSet struct{ Low, High int }

// RankSets returns ranks that hold for all counts at once with 95 % confidence:
// for every ordered pair it tests, given their sum, whether one share is above
// the other, corrects by Holm over the k(k-1) tests, and counts who is shown to
// be ahead (Mogstad, Romano, Shaikh and Wilhelm 2024; csranks_multinom). Trials
// are taken as independent. One count has rank 1, equal counts share a set, and
// Low <= point rank <= High always holds. The work grows with the square of k.
//
// It is the published method for independent trials, to compare the clustered ranges with:
// trials of a prompt family are alike, and then these sets are far too narrow. Boards
// publish Order.Ranks.
func RankSets(counts []int) []RankSet {
	type test struct {
		p    float64
		j, k int
	}
	tests := make([]test, 0, len(counts)*len(counts))
	for j := range counts {
		for k := range counts {
			if j != k {
				tests = append(tests, test{BinomialTail(counts[j], counts[j]+counts[k], 0.5), j, k})
			}
		}
	}
	slices.SortFunc(tests, func(a, b test) int {
		return cmp.Or(cmp.Compare(a.p, b.p), cmp.Compare(a.j, b.j), cmp.Compare(a.k, b.k))
	})
	sets := make([]RankSet, len(counts))
	for i := range sets {
		sets[i] = RankSet{1, len(counts)}
	}
	for i, t := range tests {
		if t.p > alpha/float64(len(tests)-i) {
			break
		}
		sets[t.k].Low++
		sets[t.j].High--
	}
	return sets
}
