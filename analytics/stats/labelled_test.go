package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/firstpick/firstpick/runner/label"
)

// A world is a measurement whose extraction errs.
type world struct {
	prompts, trials, labels int
	rate, errors            float64
	// missed: true picks are extracted as something else. Otherwise others are extracted as
	// picks.
	missed bool
}

// An observed trial.
type observed struct {
	prompt           int
	truth, extracted float64
	unresolved       bool
}

// measure draws the trials of a world: the rate differs between prompts (intra-class
// correlation .08), and so does the share of errors.
func (w world) measure(r *rand.Rand) []observed {
	const spread = 1/.08 - 1
	rates, errs := make([]float64, w.prompts), make([]float64, w.prompts)
	for i := range rates {
		rates[i] = distuv.Beta{Alpha: w.rate * spread, Beta: (1 - w.rate) * spread, Src: r}.Rand()
		if w.errors > 0 {
			errs[i] = distuv.Beta{Alpha: w.errors * spread, Beta: (1 - w.errors) * spread, Src: r}.Rand()
		}
	}
	trials := make([]observed, w.trials)
	for i := range trials {
		t := observed{prompt: i % w.prompts}
		if r.Float64() < rates[t.prompt] {
			t.truth = 1
		}
		t.extracted, t.unresolved = t.truth, t.truth == 0 && r.Float64() < .15
		if (t.truth == 1) == w.missed && r.Float64() < errs[t.prompt] {
			t.extracted = 1 - t.truth
			t.unresolved = t.extracted == 0 && r.Float64() < .5
		}
		trials[i] = t
	}
	return trials
}

// sampled labels a stratified sample of trials, in which unresolved ones are three times
// as likely, and returns all trials by prompt.
func (w world) sampled(trials []observed, seed uint64) ([]Cluster, []Label) {
	const first = 10000 // ids of one length are in order
	clusters := make([]Cluster, w.prompts)
	items := make([]label.Item, len(trials))
	for i, t := range trials {
		c := &clusters[t.prompt]
		c.Sum, c.Squares, c.N = c.Sum+t.extracted, c.Squares+t.extracted, c.N+1
		items[i] = label.Item{Trial: strconv.Itoa(first + i), Stratum: "other", Size: 1}
		switch {
		case t.unresolved:
			items[i].Stratum, items[i].Size = "unresolved", 3
		case t.extracted == 1:
			items[i].Stratum = "pick"
		}
	}
	var labels []Label
	for _, d := range label.Draw(items, w.labels, seed) {
		at, err := strconv.Atoi(d.Trial)
		if err != nil {
			panic(err)
		}
		t := trials[at-first]
		labels = append(labels, Label{t.prompt, t.extracted, t.truth, 1 / d.P})
	}
	return clusters, labels
}

// A tally counts how often intervals hold the true rate.
type tally struct {
	n, ppi, rogan, naive int
	errors               int     // intervals of the share of errors that hold it
	width, alone         float64 // of the intervals, and of those that ignore extraction
}

func (t *tally) String() string {
	of := func(n int) float64 { return 100 * float64(n) / float64(t.n) }
	return fmt.Sprintf("%5d simulations: PPI++ %.1f %%, Rogan-Gladen %.1f %%, uncorrected %.1f %%, share of errors %.1f %%; width %.3f, labels alone %.3f",
		t.n, of(t.ppi), of(t.rogan), of(t.naive), of(t.errors), t.width/float64(t.n), t.alone/float64(t.n))
}

func (t *tally) share(n int) float64 { return float64(n) / float64(t.n) }

func (t *tally) play(w world, seed uint64) {
	hit := func(n *int, ci Interval) {
		if ci.Low <= w.rate && w.rate <= ci.High {
			*n++
		}
	}
	clusters, labels := w.sampled(w.measure(rand.New(rand.NewPCG(seed, 1))), seed)
	t.n++
	d, e := oneAgent(clusters)
	c, p := predictionPowered(clusters, labels), d.Rate(e)
	hit(&t.ppi, c.Interval)
	hit(&t.naive, p.Interval)
	sensitivity, specificity := Accuracy(labels)
	if m, ok := RoganGladen(Share{p.Value, p.NEff}, sensitivity, specificity); ok {
		hit(&t.rogan, m.Interval)
	}
	wrong := w.errors * w.rate
	if !w.missed {
		wrong = w.errors * (1 - w.rate)
	}
	if _, ci := ErrorRate(len(clusters), labels); ci.Low <= wrong+1e-12 && wrong <= ci.High {
		t.errors++
	}
	t.width += c.Interval.High - c.Interval.Low
	for i := range labels { // a reader who always says the same is no help
		labels[i].Predicted = 0
	}
	alone := predictionPowered(make0(clusters), labels)
	t.alone += alone.Interval.High - alone.Interval.Low
}

// make0 returns the clusters without a pick.
func make0(clusters []Cluster) []Cluster {
	out := slices.Clone(clusters)
	for i := range out {
		out[i].Sum, out[i].Squares = 0, 0
	}
	return out
}

// TestCoverage simulates measurements with 0 to 20 % errors of one direction: intervals
// must hold the true rate in 93 to 97 % of them. That of the extracted rate does not.
func TestCoverage(t *testing.T) {
	const each = 20
	groups := map[string]*tally{}
	seed := uint64(0)
	for _, size := range [][2]int{{20, 600}, {40, 3000}} {
		for _, labels := range []int{100, 200, 400} {
			for _, rate := range []float64{.05, .15, .3, .6} {
				for _, errors := range []float64{0, .02, .05, .1, .2} {
					for _, missed := range []bool{true, false} {
						w := world{size[0], size[1], labels, rate, errors, missed}
						names := []string{
							"all", fmt.Sprintf("errors %.2f", errors), fmt.Sprintf("labels %d", labels), fmt.Sprintf("rate %.2f", rate),
							fmt.Sprintf("prompts %d, trials %d", size[0], size[1]), fmt.Sprintf("missed %t", missed),
						}
						one := &tally{}
						for range each {
							seed++
							one.play(w, seed)
						}
						for _, name := range names {
							if groups[name] == nil {
								groups[name] = &tally{}
							}
							groups[name].add(one)
						}
						if c := one.share(one.ppi); c < .8 {
							t.Errorf("%+v: %v", w, one)
						}
					}
				}
			}
		}
	}
	names := make([]string, 0, len(groups))
	for name := range groups {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		g := groups[name]
		t.Logf("%-25s %v", name, g)
		if c := g.share(g.ppi); c < .93 || c > .97 {
			t.Errorf("%s: PPI++ holds the rate in %.1f %%", name, 100*c)
		}
		if c := g.share(g.errors); c < .93 {
			t.Errorf("%s: the share of errors is held in %.1f %%", name, 100*c)
		}
		if strings.HasPrefix(name, "errors 0.1") || strings.HasPrefix(name, "errors 0.2") {
			if c := g.share(g.naive); c > .6 {
				t.Errorf("%s: the uncorrected interval holds the rate in %.1f %%: the simulation proves nothing", name, 100*c)
			}
		}
	}
	if g := groups["errors 0.02"]; g.width > .85*g.alone {
		t.Errorf("extraction with 2 %% errors does not help: %v", g)
	}
}

func (t *tally) add(o *tally) {
	t.n, t.ppi, t.rogan, t.naive, t.errors = t.n+o.n, t.ppi+o.ppi, t.rogan+o.rogan, t.naive+o.naive, t.errors+o.errors
	t.width, t.alone = t.width+o.width, t.alone+o.alone
}

func even(prompts, trials int, picked float64) []Cluster {
	out := make([]Cluster, prompts)
	for i := range out {
		out[i] = Cluster{Sum: picked, Squares: picked, N: trials}
	}
	return out
}

func TestLabelsWithoutErrorsLeaveDoubt(t *testing.T) {
	clusters := even(20, 50, 10)
	var labels []Label
	for i := range 100 {
		picked := 0.0
		if i%5 == 0 {
			picked = 1
		}
		labels = append(labels, Label{i % 20, picked, picked, 10})
	}
	c := predictionPowered(clusters, labels)
	near(t, "rate", c.Value, .2)
	near(t, "lambda", c.Lambda, 1)
	// 1,000 trials in prompts that do not differ, and two labels more that say nothing.
	variance := .16/1000 + .9*2*(2*.16)/(102*102)
	n := .16 / variance * math.Pow(Z975/TQuantile(.975, 19), 2)
	want := Wilson(.2*n, n)
	near(t, "low", c.Interval.Low, want.Low)
	near(t, "high", c.Interval.High, want.High)
	d, e := oneAgent(clusters)
	if extracted := d.Rate(e).Interval; c.Interval.Low >= extracted.Low || c.Interval.High <= extracted.High {
		t.Errorf("%+v is no wider than %+v, that of the extracted rate", c.Interval, extracted)
	}
}

// TestFewLabels simulates the hardest case: 30 labels, a rare tool, and half or more of
// its extracted picks false. Often no label is of the tool, or none shows an error. The
// interval is then too short, but not as if the labels were certain, which 68 % hold.
func TestFewLabels(t *testing.T) {
	for _, errors := range []float64{.05, .1, .2} {
		g := &tally{}
		for seed := range uint64(150) {
			g.play(world{20, 600, 30, .05, errors, false}, seed)
		}
		if c := g.share(g.ppi); c < .85 {
			t.Errorf("errors %.2f: %v", errors, g)
		}
	}
}

func TestWhenAllTrialsAreLabelledExtractionDoesNotCount(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	truth, clusters := make([]Cluster, 20), make([]Cluster, 20)
	var labels []Label
	for range 400 {
		at := r.IntN(20)
		l := Label{Cluster: at, Weight: 1, True: float64(r.IntN(2)), Predicted: float64(r.IntN(2))}
		labels = append(labels, l)
		truth[at] = Cluster{truth[at].Sum + l.True, truth[at].Squares + l.True, truth[at].N + 1}
		clusters[at] = Cluster{clusters[at].Sum + l.Predicted, clusters[at].Squares + l.Predicted, clusters[at].N + 1}
	}
	d, e := oneAgent(truth)
	c, want := predictionPowered(clusters, labels), d.Rate(e)
	near(t, "rate", c.Value, want.Value)
	near(t, "standard error", c.SE, d.SE(e.Influence))
	near(t, "low", c.Interval.Low, want.Interval.Low)
	near(t, "high", c.Interval.High, want.Interval.High)
}

func TestCorrectionsAtTheEdges(t *testing.T) {
	twenty := even(20, 10, 2)
	for name, tt := range map[string]struct {
		clusters []Cluster
		labels   []Label
		value    float64
		whole    bool
	}{
		"no label":                 {twenty, nil, math.NaN(), true},
		"labels of one prompt":     {twenty, []Label{{0, 1, 1, 2}, {0, 0, 0, 2}}, .2, true},
		"all picks are false":      {twenty, []Label{{0, 1, 0, 2}, {1, 1, 0, 2}, {2, 0, 0, 2}, {3, 0, 0, 2}}, 0, false},
		"more than all":            {even(20, 10, 10), []Label{{0, 0, 1, 2}, {1, 0, 1, 2}, {2, 0, 1, 2}}, 1, false},
		"all alike, none is wrong": {even(20, 10, 0), []Label{{0, 0, 0, 2}, {1, 0, 0, 2}, {2, 0, 0, 2}}, 0, false},
	} {
		c := predictionPowered(tt.clusters, tt.labels)
		if !(c.Value == tt.value || math.IsNaN(c.Value) && math.IsNaN(tt.value) || math.Abs(c.Value-tt.value) < 1e-9) {
			t.Errorf("%s: %v, want %v", name, c.Value, tt.value)
		}
		ci := c.Interval
		if (ci == Interval{0, 1}) != tt.whole || ci.Low < 0 || ci.High > 1 || ci.High-ci.Low < .001 || c.Lambda < 0 || c.Lambda > 1 {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestWeightsUndoOversampling(t *testing.T) {
	// 1,000 trials: 900 with 1 % errors, 100 unresolved ones, half of them missed picks. The
	// second are three times as likely in the sample, so unweighted labels overstate errors.
	clusters := even(20, 50, 15)
	var labels []Label
	for i := range 300 {
		labels = append(labels, Label{i % 20, float64(i % 3 / 2), float64(i % 3 / 2), 3})
	}
	for i := range 100 {
		labels = append(labels, Label{i % 20, 0, float64(i % 2), 1})
	}
	rate, ci := ErrorRate(20, labels)
	near(t, "share of errors", rate, .05)
	if ci.Low > .05 || ci.High < .05 || ci.Low <= 0 || ci.High > .15 {
		t.Errorf("interval %+v", ci)
	}
	near(t, "mean of the true outcomes", newSample(20, labels).meanTrue, .35)
	if c := predictionPowered(clusters, labels); c.Value < .33 || c.Value > .37 {
		t.Errorf("%+v", c)
	}
}

func TestErrorRateWithoutErrors(t *testing.T) {
	var labels []Label
	for i := range 200 {
		labels = append(labels, Label{i % 20, 1, 1, 1})
	}
	rate, ci := ErrorRate(20, labels)
	if rate != 0 || ci.Low != 0 || ci.High < .01 || ci.High > .03 {
		t.Errorf("0 of 200: %g, %+v", rate, ci)
	}
	if _, ci := ErrorRate(20, labels[:1]); ci != (Interval{0, 1}) {
		t.Errorf("one label: %+v", ci)
	}
}

// TestRoganGladen compares with Lee et al., arXiv 2511.21140, and the interval with that
// of prevSeSp of the R package asht, by the same formulas in another form.
func TestRoganGladen(t *testing.T) {
	m, ok := RoganGladen(Share{.3, 1000}, Share{.96, 100}, Share{.985, 200})
	if !ok {
		t.Fatal("no correction")
	}
	z2 := Z975 * Z975
	p, se, sp := (300+z2/2)/(1000+z2), 97./102, 198./202
	wide := (p + sp - 1) / (se + sp - 1)
	shift := 2 * z2 * (wide*se*(1-se)/102 - (1-wide)*sp*(1-sp)/202)
	sd := math.Sqrt(p*(1-p)/(1000+z2)+wide*wide*se*(1-se)/102+(1-wide)*(1-wide)*sp*(1-sp)/202) / (se + sp - 1)
	near(t, "low", m.Interval.Low, wide+shift-Z975*sd)
	near(t, "high", m.Interval.High, wide+shift+Z975*sd)
	for name, s := range map[string][3]Share{
		"a reader at chance":      {{.3, 100}, {.5, 50}, {.5, 50}},
		"no true pick is known":   {{.3, 100}, {0, 0}, {.9, 50}},
		"nothing was observed":    {{0, 0}, {.9, 50}, {.9, 50}},
		"a reader that is upside": {{.3, 100}, {.1, 50}, {.2, 50}},
	} {
		if m, ok := RoganGladen(s[0], s[1], s[2]); ok {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if m, ok := RoganGladen(Share{.01, 1000}, Share{.9, 50}, Share{.95, 50}); !ok || m.Value != 0 || m.Interval.Low != 0 || m.Interval.High <= 0 {
		t.Errorf("fewer picks than false ones: %+v", m)
	}
}

func TestKappaThatDoesNotExist(t *testing.T) {
	if _, ok := CohenKappa(nil); ok {
		t.Error("kappa of nothing")
	}
	if _, ok := CohenKappa([][2]string{{"a", "a"}, {"a", "a"}}); ok {
		t.Error("kappa where chance always agrees")
	}
}

// predictionPowered is Design.PredictionPowered of one agent.
func predictionPowered(clusters []Cluster, labels []Label) Corrected {
	d, e := oneAgent(clusters)
	labels = slices.Clone(labels)
	for i := range labels {
		labels[i].Weight *= d.Weight(labels[i].Cluster, 0)
	}
	return d.PredictionPowered(e, labels)
}

// oneAgent returns the design of one agent, and the rate of its picks.
func oneAgent(clusters []Cluster) (*Design, Estimate) {
	rows, sums := make([][]int, len(clusters)), make([]int, len(clusters))
	for i, c := range clusters {
		rows[i], sums[i] = []int{c.N}, int(c.Sum)
	}
	d := NewDesign(rows, nil)
	return d, d.Estimate(sums)
}
