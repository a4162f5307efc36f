// Simulate measures how well the published figures keep their promises: it draws
// measurements from worlds whose truth is known, computes boards as firstpick does, and
// counts how often intervals, rank ranges and verdicts are right.
//
//	go run ./analytics/simulate [-n N] [-seed N] [-lines] [SCENARIO...]
//
// It prints Markdown: a table with the range of each group of lines and the value that
// each line must keep; with -lines, also every line. It exits with status 1 if a line does
// not keep its value. Without a scenario it runs all of them.
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
)

func main() {
	n := flag.Int("n", 1000, "repetitions of each line")
	seed := flag.Uint64("seed", 1, "seed")
	lines := flag.Bool("lines", false, "print every line")
	flag.Parse()
	missed, err := run(os.Stdout, *n, *seed, *lines, flag.Args())
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
	// Group is what lines are summed up by, What the line within it.
	Group, What string
	// Excused says that the line promises nothing: the boards flag the rate themselves.
	Excused bool
	Value   float64 // a share
	// Low and High are the range that Value must be in; SE is the simulation's standard
	// error, which widens it.
	Low, High, SE float64
}

// Kept reports whether the value is in its range, up to so many standard errors.
func (l Line) Kept(errors float64) bool {
	return l.Excused || l.Low-errors*l.SE <= l.Value && l.Value <= l.High+errors*l.SE
}

// A scenario makes the lines of one table from n repetitions.
type scenario struct {
	name, about string
	run         func(n int, seed uint64) []Line
}

func scenarios() []scenario {
	return []scenario{
		{"intervals", "Coverage of the interval", intervals},
		{"phrasings", "Coverage of the interval", phrasings},
		{"population", "Coverage of the interval for agents like these", population},
		{"ranks", "Rank ranges hold all true ranks", ranks},
		{"rivals", "False significant rival", rivals},
		{"differences", "Differences", differences},
		{"nights", "History", nights},
		{"until", "run --until", stops},
		{"plan", "Difference that plan calls detectable", plans},
	}
}

// run prints the scenarios and returns how many lines are out of range.
func run(w io.Writer, n int, seed uint64, all bool, names []string) (missed int, err error) {
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
	var groups, lines strings.Builder
	groups.WriteString("| What | Cases | Measured | Promised |\n| --- | --- | --- | --- |\n")
	for _, s := range known {
		if len(names) > 0 && !slices.Contains(names, s.name) {
			continue
		}
		result := s.run(n, seed)
		sortByGroup(result)
		summarise(&groups, s, result)
		fmt.Fprintf(&lines, "\n%s\n\n| Case | Measured | Promised | |\n| --- | --- | --- | --- |\n", s.about)
		for _, l := range result {
			verdict := ""
			switch {
			case l.Excused:
				verdict = "flagged as unreliable"
			case !l.Kept(3):
				verdict, missed = "missed", missed+1
			}
			fmt.Fprintf(&lines, "| %s, %s | %.1f %% | %s | %s |\n", l.Group, l.What, 100*l.Value, promise(l), verdict)
		}
	}
	text := groups.String()
	if all || missed > 0 {
		text += lines.String()
	}
	_, err = io.WriteString(w, text)
	return missed, err
}

// summarise writes one row per group: the range of its lines.
func summarise(w *strings.Builder, s scenario, lines []Line) {
	for len(lines) > 0 {
		group, low, high, judged, excused := lines[0].Group, math.Inf(1), math.Inf(-1), 0, 0
		promised := promise(lines[0])
		end := 0
		for ; end < len(lines) && lines[end].Group == group; end++ {
			if l := lines[end]; l.Excused {
				excused++
			} else {
				judged++
				low, high = min(low, l.Value), max(high, l.Value)
			}
		}
		cases, measured := fmt.Sprint(judged), fmt.Sprintf("%.1f to %.1f %%", 100*low, 100*high)
		switch judged {
		case 0:
			measured = "-"
		case 1:
			measured = fmt.Sprintf("%.1f %%", 100*low)
		}
		if excused > 0 {
			cases += fmt.Sprintf(" (and %d flagged)", excused)
		}
		fmt.Fprintf(w, "| %s: %s | %s | %s | %s |\n", s.about, group, cases, measured, promised)
		lines = lines[end:]
	}
}

// sortByGroup brings the lines of a group together, in the order of their first lines.
func sortByGroup(lines []Line) {
	place := map[string]int{}
	for _, l := range lines {
		if _, ok := place[l.Group]; !ok {
			place[l.Group] = len(place)
		}
	}
	slices.SortStableFunc(lines, func(a, b Line) int { return place[a.Group] - place[b.Group] })
}

func promise(l Line) string {
	switch {
	case l.Low == 0:
		return fmt.Sprintf("at most %g %%", 100*l.High)
	case l.High == 1:
		return fmt.Sprintf("at least %g %%", 100*l.Low)
	}
	return fmt.Sprintf("%g to %g %%", 100*l.Low, 100*l.High)
}
