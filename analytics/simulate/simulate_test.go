package main

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestPromises repeats the simulation of the methodology page with fewer repetitions.
func TestPromises(t *testing.T) {
	n := 60
	if testing.Short() {
		n = 20
	}
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			for _, l := range s.run(n, 1) {
				if !l.Kept(4) { // of some 300 lines
					t.Errorf("%s, %s: %.1f %%, promised %s", l.Group, l.What, 100*l.Value, promise(l))
				}
			}
		})
	}
}

// TestBrokenPromisesShow: a range that is not kept is reported.
func TestBrokenPromisesShow(t *testing.T) {
	l := repeat("g", "w", 400, 1, .93, .97, func(r *rand.Rand) bool { return r.Float64() < .8 })
	if l.Kept(4) || l.Value < .7 || l.Value > .9 {
		t.Errorf("%+v", l)
	}
	if l.Excused = true; !l.Kept(4) {
		t.Error("a flagged rate promises nothing")
	}
}

func TestUnknownScenario(t *testing.T) {
	if _, err := run(&strings.Builder{}, 1, 1, false, []string{"rank"}); err == nil || !strings.Contains(err.Error(), "ranks") {
		t.Errorf("got %v", err)
	}
}
