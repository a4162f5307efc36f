package bundle

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/runner/pick"
)

// Excluded is the outcome of a trial that was given up, beside those of pick.Kinds.
const Excluded = "excluded"

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
	var told []analytics.Cell
	err := b.scan(ctx, 0, func(_ int64, e *entry) (bool, error) {
		k := key{e.prompt, e.agent, e.picked, e.outcome}
		c := counts[k]
		if c == nil {
			c = &count{}
			counts[k] = c
		}
		c.trials++
		if e.mismatch {
			c.mismatched++
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	for k, c := range counts {
		words, err := b.names.tell(&entry{prompt: k.prompt, agent: k.agent, picked: k.picked, outcome: k.outcome})
		if err != nil {
			return nil, b.damaged(indexName, err.Error())
		}
		if words.Outcome != Excluded {
			told = append(told, analytics.Cell{
				Prompt: words.Prompt, Agent: words.Agent, Outcome: pick.Kind(words.Outcome), Picked: words.Picked,
				Trials: c.trials, Mismatched: c.mismatched,
			})
		}
	}
	slices.SortFunc(told, func(a, b analytics.Cell) int {
		return cmp.Or(strings.Compare(a.Prompt, b.Prompt), strings.Compare(a.Agent, b.Agent), cmp.Compare(a.Outcome, b.Outcome), strings.Compare(a.Picked, b.Picked))
	})
	return told, nil
}
