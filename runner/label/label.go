// Package label keeps what people say about a random sample of a run's trials, so that
// rates can be corrected for errors of extraction.
//
// The labels of a run are one append-only file beside its journal, FileName: JSON lines
// of a sample, labels and withdrawn labels. A line is on disk before the next trial is
// shown. Labels name trials and not extracted outcomes, so they hold after a new
// extraction.
package label

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/runner/pick"
)

// FileName is the name of the label file in the folder of a run.
const FileName = "labels.jsonl"

// A Sample is a probability sample of a run's trials.
type Sample struct {
	Run string `json:"run"`
	// Seed and Size, with the trials' outcomes at that time, determine the sample. Size is
	// what was asked for.
	Seed uint64    `json:"seed"`
	Size int       `json:"size"`
	At   time.Time `json:"at"`
	// Frame is the number of trials that it was drawn from.
	Frame int `json:"frame"`
	// Trials are in the order of labelling, which is random: a person who stops early has
	// labelled a random part.
	Trials []Drawn `json:"trials"`
}

// Drawn is one trial of a sample.
type Drawn struct {
	Trial string `json:"trial"`
	// P is the probability with which it came into the sample, above 0 and at most 1.
	P float64 `json:"p"`
	// Stratum is what it was drawn within; it has the extracted outcome of that time.
	Stratum string `json:"stratum"`
}

// A Label is what one person says of one trial.
type Label struct {
	Run   string `json:"run"`
	Trial string `json:"trial"`
	// P is Drawn.P, so that an estimate needs no more than the labels.
	P  float64   `json:"p"`
	By string    `json:"by"`
	At time.Time `json:"at"`
	// Outcome and Picked are those of pick.Result: the slug of a tool, or the name of
	// another choice.
	Outcome pick.Kind `json:"outcome"`
	Picked  string    `json:"picked,omitempty"`
	// Shortlist and Rejected hold slugs, sorted; empty where they were not marked.
	Shortlist []string `json:"shortlist,omitempty"`
	Rejected  []string `json:"rejected,omitempty"`
	// Quote is the text of the answer that shows it, verbatim.
	Quote string `json:"quote,omitempty"`
	// Adjudicates means that it decides between labels that differ.
	Adjudicates bool `json:"adjudicates,omitempty"`
}

// A Withdrawal takes back the last label of a person for a trial.
type Withdrawal struct {
	Run   string    `json:"run"`
	Trial string    `json:"trial"`
	By    string    `json:"by"`
	At    time.Time `json:"at"`
}

// Text is what agreement and errors compare: outcome and pick.
func (l Label) Text() string { return Text(l.Outcome, l.Picked) }

// Text returns an outcome with its pick, such as tool:stripe. The names of choices
// outside the catalogue differ from person to person, so other has no pick.
func Text(outcome pick.Kind, picked string) string {
	if outcome == pick.Tool {
		return string(outcome) + ":" + picked
	}
	return string(outcome)
}

// check validates a label by itself.
func (l Label) check() error {
	switch {
	case l.Run == "" || l.Trial == "":
		return errors.New("run or trial is missing")
	case l.By == "":
		return errors.New(`"by" is missing: the name of the labeller`)
	case l.P <= 0 || l.P > 1:
		return fmt.Errorf("p must be above 0 and at most 1 (got %g)", l.P)
	case !slices.Contains(pick.Kinds(), l.Outcome):
		return fmt.Errorf("unknown outcome %q; use %v", l.Outcome, pick.Kinds())
	case l.Outcome == pick.Tool && l.Picked == "":
		return errors.New(`outcome tool needs "picked", the slug of the tool`)
	case l.Outcome != pick.Tool && l.Outcome != pick.Other && l.Picked != "":
		return fmt.Errorf("outcome %s has no pick (got %q)", l.Outcome, l.Picked)
	}
	return nil
}

// A Set is the sample of one run and its labels.
type Set struct {
	Sample Sample
	// Labels are in the order in which they were made; a person's later label of a trial
	// replaces the earlier, and withdrawn ones are left out.
	Labels []Label
}

// By returns the labels of one person, by trial.
func (s *Set) By(name string) map[string]Label {
	out := map[string]Label{}
	for _, l := range s.Labels {
		if l.By == name {
			out[l.Trial] = l
		}
	}
	return out
}

// Labellers returns the names, sorted; those who only adjudicate are not among them.
func (s *Set) Labellers() []string {
	var out []string
	for _, l := range s.Labels {
		if !l.Adjudicates && !slices.Contains(out, l.By) {
			out = append(out, l.By)
		}
	}
	slices.Sort(out)
	return out
}

// A Settled is the label that counts for a trial.
type Settled struct {
	Label
	// All are the labels of the trial without adjudication, in order of the name.
	All []Label
	// Disputed means that labels differ and nobody has adjudicated.
	Disputed bool
}

// Settle returns the label that counts for each labelled trial, in the order of the
// sample: the adjudication; without one, what most labellers say; on a tie, what the
// first of them said.
func (s *Set) Settle() []Settled {
	of := map[string][]Label{}
	for _, l := range s.Labels {
		of[l.Trial] = append(of[l.Trial], l)
	}
	var out []Settled
	for _, d := range s.Sample.Trials {
		if labels := of[d.Trial]; len(labels) > 0 {
			out = append(out, settle(labels))
		}
	}
	return out
}

func settle(labels []Label) Settled {
	var s Settled
	votes := map[string]int{}
	var final *Label
	for i, l := range labels {
		if l.Adjudicates {
			final = &labels[i]
			continue
		}
		s.All = append(s.All, l)
		votes[l.Text()]++
	}
	if final != nil {
		s.Label = *final
	} else {
		s.Label, s.Disputed = s.All[0], len(votes) > 1
		for _, l := range s.All {
			if votes[l.Text()] > votes[s.Text()] {
				s.Label = l
			}
		}
	}
	sorting.StableFunc(s.All, func(a, b Label) int { return cmp.Compare(a.By, b.By) })
	return s
}

// Pairs returns what two labellers said of the trials that both labelled, in the order of
// the sample, and the ids of these trials.
func (s *Set) Pairs(a, b string) (pairs [][2]string, trials []string) {
	first, second := s.By(a), s.By(b)
	for _, d := range s.Sample.Trials {
		x, okX := first[d.Trial]
		y, okY := second[d.Trial]
		if okX && okY && !x.Adjudicates && !y.Adjudicates {
			pairs, trials = append(pairs, [2]string{x.Text(), y.Text()}), append(trials, d.Trial)
		}
	}
	return pairs, trials
}
