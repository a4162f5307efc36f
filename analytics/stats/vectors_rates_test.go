package stats

import (
	"math"
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
	d := v.design(nil)
	df := float64(d.Families() - 1)
	for i, tool := range v.Order[:3] {
		want, e := v.Result[tool], d.Estimate(v.picks(i))
		r, se := d.Rate(e), d.SE(e.Influence)
		g, n := float64(d.Families()), float64(d.Trials)
		flat, t975 := r.Value*(1-r.Value), TQuantile(0.975, df)
		near(t, tool+" picks", r.Value*n, float64(want.Picks))
		near(t, tool+" n", n, float64(want.N))
		near(t, tool+" p", r.Value, want.P)
		near(t, tool+" flat SE", math.Sqrt(flat/(n-1)), want.FlatSE)
		near(t, tool+" Miller SE", se*math.Sqrt((g-1)/g), want.Miller)
		near(t, tool+" SE", se, want.SE)
		near(t, tool+" df", df, float64(want.DF))
		near(t, tool+" t", t975, want.T975)
		interval(t, tool+" t interval", Interval{r.Value - t975*se, r.Value + t975*se}, want.TCI)
		near(t, tool+" deff", se*se*n/flat, want.Deff)
		near4(t, tool+" n_eff", r.NEff, want.NEff)
		near4(t, tool+" n*", r.NStar, want.NStar)
		interval(t, tool, r.Interval, want.WilsonNEff)
		interval(t, tool+" flat", Wilson(float64(want.Picks), n), want.WilsonFlat)
	}
}

func weightedVectors(t *testing.T, v map[string]struct {
	ByAgent map[string]float64
	P, SE   float64
	TCI     [2]float64 `json:"t_ci"`
}) {
	toy := toyOf(t)
	d, t975 := toy.design([]float64{0.7, 0.3}), TQuantile(0.975, 5)
	for i, tool := range toy.Order[:3] {
		want, e := v[tool], d.Estimate(toy.picks(i))
		se := d.SE(e.Influence)
		near(t, tool+" p", e.Value, want.P)
		near(t, tool+" SE", se, want.SE)
		interval(t, tool+" t interval", Interval{e.Value - t975*se, e.Value + t975*se}, want.TCI)
		near(t, tool+" of A", e.ByAgent[0], want.ByAgent["A"])
		near(t, tool+" of B", e.ByAgent[1], want.ByAgent["B"])
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
	d := toy.design(nil)
	estimates, rates := estimatesOf(d, toy.picks(0), toy.picks(1), toy.picks(2))
	order := d.Compare(estimates, rates)
	var ps []float64
	for _, ij := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		i, j := ij[0], ij[1]
		name := toy.Order[i] + "-" + toy.Order[j]
		want := v[name]
		lead, ok := order.Lead(i, j)
		if !ok {
			t.Fatalf("%s: no lead", name)
		}
		near(t, name+" diff", lead.Diff, want.Diff)
		near(t, name+" flat SE", math.Sqrt(PairedVariance(rates[i].Value, rates[j].Value)/float64(d.Trials-1)), want.FlatSE)
		near(t, name+" SE", lead.se, want.SE)
		near(t, name+" t", lead.Diff/lead.se, want.T)
		near(t, name+" p", 2*lead.P, want.P)
		b, c := sumOf(toy.picks(i)), sumOf(toy.picks(j))
		if want.Discordant != [2]int{b, c} {
			t.Errorf("%s: discordant %d, %d", name, b, c)
		}
		near(t, name+" McNemar", McNemar(b, c), want.ChiSquare)
		near(t, name+" sign test", SignTest(b, c), want.Sign)
		ps = append(ps, math.Round(2e6*lead.P)/1e6) // the reference adjusts p-values of six decimals
	}
	for k, name := range []string{"stripe-paddle", "stripe-square", "paddle-square"} {
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
	picks := [][]int{toy.picks(0), toy.picks(1), toy.picks(2)}
	reps := Bootstrap(20260101, 6, 2000, func(draw []int) []float64 {
		shares := make([]float64, 3)
		for i := range shares {
			sum := 0
			for _, g := range draw {
				sum += picks[i][2*g] + picks[i][2*g+1]
			}
			shares[i] = float64(sum) / 60
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
