package trialset

import (
	"cmp"
	"context"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

// A Count is how many trials have a prompt, agent, template, outcome and pick.
type Count struct {
	Prompt, Agent, Template, Outcome, Picked string
	// Mismatched are those whose agent named one tool and used another.
	Trials, Mismatched int
}

// Counts counts the trials, also the excluded ones, sorted by their names. It reads the
// index alone.
func (s *Set) Counts(ctx context.Context) ([]Count, error) {
	type key struct {
		prompt, agent, template, picked uint32
		outcome                         byte
	}
	type count struct{ trials, mismatched int }
	counts := map[key]*count{}
	err := s.scan(ctx, 0, func(_ int64, e *indexEntry) (bool, error) {
		k := key{e.Prompt, e.Agent, e.Template, e.Picked, e.Outcome}
		c := counts[k]
		if c == nil {
			c = &count{}
			counts[k] = c
		}
		c.trials++
		if e.Mismatch {
			c.mismatched++
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]Count, 0, len(counts))
	for k, c := range counts {
		e, err := s.names.resolve(&indexEntry{Prompt: k.prompt, Agent: k.agent, Template: k.template, Picked: k.picked, Outcome: k.outcome})
		if err != nil {
			return nil, s.place.damaged(indexName, err.Error())
		}
		out = append(out, Count{e.Prompt, e.Agent, e.Template, e.Outcome, e.Picked, c.trials, c.mismatched})
	}
	sorting.Func(out, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.Prompt, b.Prompt), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Template, b.Template),
			cmp.Compare(a.Outcome, b.Outcome), cmp.Compare(a.Picked, b.Picked))
	})
	return out, nil
}
