package cli

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

func newScoreCmd(env *Env) *cobra.Command {
	var asJSON bool
	var slugs string
	cmd := &cobra.Command{
		Use:   "score LABELS.jsonl",
		Short: "Score the extractor against labelled answers",
		Long: `Extract labelled answers and compare outcome, pick, shortlist and rejected tools with
their labels: precision, recall and Cohen's kappa, with 95 % Wilson intervals. The same
measures follow by layer of reading, by labelled outcome, by stratum and by language. A
case may name its "stratum" and its "language" (ISO 639-1); otherwise the language is
the one that the extractor found. Unresolved answers count as ambiguous. Cases of unknown
categories are counted, not scored.

--slugs names a file that maps slugs or names in the labels to slugs of the catalogue: a
YAML or JSON mapping, or two tab-separated columns (.tsv). With it, a labelled pick is
compared as tool:SLUG where it competes in its category, and otherwise as other:SLUG.`,
		Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := newApp(env, cmd)
			if err != nil {
				return err
			}
			return a.score(args[0], slugs, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&slugs, "slugs", "", "file that maps slugs or names in the labels to catalogue slugs")
	return cmd
}

func (a *app) score(file, slugs string, asJSON bool) error {
	cat, err := a.catalog()
	if err != nil {
		return err
	}
	cases, err := readCases(file)
	if err != nil {
		return err
	}
	if slugs != "" {
		m, err := readSlugMap(slugs, cat)
		if err != nil {
			return badInput(err)
		}
		m.apply(cases, cat)
	}
	extractors := map[string]*pick.Extractor{}
	scores, err := pick.Score(cases, func(category string, t transcript.Transcript) (pick.Result, error) {
		if _, ok := cat.Category(category); !ok {
			return pick.Result{}, pick.ErrUnknownCategory
		}
		x, err := extractorOf(extractors, cat, category)
		if err != nil {
			return pick.Result{}, err
		}
		return x.Extract(t), nil
	})
	if err != nil {
		return err
	}
	a.noteUnknown(cat, scores)
	if asJSON {
		return printJSON(a.env, scores)
	}
	return a.printScores(scores)
}

func readCases(file string) ([]pick.Case, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, badInput(err)
	}
	defer func() { _ = f.Close() }()
	cases, err := pick.ReadCases(f)
	if err != nil {
		return nil, badInput(fmt.Errorf("%s: %w", file, err))
	}
	return cases, nil
}

// noteUnknown reports the cases that were not scored.
func (a *app) noteUnknown(cat *catalog.Catalog, s pick.Scores) {
	for _, slug := range slices.Sorted(maps.Keys(s.UnknownCategories)) {
		_, _ = fmt.Fprintf(a.env.Stderr, "note: %d cases not scored: %v\n", s.UnknownCategories[slug], unknownCategory(cat, slug))
	}
}

// printScores prints the measures of all cases, those of parts, and the misses.
func (a *app) printScores(s pick.Scores) error {
	all := table{header: []string{"measure", "value", "95 % CI", "cases"}}
	all.add("cases", fmt.Sprint(s.Cases), "", "")
	for _, m := range measures() {
		r := m.of(s.Measures)
		all.add(m.name, ratio(r.Value), interval(r), fmt.Sprintf("%d of %d", r.N, r.Of))
	}
	all.add("kappa", ratio(s.Kappa), "", "")
	if err := all.print(a.env, format{}); err != nil {
		return err
	}
	if err := a.printParts(s); err != nil || len(s.Misses) == 0 {
		return err
	}
	_, _ = fmt.Fprintln(a.env.Stdout)
	misses := table{header: []string{"miss", "want", "got", "layer", "rule"}}
	for _, m := range s.Misses {
		misses.add(m.ID, m.Want, m.Got, m.Layer, m.Rule)
	}
	return misses.print(a.env, format{})
}

// printParts prints the measures by layer, outcome, stratum and language.
func (a *app) printParts(s pick.Scores) error {
	t := table{header: []string{"part", "cases"}}
	for _, m := range measures() {
		if m.short != "" {
			t.header = append(t.header, m.short)
		}
	}
	for _, part := range []struct {
		name  string
		by    map[string]*pick.Measures
		order []string
	}{
		{"layer ", s.ByLayer, pick.Layers()}, {"label ", s.ByOutcome, outcomes()},
		{"stratum ", s.ByStratum, slices.Sorted(maps.Keys(s.ByStratum))}, {"language ", s.ByLanguage, slices.Sorted(maps.Keys(s.ByLanguage))},
	} {
		for _, name := range part.order {
			p := part.by[name]
			if p == nil {
				continue
			}
			row := []string{part.name + name, fmt.Sprint(p.Cases)}
			for _, m := range measures() {
				if m.short != "" {
					row = append(row, percentOf(m.of(p)))
				}
			}
			t.add(row...)
		}
	}
	if len(t.rows) == 0 {
		return nil
	}
	_, _ = fmt.Fprintln(a.env.Stdout)
	return t.print(a.env, format{})
}

// A measure is a row of the table of all cases; with a short name also a column of that
// of parts.
type measure struct {
	name, short string
	of          func(*pick.Measures) pick.Ratio
}

func measures() []measure {
	return []measure{
		{"accuracy", "accuracy", func(m *pick.Measures) pick.Ratio { return m.Accuracy }},
		{"pick precision", "pick prec.", func(m *pick.Measures) pick.Ratio { return m.PickPrecision }},
		{"pick recall", "pick rec.", func(m *pick.Measures) pick.Ratio { return m.PickRecall }},
		{"diy precision", "", func(m *pick.Measures) pick.Ratio { return m.DIYPrecision }},
		{"diy recall", "", func(m *pick.Measures) pick.Ratio { return m.DIYRecall }},
		{"shortlist precision", "list prec.", func(m *pick.Measures) pick.Ratio { return m.ShortlistPrecision }},
		{"shortlist recall", "list rec.", func(m *pick.Measures) pick.Ratio { return m.ShortlistRecall }},
		{"rejected precision", "", func(m *pick.Measures) pick.Ratio { return m.RejectedPrecision }},
		{"rejected recall", "rejected rec.", func(m *pick.Measures) pick.Ratio { return m.RejectedRecall }},
		{"unresolved", "unresolved", func(m *pick.Measures) pick.Ratio { return m.Unresolved }},
	}
}

func ratio(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.4f", *v)
}

func interval(r pick.Ratio) string {
	if r.Of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f–%.3f", *r.Low, *r.High)
}

// percentOf formats a ratio with its denominator.
func percentOf(r pick.Ratio) string {
	if r.Of == 0 {
		return "-"
	}
	return fmt.Sprintf("%s (%d)", percent(*r.Value), r.Of)
}
