package stats

import (
	"math"
	"slices"
	"testing"
)

func consistencyVectors(t *testing.T, v struct {
	Cells     map[string]float64 `json:"cell_agreement"`
	Agreement float64            `json:"mean_pairwise_agreement"`
	Chance    float64            `json:"fleiss_Pe"`
	Kappa     float64            `json:"fleiss_kappa"`
	Entropy   float64            `json:"normalized_entropy_mean"`
}) {
	toy := toyOf(t)
	var cells [][]int
	for _, key := range toy.keys() {
		cells = append(cells, toy.Cells[key])
	}
	c := ConsistencyOf(append(cells, []int{1, 0, 0, 0, 0})) // one trial agrees with none
	for i, key := range toy.keys() {
		near(t, key, c.Cells[i], v.Cells[key])
	}
	near(t, "agreement", c.Agreement, v.Agreement)
	near(t, "chance", c.Chance, v.Chance)
	near(t, "kappa", c.Kappa, v.Kappa)
	near(t, "entropy", c.Entropy, v.Entropy)
	if !math.IsNaN(c.Cells[len(cells)]) {
		t.Errorf("a cell with one trial has agreement %g", c.Cells[len(cells)])
	}
}

func extractionVectors(t *testing.T, v struct {
	Matrix   [][]int `json:"rows_gold_cols_pred"`
	Labels   []string
	Accuracy float64
	Chance   float64 `json:"pe"`
	Kappa    float64 `json:"cohen_kappa"`
	PRF      map[string]ClassScore
	MacroF1  float64 `json:"macro_f1"`
}) {
	c := Confusion{}
	var pairs [][2]string
	for i, row := range v.Matrix {
		for j, n := range row {
			pair := [2]string{v.Labels[i], v.Labels[j]}
			c[pair] = n
			pairs = append(pairs, slices.Repeat([][2]string{pair}, n)...)
		}
	}
	observed, chance := c.Agreement()
	near(t, "accuracy", observed, v.Accuracy)
	near(t, "chance", chance, v.Chance)
	if k, ok := c.Kappa(); !ok || k != must(CohenKappa(pairs)) {
		t.Errorf("kappa %g, %v; of pairs %g", k, ok, must(CohenKappa(pairs)))
	}
	near(t, "kappa", must(c.Kappa()), v.Kappa)
	classes, macro := c.Scores()
	near(t, "macro F1", macro, v.MacroF1)
	for class, want := range v.PRF {
		near(t, class+" precision", classes[class].Precision, want.Precision)
		near(t, class+" recall", classes[class].Recall, want.Recall)
		near(t, class+" F1", classes[class].F1, want.F1)
	}
}

func must(v float64, _ bool) float64 { return v }

func roganGladenVectors(t *testing.T, v struct {
	P     float64 `json:"p_hat"`
	Sens  float64
	Spec  float64
	N     float64
	M1    float64
	M0    float64
	Theta float64
	SE    float64
}) {
	m, ok := RoganGladen(Share{v.P, v.N}, Share{v.Sens, v.M1}, Share{v.Spec, v.M0})
	if !ok {
		t.Fatal("no correction")
	}
	near(t, "rate", m.Value, v.Theta)
	near(t, "SE", m.SE, v.SE)
}

func zeroErrorVectors(t *testing.T, v struct {
	N100 float64 `json:"n=100"`
	N300 float64 `json:"n=300"`
}) {
	near(t, "100 checks", ZeroErrorBound(100), v.N100)
	near(t, "300 checks", ZeroErrorBound(300), v.N300)
	near(t, "no check", ZeroErrorBound(0), 1)
}
