package archive

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/firstpick/firstpick/publish/trialset"
)

// Neighbours are the answers of the same agent to the same prompt around a trial. Previous and
// Next are ids; empty where there is none.
type Neighbours struct {
	Previous, Next string
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
	slices.SortStableFunc(rows, func(x, y trialset.Entry) int { return cmp.Compare(x.Repeat, y.Repeat) })
	out.Of = len(rows)
	at := slices.IndexFunc(rows, func(r trialset.Entry) bool { return r.ID == e.ID })
	if at > 0 {
		out.Previous = rows[at-1].ID
	}
	if at >= 0 && at+1 < len(rows) {
		out.Next = rows[at+1].ID
	}
	return out, nil
}

// maxListings is the most bytes of trials that are read for the listings of a page.
const maxListings = 1 << 20

// published are the parts of a trial that lists show.
type published struct {
	ID      string            `json:"id"`
	Listing *trialset.Listing `json:"listing"`
	Answer  *struct {
		Listing *trialset.Listing `json:"listing"`
	} `json:"answer"`
}

func (p *published) listing() *trialset.Listing {
	if p.Listing == nil && p.Answer != nil {
		return p.Answer.Listing
	}
	return p.Listing
}

// isListed reports whether a study published the first answered trial of a list.
func isListed(ctx context.Context, set *trialset.Set, rows []trialset.Entry) (bool, error) {
	at := slices.IndexFunc(rows, func(e trialset.Entry) bool { return e.Outcome != trialset.Excluded })
	if at < 0 {
		return false, nil
	}
	text, err := set.Trace(ctx, rows[at].ID)
	if err != nil {
		return false, err
	}
	var p published
	err = json.Unmarshal(text, &p)
	return p.listing() != nil, err
}

// listings returns what studies published of the trials of a page, by their ids.
func listings(ctx context.Context, set *trialset.Set, f trialset.Filter, cursor string, n int) (map[string]*trialset.Listing, error) {
	page, err := set.FullPage(ctx, f, cursor, n, maxListings)
	if err != nil {
		return nil, err
	}
	out := map[string]*trialset.Listing{}
	for _, text := range page.Traces {
		var p published
		if err := json.Unmarshal(text, &p); err != nil {
			return nil, err
		}
		out[p.ID] = p.listing()
	}
	return out, nil
}
