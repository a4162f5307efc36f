package archive

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/firstpick/firstpick/publish/trialset"
)

// part reads the rest of a page of which n trials are read, and their listings.
func (h *Handler) part(ctx context.Context, key setKey, f trialset.Filter, cursor string, q TrialsQuery, n int) (part trialset.Page, listed map[string]*trialset.Listing, err error) {
	if q.Listed > 0 {
		select {
		case h.whole <- struct{}{}:
			defer func() { <-h.whole }()
		case <-ctx.Done():
			return part, nil, ctx.Err()
		}
	}
	err = h.set(key, func(set *trialset.Set) (err error) {
		if part, err = set.Traces(ctx, f, cursor, q.Limit-n); err != nil || q.Listed == 0 {
			return err
		}
		is, err := isListed(ctx, set, part.Traces)
		if err != nil || !is {
			return err
		}
		if part, err = set.Traces(ctx, f, cursor, max(q.Listed, q.Limit)-n); err != nil {
			return err
		}
		listed, err = listings(ctx, set, f, cursor, len(part.Traces))
		return err
	})
	return part, listed, err
}

// maxListings is the most bytes of trials that are read for the listings of a page.
const maxListings = 4 << 20

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
