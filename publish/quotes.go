package publish

import (
	"cmp"
	"context"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/publish/trialset"
)

// maxQuote is the most characters of the quote of an example.
const maxQuote = 200

// addQuotes fills in the quotes of all examples from the trial files, which have what is
// published: nothing at level none.
func (s source) addQuotes(ctx context.Context, boards []analytics.Board, quoteOf func(evidence []trialset.Evidence, slug string, picked bool) string) error {
	type use struct {
		of   *analytics.Example
		slug string
	}
	uses := map[string][]use{} // by trial
	for _, b := range boards {
		for _, t := range b.Tools {
			for i := range t.Breakdown.Examples {
				e := &t.Breakdown.Examples[i]
				uses[b.Category+" "+e.Trial] = append(uses[b.Category+" "+e.Trial], use{e, t.Slug})
			}
		}
	}
	return s.traces(func(e Eval, set *trialset.Set) error {
		return set.Choose(ctx, func(id string) bool { return uses[e.Category+" "+id] != nil }, func(t *trialset.Trace) error {
			for _, u := range uses[e.Category+" "+t.ID] {
				if u.of.Prompt == e.Name+"/"+t.Prompt && t.Result != nil {
					u.of.Quote = quoteOf(t.Result.Evidence, u.slug, u.of.Picked == u.slug)
				}
			}
			return nil
		})
	})
}

// leastReason is the fewest characters of a statement that is likely to give a reason.
const leastReason = 40

// quoteOf returns what a trial says of a tool: the first statement for a picked one, the first
// rejection of another, those that are long enough to give a reason before others; without one the
// strongest evidence. Evidence is sorted, the strongest first: a first statement has decided.
func quoteOf(evidence []trialset.Evidence, slug string, picked bool) string {
	first, said := "", ""
	for _, e := range evidence {
		if e.Tool != slug || e.Quote == "" {
			continue
		}
		first = cmp.Or(first, e.Quote)
		if e.Kind == saidOf(picked) {
			if len(e.Quote) >= leastReason {
				return shortQuote(e.Quote)
			}
			said = cmp.Or(said, e.Quote)
		}
	}
	return shortQuote(cmp.Or(said, first))
}

// longestQuoteOf is quoteOf of statistics 3: the longest statement or rejection.
func longestQuoteOf(evidence []trialset.Evidence, slug string, picked bool) string {
	first, best := "", ""
	for _, e := range evidence {
		if e.Tool != slug || e.Quote == "" {
			continue
		}
		if first == "" {
			first = e.Quote
		}
		if e.Kind == saidOf(picked) && len(e.Quote) > len(best) {
			best = e.Quote
		}
	}
	return shortQuote(cmp.Or(best, first))
}

// saidOf is the kind of evidence that gives a reason for a picked tool, or against one that
// was not picked.
func saidOf(picked bool) string {
	if picked {
		return "statement"
	}
	return "rejection"
}

// shortQuote is a quote in one line.
func shortQuote(s string) string {
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) > maxQuote {
		runes = append(runes[:maxQuote-1], '…')
	}
	return string(runes)
}
