package stats

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

var usual = Test{Alpha: 0.05, Power: 0.8}

func TestPlanningVectors(t *testing.T) {
	var v struct {
		Planning struct {
			Paired8025  float64            `json:"paired_same_trials_030_025_80"`
			Paired9025  float64            `json:"paired_030_025_90"`
			Independent float64            `json:"independent_per_arm_030_025_80"`
			Paired8020  float64            `json:"paired_030_020_80"`
			Paired5030  float64            `json:"paired_050_030_80"`
			Holm10      float64            `json:"paired_holm_10pairs_030_025_80"`
			Half        map[string]float64 `json:"halfwidth"`
			Prompts     map[string]float64 `json:"prompts_needed_delta005"`
			Deff        map[string]float64 `json:"deff"`
		}
	}
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	p := v.Planning
	a, b := Spread{0.09, 0.4575}, Spread{0.03, 0.5175}
	for name, pair := range map[string][2]float64{
		"paired 80 %":      {usual.PairedTrials(0.3, 0.25), p.Paired8025},
		"paired 90 %":      {Test{0.05, 0.9}.PairedTrials(0.3, 0.25), p.Paired9025},
		"paired 0.1":       {usual.PairedTrials(0.3, 0.2), p.Paired8020},
		"paired 0.2":       {usual.PairedTrials(0.5, 0.3), p.Paired5030},
		"ten pairs":        {Test{0.005, 0.8}.PairedTrials(0.3, 0.25), p.Holm10},
		"independent":      {usual.TrialsPerSide(0.3, 0.25), p.Independent},
		"half width 0.1":   {HalfWidthTrials(0.3, 0.1), p.Half["0.1"]},
		"half width 0.05":  {HalfWidthTrials(0.3, 0.05), p.Half["0.05"]},
		"half width 0.03":  {HalfWidthTrials(0.3, 0.03), p.Half["0.03"]},
		"half width 0.02":  {HalfWidthTrials(0.3, 0.02), p.Half["0.02"]},
		"prompts K=1":      {usual.PromptsNeeded(a, 1, 0.05), p.Prompts["omega2=0.09,sigma2=0.4575,K=1"]},
		"prompts K=5":      {usual.PromptsNeeded(a, 5, 0.05), p.Prompts["omega2=0.09,sigma2=0.4575,K=5"]},
		"prompts K=10":     {usual.PromptsNeeded(a, 10, 0.05), p.Prompts["omega2=0.09,sigma2=0.4575,K=10"]},
		"prompts K=50":     {usual.PromptsNeeded(a, 50, 0.05), p.Prompts["omega2=0.09,sigma2=0.4575,K=50"]},
		"prompts, b, K=10": {usual.PromptsNeeded(b, 10, 0.05), p.Prompts["omega2=0.03,sigma2=0.5175,K=10"]},
		"deff 10":          {DesignEffect(10, 0.3), p.Deff["m=10,rho=0.3"]},
		"deff 50":          {DesignEffect(50, 0.3), p.Deff["m=50,rho=0.3"]},
		"deff 10, 0.6":     {DesignEffect(10, 0.6), p.Deff["m=10,rho=0.6"]},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-9 {
			t.Errorf("%s: got %g, want %g", name, pair[0], pair[1])
		}
	}
}

func TestSpreadOf(t *testing.T) {
	// Means 0.2 and 0.6 of 5 trials each: within (0.8+1.2)/8, between (0.4-0.25)/5.
	got, ok := SpreadOf([]Cluster{{1, 1, 5}, {3, 3, 5}, {}})
	if !ok || math.Abs(got.Within-0.25) > 1e-12 || math.Abs(got.Between-0.03) > 1e-12 || math.Abs(got.Rho()-0.03/0.28) > 1e-12 {
		t.Errorf("got %+v, %v", got, ok)
	}
	if got, ok := SpreadOf([]Cluster{{1, 1, 2}, {1, 1, 2}}); !ok || got.Between != 0 {
		t.Errorf("equal clusters: got %+v, %v", got, ok)
	}
	for name, few := range map[string][]Cluster{"one cluster": {{1, 1, 5}}, "no repeats": {{1, 1, 1}, {0, 0, 1}}} {
		if _, ok := SpreadOf(few); ok {
			t.Errorf("%s tell a spread", name)
		}
	}
}

func TestDriftVectors(t *testing.T) {
	var v struct {
		Cells struct {
			Old, New []float64
			K        float64
			Mean     float64 `json:"mean_diff"`
			SE, T, P float64
		} `json:"drift_cell_paired"`
		Two struct{ Z float64 } `json:"drift_two_snapshot"`
	}
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	d := make([]float64, len(v.Cells.Old))
	for i := range d {
		d[i] = (v.Cells.New[i] - v.Cells.Old[i]) / v.Cells.K
	}
	got := CellDifference(d)
	for name, pair := range map[string][2]float64{
		"mean": {got.Value, v.Cells.Mean}, "SE": {got.SE, v.Cells.SE}, "t": {got.T, v.Cells.T}, "p": {got.P, v.Cells.P},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-6 {
			t.Errorf("%s: got %g, want %g", name, pair[0], pair[1])
		}
	}
	// With every trial a cluster of its own the clustered test is the flat one, but for
	// the pooled variance.
	flat := UnpairedDifference(ones(300, 1000), ones(345, 1000))
	if math.Abs(flat.T-v.Two.Z) > 0.005 {
		t.Errorf("z: got %g, want about %g", flat.T, v.Two.Z)
	}
}

func ones(x, n int) []Cluster {
	out := make([]Cluster, n)
	for i := range out {
		out[i].N = 1
		if i < x {
			out[i] = Cluster{1, 1, 1}
		}
	}
	return out
}

func TestDriftWithoutSpreadIsNotCertain(t *testing.T) {
	same := func(v float64, n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = v
		}
		return out
	}
	tests := map[string]struct {
		d         []float64
		p         float64
		low, high float64
	}{
		"no prompt":               {nil, 1, -1, 1},
		"one prompt":              {[]float64{-0.8}, 1, -1, 1},
		"two prompts alike":       {same(-0.2, 2), 0.5, -1, 1},
		"eight prompts alike":     {same(-0.2, 8), 2.0 / 256, -1, 0},
		"eight prompts alike, up": {same(0.2, 8), 2.0 / 256, 0, 1},
	}
	for name, tt := range tests {
		got := CellDifference(tt.d)
		if math.Abs(got.P-tt.p) > 1e-12 || got.Interval != (Interval{tt.low, tt.high}) {
			t.Errorf("%s: p %g, %v", name, got.P, got.Interval)
		}
	}
	if still := CellDifference(same(0, 10)); still.P != 1 || still.Interval.High <= 0 || still.Interval.High >= 1 || still.Value != 0 {
		t.Errorf("ten prompts that did not move: %+v", still)
	}
	for name, got := range map[string]Difference{
		"one cluster":    UnpairedDifference(ones(1, 1), ones(0, 50)),
		"all alike":      UnpairedDifference(ones(50, 50), ones(0, 50)),
		"nothing at all": UnpairedDifference(nil, nil),
	} {
		if got.P != 1 || got.Interval != (Interval{-1, 1}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
