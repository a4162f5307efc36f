package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/catalog"
)

// A world is where measurements are drawn from. The truth of a tool with an agent is its
// mean share over all prompt families that there might be.
type world struct {
	// shares are the tools' true shares, by agent; the rest of the trials picks nothing.
	shares [][]float64
	// icc is the correlation of two trials of a family and an agent, shared the part of it
	// that all agents have in common: 1 means that agents have the same families.
	icc, shared float64
	// families is how many are drawn, repeats the trials of a family and an agent, phrasings
	// the number of prompts of a family.
	families, phrasings int
	// coupled worlds draw by quantiles, so that the same random numbers give families that
	// differ only as the shares do.
	coupled bool
	repeats func(r *rand.Rand, family, agent int) int
}

func always(n int) func(*rand.Rand, int, int) int {
	return func(*rand.Rand, int, int) int { return n }
}

// truth is the true rate of a tool, with agents weighted equally.
func (w *world) truth(tool int) (sum float64) {
	for _, s := range w.shares {
		sum += s[tool] / float64(len(w.shares))
	}
	return sum
}

// draw makes a measurement: by family, the tools' shares are Dirichlet around the true
// ones with correlation icc; trials are independent within.
func (w *world) draw(r *rand.Rand) analytics.Measurement {
	tools := len(w.shares[0])
	m := analytics.Measurement{Category: category(tools), Design: analytics.Design{Families: map[string]string{}}}
	for g := range w.families {
		common := w.family(r)
		for a := range w.shares {
			local := common
			if r.Float64() >= w.shared { // this agent sees the family in its own way
				local = w.family(r)
			}
			p := local(a)
			for v := range max(1, w.phrasings) {
				prompt := fmt.Sprintf("p%03d-%d", g, v)
				m.Design.Families[prompt] = fmt.Sprintf("f%03d", g)
				if c := w.cell(r, p, w.repeats(r, g, a)); c.Trials > 0 {
					c.Prompt, c.Agent = prompt, fmt.Sprintf("a%d", a)
					m.Cells, m.Planned = append(m.Cells, c), m.Planned+c.Trials
				}
			}
		}
	}
	return m
}

// family draws how far the tools' shares of one family are from the true ones; the same
// draw serves all agents, by the quantiles of their own distributions.
func (w *world) family(r *rand.Rand) func(agent int) []float64 {
	if w.icc == 0 {
		return func(agent int) []float64 { return w.shares[agent] }
	}
	s := 1/w.icc - 1
	n := len(w.shares[0])
	if !w.coupled && w.alike() {
		out := dirichlet(r, s, w.shares[0])
		return func(int) []float64 { return out }
	}
	u := make([]float64, n)
	for i := range u {
		u[i] = r.Float64()
	}
	return func(agent int) []float64 { // a Dirichlet draw by breaking sticks
		out, left, rest := make([]float64, n), 1.0, 1.0
		for i, p := range w.shares[agent] {
			a, b := s*p, s*(rest-p)
			switch {
			case p == 0:
				continue
			case b < 1e-9:
				out[i] = left
			default:
				out[i] = left * betaQuantile(a, b, u[i])
			}
			left, rest = left-out[i], rest-p
		}
		return out
	}
}

// alike reports whether all agents have the same shares.
func (w *world) alike() bool {
	return !slices.ContainsFunc(w.shares, func(s []float64) bool { return !slices.Equal(s, w.shares[0]) })
}

// dirichlet draws shares around the given ones, which leave a rest, by gamma variates.
func dirichlet(r *rand.Rand, size float64, shares []float64) []float64 {
	out, sum, rest := make([]float64, len(shares)), 0.0, 1.0
	for i, p := range shares {
		rest -= p
		if p > 0 {
			out[i] = distuv.Gamma{Alpha: size * p, Beta: 1, Src: r}.Rand()
		}
		sum += out[i]
	}
	if rest > 1e-9 {
		sum += distuv.Gamma{Alpha: size * rest, Beta: 1, Src: r}.Rand()
	}
	for i := range out {
		out[i] /= max(sum, 1e-300)
	}
	return out
}

func (w *world) cell(r *rand.Rand, shares []float64, trials int) analytics.Cell {
	c := analytics.Cell{Trials: trials, Outcomes: analytics.Outcomes{None: trials}}
	counts := make([]int, len(shares))
	for range trials {
		u := r.Float64()
		for i, p := range shares {
			if u -= p; u < 0 {
				counts[i]++
				break
			}
		}
	}
	for i, n := range counts {
		if n > 0 {
			c.Tools = append(c.Tools, analytics.ToolCount{Slug: slug(i), Picks: n, Shortlists: n, Defaults: n})
			c.Outcomes.Tool, c.Outcomes.None = c.Outcomes.Tool+n, c.Outcomes.None-n
		}
	}
	return c
}

func slug(i int) string { return fmt.Sprintf("t%02d", i) }

func category(tools int) *catalog.Category {
	c := &catalog.Category{Slug: "simulated", Name: "Simulated", Domain: catalog.DevTools}
	for i := range tools {
		c.Entries = append(c.Entries, catalog.Entry{Tool: &catalog.Tool{Slug: slug(i), Name: slug(i), Home: c}})
	}
	return c
}

// standing finds a tool on a board.
func standing(b *analytics.Board, tool int) *analytics.Standing {
	for i := range b.Tools {
		if b.Tools[i].Slug == slug(tool) {
			return &b.Tools[i]
		}
	}
	return nil
}

// betaQuantile is exact but for extreme shapes, where the library's inverse fails and
// bisection takes its place.
func betaQuantile(a, b, u float64) float64 {
	if a < 1 || b < 1 {
		low, high := 0.0, 1.0
		for range 40 {
			if mid := (low + high) / 2; mathext.RegIncBeta(a, b, mid) < u {
				low = mid
			} else {
				high = mid
			}
		}
		return (low + high) / 2
	}
	return mathext.InvRegIncBeta(a, b, u)
}

// repeat runs n repetitions on two goroutines and returns the share that hit returns true
// for, as a line. Each repetition has a random source of its own, so that the result does
// not depend on the goroutines.
func repeat(group, what string, n int, seed uint64, low, high float64, hit func(*rand.Rand) bool) Line {
	hits, name := make([]bool, n), uint64(0)
	for _, b := range []byte(group + what) {
		name = name*31 + uint64(b)
	}
	var wait sync.WaitGroup
	for half := range 2 {
		wait.Go(func() {
			for i := half; i < n; i += 2 {
				hits[i] = hit(rand.New(rand.NewPCG(seed^name, uint64(i)))) //nolint:gosec // seeded on purpose
			}
		})
	}
	wait.Wait()
	count := 0.0
	for _, h := range hits {
		if h {
			count++
		}
	}
	l := Line{Group: group, What: what, Value: count / float64(n), Low: low, High: high}
	bound := min(max(l.Value, low, 1/float64(n)), high, 1-1/float64(n))
	l.SE = math.Sqrt(bound * (1 - bound) / float64(n))
	return l
}
