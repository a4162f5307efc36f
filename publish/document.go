package publish

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/publish/trialset"
)

// fields is catalog.json: the data that ranking needs about the measured
// categories, so that a snapshot can be recomputed without the catalogue.
type fields struct {
	Categories []field `json:"categories"`
	// Observed are the categories that field studies saw.
	Observed []seen `json:"observed,omitempty"`
}

type field struct {
	Slug    string         `json:"slug"`
	Name    string         `json:"name"`
	Domain  catalog.Domain `json:"domain"`
	Study   string         `json:"study,omitempty"`
	Entries []rival        `json:"entries"`
}

type rival struct {
	Slug string `json:"slug"`
	Name string `json:"name"`
}

// refList is refs.json.
type refList struct {
	Refs []catalog.Ref `json:"refs"`
}

// labelList is labels.json: what people say of random samples of the trials. It has no
// names of people.
type labelList struct {
	Evals []labelledEval `json:"evals"`
}

type labelledEval struct {
	Category string `json:"category"`
	Eval     string `json:"eval"`
	// Frame is the number of trials that the sample was drawn from.
	Frame  int                 `json:"frame"`
	Labels []analytics.Reading `json:"labels"`
}

// byCategory returns the labels with the names that runs have in a store of a snapshot.
func (l labelList) byCategory() map[string][]analytics.RunLabels {
	out := map[string][]analytics.RunLabels{}
	for _, e := range l.Evals {
		out[e.Category] = append(out[e.Category], analytics.RunLabels{Run: e.Category + "/" + e.Eval, Frame: e.Frame, Labels: e.Labels})
	}
	return out
}

// itemList is categories.json.
type itemList struct {
	Categories []analytics.CategoryItem `json:"categories"`
}

func fieldOf(c *catalog.Category) field {
	f := field{Slug: c.Slug, Name: c.Name, Domain: c.Domain, Study: c.Study, Entries: make([]rival, 0, len(c.Entries))}
	for _, e := range c.Entries {
		f.Entries = append(f.Entries, rival{e.Tool.Slug, e.Tool.Name})
	}
	return f
}

// category is the catalogue's category as far as ranking looks at it.
func (f field) category() *catalog.Category {
	c := &catalog.Category{Slug: f.Slug, Name: f.Name, Domain: f.Domain, Study: f.Study}
	for _, r := range f.Entries {
		c.Entries = append(c.Entries, catalog.Entry{Tool: &catalog.Tool{Slug: r.Slug, Name: r.Name, Home: c}})
	}
	return c
}

// A source is what boards are computed from: the trials of a snapshot, and labels by
// category, whose runs are named as in the store.
type source struct {
	store  *trialstore.Store
	labels map[string][]analytics.RunLabels
	field  *fieldwork  // nil if absent
	texts  promptTexts // see addPrompts
	// traces calls fn with the trial files of every eval.
	traces func(fn func(Eval, *trialset.Set) error) error
}

// An inconsistentError means that the trials of a category contradict the catalogue or each
// other.
type inconsistentError struct {
	category string
	err      error
}

func (e *inconsistentError) Error() string {
	return fmt.Sprintf("the board of %s is inconsistent: %v", e.category, e.err)
}

// rank computes the boards. Build and Verify both call it with the stored data only,
// which makes a snapshot recomputable. An inconsistent board is an error.
func (s source) rank(ctx context.Context, known fields, m *Manifest) ([]analytics.Board, error) {
	counts, err := s.store.Counts(ctx, nil)
	if err != nil {
		return nil, err
	}
	cells := map[string][]analytics.Cell{}
	for _, c := range counts {
		cells[c.Category] = c.Cells
	}
	ms := make([]analytics.Measurement, len(known.Categories))
	for i, f := range known.Categories {
		planned, synthetic, doubts := m.planned(f.Slug)
		ms[i] = analytics.Measurement{
			Category: f.category(), Cells: cells[f.Slug], Planned: planned, Synthetic: synthetic, Doubts: doubts, Design: analytics.DesignOf(m.Pool(f.Slug)),
		}
		ms[i].Design.Formulas2 = m.Statistics == 2
	}
	boards := analytics.RankAll(ms)
	allExamples, err := s.store.Examples(ctx, nil)
	if err != nil {
		return nil, err
	}
	for i, f := range known.Categories {
		labels, err := s.store.Labelled(ctx, s.labels[f.Slug])
		if err != nil {
			return nil, err
		}
		labels.Extracted = m.extracted(f.Slug)
		boards[i] = boards[i].WithLabels(ms[i], labels)
		m.addPrompts(&boards[i], ms[i], s.texts)
		examples := allExamples[f.Slug]
		if m.SchemaVersion < 3 { // they were chosen without it
			for j := range examples {
				examples[j].Shortlist = nil
			}
		}
		if m.Statistics >= 4 {
			boards[i].MostCommonFirst(examples)
		}
		boards[i].AddExamples(examples)
		s.field.attach(&boards[i], ms[i])
		if errs := analytics.Check(boards[i]); len(errs) > 0 {
			return nil, &inconsistentError{f.Slug, errors.Join(errs...)}
		}
	}
	if m.SchemaVersion < 3 {
		return boards, nil
	}
	quote := quoteOf
	if m.Statistics < 4 {
		quote = longestQuoteOf
	}
	return boards, s.addQuotes(ctx, boards, quote)
}

// documents renders everything that follows from the boards, by path. Layout 1 has no
// breakdowns and no prompts.
func documents(boards []analytics.Board, layout int) (map[string][]byte, error) {
	docs := map[string][]byte{}
	add := func(name string, v any) error {
		data, err := content.JSON(v)
		docs[name] = data
		return err
	}
	list := itemList{Categories: make([]analytics.CategoryItem, 0, len(boards))}
	for _, b := range boards {
		list.Categories = append(list.Categories, b.Item())
		if err := add(boardPath(b.Category), b); err != nil {
			return nil, err
		}
		if layout >= 2 {
			if err := add(promptsPath(b.Category), promptList{b.Category, b.Prompts}); err != nil {
				return nil, err
			}
		}
		for _, s := range b.Tools {
			r, ok := b.Report(s.Slug)
			if !ok {
				return nil, fmt.Errorf("board %s ranks %s without a report on it", b.Category, s.Slug)
			}
			if layout < 2 {
				r.Breakdown = nil
			}
			if err := add(reportPath(b.Category, s.Slug), r); err != nil {
				return nil, err
			}
		}
	}
	return docs, add(categoriesName, list)
}

func boardPath(category string) string { return path.Join("boards", category+".json") }

func reportPath(category, slug string) string { return path.Join("reports", category, slug+".json") }
