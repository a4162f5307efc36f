package archive

import (
	"cmp"
	"context"
	"slices"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/publish/trialset"
)

// Neighbours are the answers of the same agent to the same prompt around a trial. Previous and
// Next are nil for the first and the last trial.
type Neighbours struct {
	Previous, Next *trialset.Entry
	Of             int // repeats, also those without an answer
}

// Neighbours returns the trials around one, by repeat. It reads the index alone. The errors
// are those of Trial.
func (h *Handler) Neighbours(ctx context.Context, t FullTrial, e trialset.Entry) (out Neighbours, err error) {
	var rows []trialset.Entry
	err = h.set(setKey{t.Snapshot, t.Category, t.Eval}, func(set *trialset.Set) error {
		page, err := set.Traces(ctx, trialset.Filter{Agent: e.Agent, Prompt: e.Prompt}, "", trialset.MaxPage)
		rows = page.Traces
		return err
	})
	if err != nil {
		return out, unread(err)
	}
	rows = slices.DeleteFunc(rows, func(r trialset.Entry) bool { return r.Template != e.Template })
	sorting.StableFunc(rows, func(x, y trialset.Entry) int { return cmp.Compare(x.Repeat, y.Repeat) })
	out.Of = len(rows)
	at := slices.IndexFunc(rows, func(r trialset.Entry) bool { return r.ID == e.ID })
	if at > 0 {
		out.Previous = &rows[at-1]
	}
	if at >= 0 && at+1 < len(rows) {
		out.Next = &rows[at+1]
	}
	return out, nil
}
