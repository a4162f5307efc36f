package stats

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"os"
	"slices"
	"testing"
)

// checks has a check for each key of testdata/vectors.json.
func checks() map[string]func(*testing.T, json.RawMessage) {
	return map[string]func(*testing.T, json.RawMessage){
		"flat_intervals":                   check(flatVectors),
		"clustered":                        check(clusteredVectors),
		"weighted_0.7A_0.3B":               check(weightedVectors),
		"paired_difference":                check(pairedVectors),
		"holm_bh_vector":                   check(adjustmentVectors),
		"splitmix64_seed42_first3":         check(splitMixVectors),
		"cluster_bootstrap":                check(bootstrapVectors),
		"rank_sets":                        check(rankVectors),
		"planning":                         check(planningVectors),
		"confidence_sequence_beta_mixture": check(mixtureVectors),
		"sequential_sign_evalue":           check(signVectors),
		"early_stop_4_agree":               check(agreementVectors),
		"drift_two_snapshot":               check(twoSnapshotVectors),
		"drift_cell_paired":                check(cellVectors),
		"cusum_upper":                      check(cusumVectors),
		"consistency":                      check(consistencyVectors),
		"extraction_quality":               check(extractionVectors),
		"rogan_gladen":                     check(roganGladenVectors),
		"zero_error_bound":                 check(zeroErrorVectors),
	}
}

// TestVectors checks the reference values. A key without a check fails, and so does a
// field that its check does not read.
func TestVectors(t *testing.T) {
	all, checks := vectors(t), checks()
	for _, key := range slices.Sorted(maps.Keys(all)) {
		t.Run(key, func(t *testing.T) {
			run, ok := checks[key]
			if !ok {
				t.Fatal("no check")
			}
			run(t, all[key])
		})
	}
	for key := range checks {
		if all[key] == nil {
			t.Errorf("%s has a check and no vectors", key)
		}
	}
}

func vectors(t *testing.T) (all map[string]json.RawMessage) {
	t.Helper()
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// check returns a check that decodes its vectors first.
func check[T any](run func(*testing.T, T)) func(*testing.T, json.RawMessage) {
	return func(t *testing.T, raw json.RawMessage) {
		t.Helper()
		var v T
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		run(t, v)
	}
}

// near compares to the six decimals that the vectors have.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	within(t, what, got, want, 5.1e-7)
}

// near4 compares to four decimals.
func near4(t *testing.T, what string, got, want float64) {
	t.Helper()
	within(t, what, got, want, 5.1e-5)
}

func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) { // also if not a number
		t.Errorf("%s = %.7f, want %.6f", what, got, want)
	}
}

func interval(t *testing.T, what string, got Interval, want [2]float64) {
	t.Helper()
	near(t, what+" low", got.Low, want[0])
	near(t, what+" high", got.High, want[1])
}

// toy holds the data set that most vectors rest on.
type toy struct {
	Cells  map[string][]int // by prompt/agent: trials by outcome
	Order  []string
	Result map[string]struct {
		Picks, N   int
		P          float64
		FlatSE     float64    `json:"se_clt"`
		Miller     float64    `json:"se_cluster_miller"`
		SE         float64    `json:"se_cluster_G_over_Gm1"`
		DF         int        `json:"t_df"`
		T975       float64    `json:"t975"`
		TCI        [2]float64 `json:"t_ci"`
		Deff       float64    `json:"deff"`
		NEff       float64    `json:"n_eff"`
		NStar      float64    `json:"n_star"`
		WilsonFlat [2]float64 `json:"wilson_flat"`
		WilsonNEff [2]float64 `json:"wilson_neff"`
	}
}

func toyOf(t *testing.T) (v toy) {
	t.Helper()
	if err := json.Unmarshal(vectors(t)["clustered"], &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// keys returns the cells' names in order.
func (v toy) keys() []string { return slices.Sorted(maps.Keys(v.Cells)) }

// design is that of prompts by agents.
func (v toy) design(weights []float64) *Design {
	var rows [][]int
	for i, key := range v.keys() {
		if i%2 == 0 {
			rows = append(rows, nil)
		}
		rows[i/2] = append(rows[i/2], sumOf(v.Cells[key]))
	}
	return NewDesign(rows, weights)
}

// picks returns the picks of a tool by cell.
func (v toy) picks(tool int) (out []int) {
	for _, key := range v.keys() {
		out = append(out, v.Cells[key][tool])
	}
	return out
}

func sumOf(v []int) (sum int) {
	for _, n := range v {
		sum += n
	}
	return sum
}
