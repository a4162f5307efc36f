package stats

import (
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat"
)

func flatVectors(t *testing.T, v []struct {
	X, N             int
	P                float64
	Wilson, Jeffreys [2]float64
	ClopperPearson   [2]float64 `json:"clopper_pearson"`
}) {
	for _, c := range v {
		near(t, "p", float64(c.X)/float64(c.N), c.P)
		interval(t, "Wilson", Wilson(float64(c.X), float64(c.N)), c.Wilson)
		interval(t, "Jeffreys", Jeffreys(c.X, c.N), c.Jeffreys)
		interval(t, "Clopper-Pearson", ClopperPearson(c.X, c.N), c.ClopperPearson)
	}
}

func clusteredVectors(t *testing.T, v toy) {
	for i, tool := range v.Order[:3] {
		want := v.Result[tool]
		p := ClusteredProportion(v.clusters(of(i, i)...))
		near(t, tool+" picks", p.Value*float64(p.N), float64(want.Picks))
		near(t, tool+" n", float64(p.N), float64(want.N))
		near(t, tool+" p", p.Value, want.P)
		near(t, tool+" flat SE", p.FlatSE, want.FlatSE)
		near(t, tool+" Miller SE", p.MillerSE, want.Miller)
		near(t, tool+" SE", p.SE, want.SE)
		near(t, tool+" df", float64(p.Clusters-1), float64(want.DF))
		near(t, tool+" t", p.T975(), want.T975)
		interval(t, tool+" t interval", Interval{p.Value - p.T975()*p.SE, p.Value + p.T975()*p.SE}, want.TCI)
		near(t, tool+" deff", p.Deff, want.Deff)
		near4(t, tool+" n_eff", p.NEff, want.NEff)
		near4(t, tool+" n*", p.NStar, want.NStar)
		interval(t, tool, p.Interval, want.WilsonNEff)
		interval(t, tool+" flat", Wilson(float64(want.Picks), float64(want.N)), want.WilsonFlat)
	}
}

func pairedVectors(t *testing.T, v map[string]struct {
	Diff, T    float64
	FlatSE     float64 `json:"se_clt"`
	SE         float64 `json:"se_cluster"`
	P          float64 `json:"p_cluster_t"`
	Discordant [2]int
	ChiSquare  float64 `json:"mcnemar_chi2"`
	Sign       float64 `json:"sign_exact_two_sided"`
	Holm, BH   float64
}) {
	toy := toyOf(t)
	names := []string{"stripe-paddle", "stripe-square", "paddle-square"}
	var ps []float64
	for k, ij := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		name, want := names[k], v[names[k]]
		d := PairedDifference(toy.clusters(of(ij[0], ij[1])...))
		near(t, name+" diff", d.Value, want.Diff)
		near(t, name+" flat SE", d.FlatSE, want.FlatSE)
		near(t, name+" SE", d.SE, want.SE)
		near(t, name+" t", d.T, want.T)
		near(t, name+" p", d.P, want.P)
		b, c := 0, 0
		for _, counts := range toy.Cells {
			b, c = b+counts[ij[0]], c+counts[ij[1]]
		}
		if want.Discordant != [2]int{b, c} {
			t.Errorf("%s: discordant %d, %d", name, b, c)
		}
		near(t, name+" McNemar", McNemar(b, c), want.ChiSquare)
		near(t, name+" sign test", SignTest(b, c), want.Sign)
		ps = append(ps, want.P) // the reference adjusts p-values rounded to six decimals
	}
	for k, name := range names {
		near(t, name+" Holm", Holm(ps)[k], v[name].Holm)
		near(t, name+" BH", BenjaminiHochberg(ps)[k], v[name].BH)
	}
}

func adjustmentVectors(t *testing.T, v struct{ P, Holm, BH []float64 }) {
	for i := range v.P {
		near(t, "Holm", Holm(v.P)[i], v.Holm[i])
		near(t, "BH", BenjaminiHochberg(v.P)[i], v.BH[i])
	}
}

func splitMixVectors(t *testing.T, v []string) {
	s := SplitMix64(42)
	for i, want := range v {
		if got := strconv.FormatUint(s.Uint64(), 10); got != want {
			t.Errorf("output %d: got %s, want %s", i, got, want)
		}
	}
}

func bootstrapVectors(t *testing.T, v struct {
	RNG   string
	CI    map[string][2]float64
	SE    map[string]float64
	RankQ map[string][2]float64 `json:"rank_q"`
}) {
	toy := toyOf(t)
	by := make([][]Cluster, 3)
	for i := range by {
		by[i] = toy.clusters(of(i, i)...)
	}
	reps := Bootstrap(20260101, len(by[0]), 2000, func(draw []int) []float64 {
		shares := make([]float64, 3)
		for i, clusters := range by {
			sum, n := 0.0, 0
			for _, g := range draw {
				sum, n = sum+clusters[g].Sum, n+clusters[g].N
			}
			shares[i] = sum / float64(n)
		}
		out := slices.Clone(shares)
		for _, a := range shares {
			rank := 1.0
			for _, b := range shares {
				if b > a {
					rank++
				}
			}
			out = append(out, rank)
		}
		return out
	})
	for i, tool := range toy.Order[:3] {
		interval(t, tool, Interval{Quantile(reps[i], 0.025), Quantile(reps[i], 0.975)}, v.CI[tool])
		near(t, tool+" SE", stat.StdDev(reps[i], nil), v.SE[tool])
		interval(t, tool+" ranks", Interval{Quantile(reps[i+3], 0.025), Quantile(reps[i+3], 0.975)}, v.RankQ[tool])
	}
}

func rankVectors(t *testing.T, v []struct {
	Counts []int
	L      []int        `json:"csranks_L"`
	U      []int        `json:"csranks_U"`
	Arena  []int        `json:"arena_rank_ub_from_nonoverlap"`
	Worst  []int        `json:"worst_rank_nonoverlap"`
	Wilson [][2]float64 // four decimals
}) {
	for _, c := range v {
		total, intervals := 0, []Interval(nil)
		for _, k := range c.Counts {
			total += k
		}
		for i, k := range c.Counts {
			intervals = append(intervals, Wilson(float64(k), float64(total)))
			near4(t, "low", intervals[i].Low, c.Wilson[i][0])
			near4(t, "high", intervals[i].High, c.Wilson[i][1])
		}
		sets, arena := RankSets(c.Counts), NonOverlapRanks(intervals)
		for i := range c.Counts {
			if want := (RankSet{c.L[i], c.U[i]}); sets[i] != want {
				t.Errorf("%v: tool %d has ranks %v, want %v", c.Counts, i, sets[i], want)
			}
			if want := (RankSet{c.Arena[i], c.Worst[i]}); arena[i] != want {
				t.Errorf("%v: tool %d has ranks without overlap %v, want %v", c.Counts, i, arena[i], want)
			}
		}
	}
}

func BenchmarkRankSets60(b *testing.B) {
	counts := make([]int, 60)
	for i := range counts {
		counts[i] = i * i * 7
	}
	for b.Loop() {
		RankSets(counts)
	}
}
