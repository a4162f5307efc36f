package bundle

import (
	"context"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/runner/pick"
)

// Cells counts the valid trials by prompt, agent, outcome and pick, for comparing pick
// rates. It reads the index alone, which has neither shortlists nor times: rates of
// these and ranks are in Scores. A cell's prompt is its id in the eval. Cells are
// sorted.
func (b *Bundle) Cells(ctx context.Context) ([]analytics.Cell, error) {
	type key struct {
		prompt, agent, picked uint32
		outcome               byte
	}
	type count struct{ trials, mismatched int }
	counts := map[key]*count{}
	var groups []analytics.Group
	err := b.scan(ctx, 0, func(_ int64, e *format.IndexEntry) (bool, error) {
		k := key{e.Prompt, e.Agent, e.Picked, e.Outcome}
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
	for k, c := range counts {
		entry, err := b.names.Resolve(&format.IndexEntry{Prompt: k.prompt, Agent: k.agent, Picked: k.picked, Outcome: k.outcome})
		if err != nil {
			return nil, b.damaged(format.IndexName, err.Error())
		}
		if entry.Outcome != format.Excluded {
			groups = append(groups, analytics.Group{
				Prompt: entry.Prompt, Agent: entry.Agent, Outcome: pick.Kind(entry.Outcome), Picked: entry.Picked,
				Trials: c.trials, Mismatched: c.mismatched,
			})
		}
	}
	return analytics.Cells(groups), nil
}
