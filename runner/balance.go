package runner

import "time"

// horizon is the last place in the plan that may be attempted, and the lane that holds
// it there. If a budget may end the run, no lane gets far ahead of the others: the
// attempted part of the plan stays balanced. A stopping rule ends it with the wave.
func (s *scheduler) horizon(now time.Time) (place int, last *lane) {
	place, last = s.budgetHorizon(now)
	if end := s.families.reach(place); end < place {
		return end, nil
	}
	return place, last
}

func (s *scheduler) budgetHorizon(now time.Time) (place int, last *lane) {
	if s.money.limit <= 0 || s.affordable(now) {
		return s.tally.planned, nil
	}
	base := s.tally.planned
	for _, l := range s.lanes {
		if place, ok := l.first(); ok && place < base {
			base, last = place, l
		}
	}
	block := len(s.Eval.Prompts) * len(s.Eval.Agents) * max(1, len(s.Eval.Templates))
	return base + max(block, 2*s.concurrency), last
}

// An estimate is whether the budget covers all that is left, at its worst, as of a time.
type estimate struct {
	at     time.Time
	covers bool
}

// affordable reports whether the budget cannot end the run. Only a failed attempt with
// an unknown cost raises the worst case, so one check per second is enough.
func (s *scheduler) affordable(now time.Time) bool {
	if !s.estimate.at.IsZero() && now.Before(s.estimate.at.Add(time.Second)) {
		return s.estimate.covers
	}
	type kind struct{ agent, prompt, template string }
	worst, left := map[kind]float64{}, 0.0
	for _, l := range s.lanes {
		for _, list := range [][]*queued{l.queue, l.retries} {
			for _, p := range list {
				k := kind{p.Agent, p.PromptID, p.Template}
				if _, ok := worst[k]; !ok {
					worst[k] = s.newAttempt(s.agents[p.Agent], p).worst
				}
				left += worst[k]
			}
		}
	}
	s.estimate = estimate{now, s.money.fits(left)}
	return s.estimate.covers
}
