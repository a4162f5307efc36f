package stats

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

type vectors struct {
	Flat []struct {
		X, N   int
		Wilson [2]float64
	} `json:"flat_intervals"`
	Clustered struct {
		Cells  map[string][]float64
		Order  []string
		Result map[string]struct {
			Miller     float64    `json:"se_cluster_miller"`
			SE         float64    `json:"se_cluster_G_over_Gm1"`
			FlatSE     float64    `json:"se_clt"`
			T975       float64    `json:"t975"`
			Deff       float64    `json:"deff"`
			NEff       float64    `json:"n_eff"`
			NStar      float64    `json:"n_star"`
			P          float64    `json:"p"`
			WilsonFlat [2]float64 `json:"wilson_flat"`
			WilsonNeff [2]float64 `json:"wilson_neff"`
		}
	}
	Paired map[string]struct {
		Diff, T, Holm float64
		P             float64 `json:"p_cluster_t"`
		SE            float64 `json:"se_cluster"`
	} `json:"paired_difference"`
	HolmBH struct{ P, Holm []float64 } `json:"holm_bh_vector"`
	Ranks  []struct {
		Counts []int
		L      []int `json:"csranks_L"`
		U      []int `json:"csranks_U"`
	} `json:"rank_sets"`
}

func load(t *testing.T) (v vectors) {
	t.Helper()
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// near compares to the six decimals that the vectors have.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	within(t, what, got, want, 5.1e-7)
}

func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance {
		t.Errorf("%s = %.7f, want %.6f", what, got, want)
	}
}

func interval(t *testing.T, what string, got Interval, want [2]float64) {
	t.Helper()
	near(t, what+" low", got.Low, want[0])
	near(t, what+" high", got.High, want[1])
}

func TestFlatIntervalVectors(t *testing.T) {
	for _, c := range load(t).Flat {
		interval(t, "wilson", Wilson(float64(c.X), float64(c.N)), c.Wilson)
	}
}

// clusters gathers the toy cells by prompt under a score of a cell's counts.
func clusters(v vectors, score func([]float64) (sum, squares float64)) []Cluster {
	by := map[string]*Cluster{}
	for key, counts := range v.Clustered.Cells {
		c := by[key[:2]]
		if c == nil {
			c = &Cluster{}
			by[key[:2]] = c
		}
		sum, squares := score(counts)
		c.Sum, c.Squares = c.Sum+sum, c.Squares+squares
		for _, n := range counts {
			c.N += int(n)
		}
	}
	out := make([]Cluster, 0, len(by))
	for _, c := range by {
		out = append(out, *c)
	}
	return out
}

func TestClusteredVectors(t *testing.T) {
	v := load(t)
	for i, tool := range v.Clustered.Order[:3] {
		want := v.Clustered.Result[tool]
		p := ClusteredProportion(clusters(v, func(c []float64) (float64, float64) { return c[i], c[i] }))
		near(t, tool+" p", p.Value, want.P)
		near(t, tool+" flat SE", p.FlatSE, want.FlatSE)
		near(t, tool+" Miller SE", p.MillerSE, want.Miller)
		near(t, tool+" SE", p.SE, want.SE)
		near(t, tool+" t", p.T975(), want.T975)
		near(t, tool+" deff", p.Deff, want.Deff)
		within(t, tool+" n_eff", p.NEff, want.NEff, 5.1e-5) // the vectors have four decimals
		within(t, tool+" n*", p.NStar, want.NStar, 5.1e-5)
		interval(t, tool, p.Interval, want.WilsonNeff)
		interval(t, tool+" flat", Wilson(p.Value*60, 60), want.WilsonFlat)
	}
}

func TestPairedDifferenceVectors(t *testing.T) {
	v := load(t)
	pairs := map[string][2]int{"stripe-paddle": {0, 1}, "stripe-square": {0, 2}, "paddle-square": {1, 2}}
	for name, ij := range pairs {
		want := v.Paired[name]
		d := PairedDifference(clusters(v, func(c []float64) (float64, float64) {
			return c[ij[0]] - c[ij[1]], c[ij[0]] + c[ij[1]]
		}))
		near(t, name+" diff", d.Value, want.Diff)
		near(t, name+" SE", d.SE, want.SE)
		near(t, name+" t", d.T, want.T)
		near(t, name+" p", d.P, want.P)
	}
	// The table adjusts p-values rounded to six decimals; so does this check.
	names := []string{"stripe-paddle", "stripe-square", "paddle-square"}
	ps := make([]float64, len(names))
	for i, name := range names {
		ps[i] = v.Paired[name].P
	}
	for i, name := range names {
		near(t, name+" Holm", Holm(ps)[i], v.Paired[name].Holm)
	}
	holm := Holm(v.HolmBH.P)
	for i := range v.HolmBH.P {
		near(t, "holm", holm[i], v.HolmBH.Holm[i])
	}
}

func TestRankSetVectors(t *testing.T) {
	for _, c := range load(t).Ranks {
		for i, s := range RankSets(c.Counts) {
			if s.Low != c.L[i] || s.High != c.U[i] {
				t.Errorf("%v: tool %d has %v, want [%d, %d]", c.Counts, i, s, c.L[i], c.U[i])
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
