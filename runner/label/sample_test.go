package label_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/firstpick/firstpick/runner/label"
)

func items(strata map[string]int, size map[string]float64) []label.Item {
	var out []label.Item
	for stratum, n := range strata {
		for i := range n {
			out = append(out, label.Item{Trial: fmt.Sprint(stratum, "-", i), Stratum: stratum, Size: size[stratum]})
		}
	}
	return out
}

func TestASampleHasItsSizeAndEachStratumItsShare(t *testing.T) {
	all := items(map[string]int{"a": 500, "b": 300, "c": 190, "d": 10}, map[string]float64{"a": 1, "b": 1, "c": 1, "d": 3})
	for seed := range uint64(50) {
		drawn := label.Draw(all, 102, seed)
		got := map[string]int{}
		seen := map[string]bool{}
		for _, d := range drawn {
			got[d.Stratum]++
			seen[d.Trial] = true
		}
		if len(drawn) != 102 || len(seen) != 102 {
			t.Fatalf("seed %d: %d draws of %d trials", seed, len(drawn), len(seen))
		}
		for stratum, want := range map[string]float64{"a": 50, "b": 30, "c": 19, "d": 3} {
			if math.Abs(float64(got[stratum])-want) > 1 {
				t.Errorf("seed %d: %d of stratum %s, want %g", seed, got[stratum], stratum, want)
			}
		}
	}
}

// TestProbabilitiesAreThoseOfTheDraw counts how often trials are drawn.
func TestProbabilitiesAreThoseOfTheDraw(t *testing.T) {
	all := items(map[string]int{"a": 20, "b": 7, "c": 2}, map[string]float64{"a": 1, "b": 3, "c": 40})
	const draws = 20000
	count, p := map[string]float64{}, map[string]float64{}
	for seed := range uint64(draws) {
		for _, d := range label.Draw(all, 10, seed) {
			count[d.Trial]++
			p[d.Trial] = d.P
		}
	}
	sum := 0.0
	for _, item := range all {
		sum += p[item.Trial]
		if got, want := count[item.Trial]/draws, p[item.Trial]; math.Abs(got-want) > .015 {
			t.Errorf("%s: drawn in %.3f, its probability is %.3f", item.Trial, got, want)
		}
	}
	if math.Abs(sum-10) > 1e-9 || p["c-0"] != 1 || math.Abs(p["b-0"]/p["a-0"]-3) > 1e-9 {
		t.Errorf("probabilities sum to %g; %v", sum, p)
	}
}

func TestASampleFollowsFromItsSeed(t *testing.T) {
	all := items(map[string]int{"a": 50, "b": 20}, map[string]float64{"a": 1, "b": 1})
	first := label.Draw(all, 20, 7)
	slices.Reverse(all)
	if !slices.Equal(first, label.Draw(all, 20, 7)) {
		t.Error("the same seed gives another sample")
	}
	if slices.Equal(first, label.Draw(all, 20, 8)) {
		t.Error("another seed gives the same sample")
	}
	sorted := slices.IsSortedFunc(first, func(a, b label.Drawn) int { return slices.Compare([]string{a.Stratum}, []string{b.Stratum}) })
	if sorted {
		t.Error("the order of labelling follows the strata: whoever stops early has seen some strata only")
	}
}

func TestASampleOfAllTrials(t *testing.T) {
	all := items(map[string]int{"a": 5, "b": 2}, map[string]float64{"a": 1, "b": 3})
	for _, n := range []int{7, 8, 1000} {
		drawn := label.Draw(all, n, 1)
		if len(drawn) != 7 {
			t.Errorf("%d of 7: %d", n, len(drawn))
		}
		for _, d := range drawn {
			if d.P != 1 {
				t.Errorf("%d of 7: %+v", n, d)
			}
		}
	}
	if got := label.Draw(nil, 10, 1); len(got) != 0 {
		t.Errorf("%v of none", got)
	}
}
