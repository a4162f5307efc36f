package runner

import (
	"maps"
	"strings"

	"github.com/firstpick/firstpick/runner/plan"
)

// A tally counts the trials of a plan by state. The scheduler's goroutine owns it.
type tally struct {
	runID           string
	planned         int
	valid, excluded int
	reasons         map[string]int
	left            map[string]int // trials without an end, by agent
}

func newTally(runID string, trials []plan.Trial, done Progress) *tally {
	t := &tally{runID: runID, planned: len(trials), reasons: map[string]int{}, left: map[string]int{}}
	for _, trial := range trials {
		if done.Valid[trial.ID] {
			t.valid++
		} else if reason, ok := done.Excluded[trial.ID]; ok {
			t.exclude(reason)
		} else {
			t.left[trial.Agent]++
		}
	}
	return t
}

// code returns the short code that a reason begins with.
func code(reason string) string {
	c, _, _ := strings.Cut(reason, ": ")
	return c
}

func (t *tally) exclude(reason string) {
	t.excluded++
	t.reasons[code(reason)]++
}

func (t *tally) keep(trial plan.Trial) {
	t.valid++
	t.left[trial.Agent]--
}

func (t *tally) giveUp(trial plan.Trial, reason string) {
	t.exclude(reason)
	t.left[trial.Agent]--
}

// drop takes a trial without an end out of the plan.
func (t *tally) drop(trial plan.Trial) {
	t.planned--
	t.left[trial.Agent]--
}

// summary returns the counts. A missing trial has the reason of its agent's lane, or
// else of the whole run.
func (t *tally) summary(lanes map[string]string, stopped string) Summary {
	s := Summary{
		RunID: t.runID, Planned: t.planned, Valid: t.valid, Excluded: t.excluded,
		Missing: t.planned - t.valid - t.excluded, Reasons: maps.Clone(t.reasons),
	}
	for agent, n := range t.left {
		if reason, closed := lanes[agent]; closed && n > 0 {
			s.Reasons[code(reason)] += n
		} else if n > 0 {
			s.Stopped = stopped
			if stopped != "" {
				s.Reasons[stopped] += n
			}
		}
	}
	return s
}
