// Simulate measures how well the published figures keep their promises: it draws
// measurements from worlds whose truth is known, computes boards as firstpick does, and
// counts how often intervals, rank ranges and verdicts are right.
//
//	go run ./analytics/simulate [-n N] [-seed N] [SCENARIO...]
//
// It prints Markdown: one table per scenario, with the value that each line must keep. It
// exits with status 1 if a line does not. Without a scenario it runs all of them.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	n := flag.Int("n", 1000, "repetitions of each line")
	seed := flag.Uint64("seed", 1, "seed")
	flag.Parse()
	missed, err := run(os.Stdout, *n, *seed, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(2)
	}
	if missed > 0 {
		fmt.Fprintf(os.Stderr, "simulate: %d lines are out of range\n", missed)
		os.Exit(1)
	}
}

// A Line is one measured promise.
type Line struct {
	What  string
	Value float64 // a share
	// Low and High are the range that Value must be in; SE is the simulation's standard
	// error, which widens it.
	Low, High, SE float64
}

// Kept reports whether the value is in its range, up to three standard errors.
func (l Line) Kept() bool { return l.Low-3*l.SE <= l.Value && l.Value <= l.High+3*l.SE }

// A scenario makes the lines of one table from n repetitions.
type scenario struct {
	name, about string
	run         func(n int, seed uint64) []Line
}

func scenarios() []scenario {
	return []scenario{
		{"intervals", "Coverage of the 95 % interval of a pick rate", intervals},
		{"phrasings", "The same where prompts are phrasings of fewer tasks", phrasings},
		{"population", "Coverage of the interval for agents like these", population},
		{"ranks", "Boards whose rank ranges hold all true ranks", ranks},
		{"rivals", "Boards with a false significant rival", rivals},
		{"differences", "Differences between two measurements", differences},
	}
}

// run prints the scenarios and returns how many lines are out of range.
func run(w io.Writer, n int, seed uint64, names []string) (missed int, err error) {
	known := scenarios()
	for _, name := range names {
		if !slices.ContainsFunc(known, func(s scenario) bool { return s.name == name }) {
			var all []string
			for _, s := range known {
				all = append(all, s.name)
			}
			return 0, fmt.Errorf("no scenario %q; there are %s", name, strings.Join(all, ", "))
		}
	}
	for _, s := range known {
		if len(names) > 0 && !slices.Contains(names, s.name) {
			continue
		}
		fmt.Fprintf(w, "### %s (%s)\n\n", s.about, s.name)
		t := tabwriter.NewWriter(w, 0, 1, 1, ' ', 0)
		fmt.Fprintln(t, "| Case\t| Measured\t| Promised\t|\t")
		fmt.Fprintln(t, "| ---\t| ---\t| ---\t| ---\t|")
		for _, l := range s.run(n, seed) {
			verdict := ""
			if !l.Kept() {
				verdict, missed = "missed", missed+1
			}
			fmt.Fprintf(t, "| %s\t| %.1f %%\t| %s\t| %s\t|\n", l.What, 100*l.Value, promise(l), verdict)
		}
		if err := t.Flush(); err != nil {
			return missed, err
		}
		fmt.Fprintln(w)
	}
	return missed, nil
}

func promise(l Line) string {
	switch {
	case l.Low == 0 && l.High == 1:
		return "nothing"
	case l.Low == 0:
		return fmt.Sprintf("at most %g %%", 100*l.High)
	case l.High == 1:
		return fmt.Sprintf("at least %g %%", 100*l.Low)
	}
	return fmt.Sprintf("%g to %g %%", 100*l.Low, 100*l.High)
}
