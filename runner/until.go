package runner

import (
	"slices"

	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

// Until ends a run by a stopping rule. The families are run in waves; no trial of the next
// wave begins before all of this one have an answer or are excluded. Then the rule looks at
// the families of the wave, one after the other. So the verdict depends on the journal
// alone, not on the order in which answers arrive.
type Until struct {
	// Families are the trials of the run, as in its plan.
	Families [][]plan.Trial
	// Wave is how many families are asked together, 1 at least.
	Wave int
	// Look is called with the valid trials of each family, in the order of the plan, until
	// it returns a verdict.
	Look func(family []Choice) (v journal.Verdict, decided bool)
}

// A Choice is a valid trial and the tool that it picked, by slug; empty if absent.
type Choice struct {
	plan.Trial
	Picked string
}

// picked returns the tool that a result picks; empty for another outcome.
func picked(r *pick.Result) string {
	if r == nil || r.Kind != pick.Tool {
		return ""
	}
	return r.Picked
}

// families is the state of a run with a stopping rule. Its methods may be called on nil, for
// a run without one.
type families struct {
	*Until
	choices []map[string]string // by family: the picks of valid trials by id
	missing []int               // by family: trials without an end
	ends    []int               // by family: the place after its last trial
	begun   int                 // families up to the last one that an earlier start began
	looked  int                 // families that the rule has seen
	wave    int                 // families up to the end of this wave
	stopped *journal.Stopped
}

func newFamilies(u *Until, done Progress) *families {
	f := &families{Until: u}
	end := 0
	for i, family := range u.Families {
		choices, missing := map[string]string{}, 0
		for _, t := range family {
			_, excluded := done.Excluded[t.ID]
			if done.Valid[t.ID] {
				choices[t.ID] = done.Picked[t.ID]
			} else if !excluded {
				missing++
			}
			if _, answered := done.Answered[t.ID]; answered || excluded || done.Valid[t.ID] || done.Attempts[t.ID] > 0 {
				f.begun = i + 1
			}
		}
		end += len(family)
		f.choices, f.missing, f.ends = append(f.choices, choices), append(f.missing, missing), append(f.ends, end)
	}
	return f
}

// reach returns the place in the plan that no attempt may reach in this wave; most without
// a rule, or after its verdict.
func (f *families) reach(most int) int {
	if f == nil || f.wave == 0 {
		return most
	}
	return min(most, f.ends[f.wave-1])
}

// open reports whether the rule waits for trials.
func (f *families) open() bool {
	return f != nil && f.stopped == nil && f.looked < len(f.Families)
}

// end books the end of a trial at a place.
func (f *families) end(p *queued, valid bool, tool string) {
	i, found := slices.BinarySearch(f.ends, p.place)
	if found { // ends[i] is the first place of the next family
		i++
	}
	f.missing[i]--
	if valid {
		f.choices[i][p.ID] = tool
	}
}

// look shows the rule what it may see now, and begins the next wave. It returns the verdict
// when it is reached.
func (f *families) look() *journal.Stopped {
	for f.open() {
		if f.looked == f.wave {
			f.wave = min(f.wave+f.Wave, len(f.Families))
		}
		if slices.ContainsFunc(f.missing[f.looked:f.wave], func(n int) bool { return n > 0 }) {
			return nil
		}
		for f.looked < f.wave {
			f.looked++
			if v, ok := f.Look(f.seen(f.looked - 1)); ok {
				f.wave = max(f.wave, f.begun)
				f.stopped = &journal.Stopped{Verdict: v, After: f.looked, Asked: f.wave}
				return f.stopped
			}
		}
	}
	return nil
}

// seen returns the valid trials of a family.
func (f *families) seen(i int) []Choice {
	out := make([]Choice, 0, len(f.choices[i]))
	for _, t := range f.Families[i] {
		if tool, ok := f.choices[i][t.ID]; ok {
			out = append(out, Choice{t, tool})
		}
	}
	return out
}

// finishTrial records the end of a trial for the stopping rule, and checks the rule.
func (s *scheduler) finishTrial(a *attempt, valid bool, tool string) {
	if s.families != nil {
		s.families.end(a.queued, valid, tool)
		s.judge()
	}
}

// judge stores the verdict of the stopping rule when it is reached, and drops the trials
// that are not run any more.
func (s *scheduler) judge() {
	if s.families == nil || s.families.stopped != nil {
		return
	}
	stopped := s.families.look()
	if stopped == nil {
		return
	}
	if err := s.Journal.Stop(*stopped); err != nil {
		s.families.stopped, s.failure, s.stopped = nil, err, stoppedFailed
		s.cancel(err)
		return
	}
	end := s.families.reach(s.tally.planned)
	for _, l := range s.lanes {
		l.queue = slices.DeleteFunc(l.queue, func(p *queued) bool { return p.place >= end })
	}
	for _, family := range s.families.Families[stopped.Asked:] {
		for _, t := range family {
			s.tally.drop(t)
		}
	}
}
