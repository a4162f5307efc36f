package explain

import (
	"context"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/pick/reason"
)

// An Answer is one valid trial, as far as it concerns the tools of its category.
type Answer struct {
	trial Trial // of no tool

	// named are the tools that the text names, listed those that the extraction has as
	// picked, listed, rejected or evidence.
	named, listed, rejected []string
	against                 []reason.Statement
}

// Trial returns the answer as it concerns one tool.
func (a *Answer) Trial(slug string) Trial {
	t := a.trial
	t.Rejected = slices.Contains(a.rejected, slug)
	t.Considered = slices.Contains(a.named, slug) || slices.Contains(a.listed, slug) || t.won(slug)
	for _, s := range a.against {
		if s.Tool == slug {
			t.Against = append(t.Against, s)
		}
	}
	return t
}

// Trials returns answers as they concern one tool.
func Trials(answers []Answer, slug string) []Trial {
	out := make([]Trial, len(answers))
	for i := range answers {
		out[i] = answers[i].Trial(slug)
	}
	return out
}

// Read returns the valid trials of a run of the extractor's category, in the order of its
// journal. Of a trial the first answer stands, with its latest extraction.
func Read(ctx context.Context, runsRoot, run string, x *pick.Extractor) ([]Answer, error) {
	var out []Answer
	at := map[string]int{}
	_, err := journal.Scan(runsRoot, run, journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
		i, known := at[r.Trial.ID]
		switch {
		case r.Kind == journal.KindResult && !known && r.Result != nil:
			a := Answer{trial: Trial{Run: run, ID: r.Trial.ID, Agent: r.Trial.Agent, Tags: r.Trial.Tags}}
			if r.Answer != nil {
				said, err := x.Opinion(ctx, r.Answer.Transcript)
				if err != nil {
					return err
				}
				for _, s := range said.Against {
					s.Quote = strings.Clone(s.Quote) // without the answer that it is part of
					a.against = append(a.against, s)
				}
				a.named, a.trial.Sources = said.Named, r.Answer.Transcript.Sources
			}
			i = len(out)
			at[r.Trial.ID] = i
			out = append(out, a)
		case r.Kind == journal.KindExtraction && known && r.Result != nil:
		default:
			return nil
		}
		out[i].take(*r.Result)
		return nil
	})
	return out, err
}

// take sets what an extraction says.
func (a *Answer) take(r pick.Result) {
	r = r.Clean()
	a.trial.Outcome, a.trial.Picked = string(r.Kind), r.Picked
	a.rejected, a.listed = r.Rejected, slices.Concat(r.Rejected, r.Shortlist)
	for _, e := range r.Evidence {
		if !slices.Contains(a.listed, e.Tool) {
			a.listed = append(a.listed, e.Tool)
		}
	}
}
