package stats

import "testing"

func planningVectors(t *testing.T, v struct {
	Paired8025  float64            `json:"paired_same_trials_030_025_80"`
	Paired9025  float64            `json:"paired_030_025_90"`
	Independent float64            `json:"independent_per_arm_030_025_80"`
	Paired8020  float64            `json:"paired_030_020_80"`
	Paired5030  float64            `json:"paired_050_030_80"`
	Holm10      float64            `json:"paired_holm_10pairs_030_025_80"`
	Half        map[string]float64 `json:"halfwidth"`
	Prompts     map[string]float64 `json:"prompts_needed_delta005"`
	Deff        map[string]float64 `json:"deff"`
}) {
	near(t, "paired 80 %", usual.PairedTrials(0.3, 0.25), v.Paired8025)
	near(t, "paired 90 %", Test{0.05, 0.9}.PairedTrials(0.3, 0.25), v.Paired9025)
	near(t, "paired 0.1", usual.PairedTrials(0.3, 0.2), v.Paired8020)
	near(t, "paired 0.2", usual.PairedTrials(0.5, 0.3), v.Paired5030)
	near(t, "ten pairs", Test{0.005, 0.8}.PairedTrials(0.3, 0.25), v.Holm10)
	near(t, "independent", usual.TrialsPerSide(0.3, 0.25), v.Independent)
	compare(t, v.Half, map[string]float64{
		"0.1":  HalfWidthTrials(0.3, 0.1),
		"0.05": HalfWidthTrials(0.3, 0.05),
		"0.03": HalfWidthTrials(0.3, 0.03),
		"0.02": HalfWidthTrials(0.3, 0.02),
	})
	a, b := Spread{0.09, 0.4575}, Spread{0.03, 0.5175}
	compare(t, v.Prompts, map[string]float64{
		"omega2=0.09,sigma2=0.4575,K=1":  usual.PromptsNeeded(a, 1, 0.05),
		"omega2=0.09,sigma2=0.4575,K=5":  usual.PromptsNeeded(a, 5, 0.05),
		"omega2=0.09,sigma2=0.4575,K=10": usual.PromptsNeeded(a, 10, 0.05),
		"omega2=0.09,sigma2=0.4575,K=50": usual.PromptsNeeded(a, 50, 0.05),
		"omega2=0.03,sigma2=0.5175,K=10": usual.PromptsNeeded(b, 10, 0.05),
	})
	compare(t, v.Deff, map[string]float64{
		"m=10,rho=0.3": DesignEffect(10, 0.3),
		"m=50,rho=0.3": DesignEffect(50, 0.3),
		"m=10,rho=0.6": DesignEffect(10, 0.6),
	})
}

// compare compares values of the same names.
func compare(t *testing.T, want, got map[string]float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d values checked of %d", len(got), len(want))
	}
	for name, v := range want {
		near(t, name, got[name], v)
	}
}

func mixtureVectors(t *testing.T, v []struct {
	S, N       int
	Alpha      float64
	Prior      string
	CS, Wilson [2]float64
}) {
	for _, c := range v {
		interval(t, "confidence sequence", BetaMixture(c.S, c.N, c.Alpha), c.CS)
		interval(t, "Wilson", Wilson(float64(c.S), float64(c.N)), c.Wilson)
	}
	interval(t, "no trial", BetaMixture(0, 0, 0.05), [2]float64{0, 1})
}

func signVectors(t *testing.T, v []struct {
	Wins, Losses int
	E            float64
	Stop         bool `json:"stop_at_20"`
}) {
	for _, c := range v {
		e := SignE(c.Wins, c.Losses)
		near4(t, "e", e, c.E)
		if e >= 20 != c.Stop {
			t.Errorf("%d:%d stops at %g: want %v", c.Wins, c.Losses, e, c.Stop)
		}
	}
}

func agreementVectors(t *testing.T, v map[string]float64) {
	compare(t, v, map[string]float64{
		"0.5": AgreementChance(0.5, 4),
		"0.6": AgreementChance(0.6, 4),
		"0.7": AgreementChance(0.7, 4),
		"0.8": AgreementChance(0.8, 4),
		"0.9": AgreementChance(0.9, 4),
	})
}

func twoSnapshotVectors(t *testing.T, v struct {
	X, N [2]int
	Z, P float64
}) {
	z, p := TwoProportions(v.X[0], v.N[0], v.X[1], v.N[1])
	near(t, "z", z, v.Z)
	near(t, "p", p, v.P)
	if z, p := TwoProportions(5, 5, 9, 9); z != 0 || p != 1 {
		t.Errorf("all picks: z %g, p %g", z, p)
	}
}

func cellVectors(t *testing.T, v struct {
	Old, New []float64
	K        float64
	Mean     float64 `json:"mean_diff"`
	SE, T, P float64
}) {
	d := make([]float64, len(v.Old))
	for i := range d {
		d[i] = (v.New[i] - v.Old[i]) / v.K
	}
	got := ChangeOf(Sides{Paired: d})
	near(t, "mean", got.Value, v.Mean)
	near(t, "SE", got.SE, v.SE)
	near(t, "t", got.Value/got.SE, v.T)
	near(t, "p", got.P(), v.P)
	if got.Paired != 6 {
		t.Errorf("%d families paired", got.Paired)
	}
}

func cusumVectors(t *testing.T, v struct {
	Series     []float64
	Mu0, Sigma float64
	K, H       float64
	S          []float64 // four decimals
	AlarmAt    int       `json:"alarm_at"`
}) {
	chart := CUSUM{Target: v.Mu0, Sigma: v.Sigma, Slack: v.K, Limit: v.H}
	sums, alarm := chart.Upper(v.Series)
	for i, s := range sums {
		near4(t, "S", s, v.S[i])
	}
	if alarm != v.AlarmAt {
		t.Errorf("alarm at %d, want %d", alarm, v.AlarmAt)
	}
	if _, alarm := chart.Upper(v.Series[:4]); alarm != -1 {
		t.Errorf("alarm at %d of a series on target", alarm)
	}
}
