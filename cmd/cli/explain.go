package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/analytics/explain"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/nearest"
	"github.com/firstpick/firstpick/runner/pick"
)

type explainOptions struct {
	*app
	category string
	runs     []string
	quotes   int
	json     bool
}

func newExplainCmd(env *Env) *cobra.Command {
	o := &explainOptions{}
	cmd := &cobra.Command{
		Use:   "explain TOOL",
		Short: "Show why answers do not pick a tool",
		Long: `Show why answers do not pick a tool, in every measured category that has it, or in one. From
the runs that rank reads, or from those named with --run:

  counts    answers that pick the tool, that consider it and take something else, and that
            never name it; the rejected rate is lost / considered
  reasons   price, missing feature, lock-in, complexity, maturity, unknown (the agent does
            not know the tool), other, no reason, not considered; with quotes. An answer
            counts once for each reason. Quotes in other languages than English are not
            classified
  switches  what the answers took, where they considered the tool and where they did not
  agents    the same by agent, and by tag of the prompt
  sources   sites that agents opened, or found by a search or citation, before they
            answered; only transcripts of agents with a web tool have them

TOOL is a slug or name of the catalogue.`,
		Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			if err := checkQuotes(o.quotes); err != nil {
				return err
			}
			return o.run(cmd.Context(), args[0])
		},
	}
	cmd.Flags().StringVar(&o.category, "category", "", "only this category")
	cmd.Flags().StringArrayVar(&o.runs, "run", nil, "read this run instead of the latest ones (repeatable)")
	cmd.Flags().IntVar(&o.quotes, "quotes", 3, "print at most this many quotes of each reason (JSON has all)")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func checkQuotes(n int) error {
	if n < 0 {
		return usageErr("3 is the default", "--quotes must be at least 0 (got %d)", n)
	}
	return nil
}

func (o *explainOptions) run(ctx context.Context, name string) error {
	cat, err := o.catalog()
	if err != nil {
		return err
	}
	if _, ok := cat.Category(o.category); o.category != "" && !ok {
		return unknownCategory(cat, o.category)
	}
	tool, err := toolNamed(cat, name)
	if err != nil {
		return err
	}
	reports, err := o.reports(ctx, cat, tool)
	if err != nil {
		return err
	}
	if len(reports) == 0 {
		return o.unmeasured(cat, tool)
	}
	switch {
	case o.json && o.category != "":
		return printJSON(o.env, reports[0])
	case o.json:
		return printJSON(o.env, map[string]any{"explanations": reports})
	}
	for i, r := range reports {
		if err := o.print(r, i > 0); err != nil {
			return err
		}
	}
	return nil
}

// unmeasured is the error for a tool of which no category was read.
func (o *explainOptions) unmeasured(cat *catalog.Catalog, tool *catalog.Tool) error {
	var of []string
	for _, c := range cat.Categories {
		if _, ok := c.Entry(tool.Slug); ok {
			of = append(of, c.Slug)
		}
	}
	switch {
	case o.category != "" && !slices.Contains(of, o.category):
		return usageErr("it is in "+strings.Join(of, ", "), "%s is not in category %s", tool.Slug, o.category)
	case len(o.runs) > 0:
		return usageErr("firstpick runs lists the runs", "no answers of %s in run %s", strings.Join(of, ", "), strings.Join(o.runs, ", "))
	}
	return usageErr("firstpick runs lists the runs", "no category of %s is measured yet (%s)", tool.Slug, strings.Join(of, ", "))
}

// toolNamed returns the tool with a slug or name.
func toolNamed(cat *catalog.Catalog, name string) (*catalog.Tool, error) {
	names := map[string]string{}
	var named *catalog.Tool
	for _, t := range cat.Tools {
		if t.Slug == name {
			return t, nil
		}
		if strings.EqualFold(t.Name, name) || strings.EqualFold(t.Slug, name) {
			named = t
		}
		names[t.Slug], names[strings.ToLower(t.Name)] = t.Slug, t.Slug
	}
	if named != nil {
		return named, nil
	}
	hint := "firstpick catalog explain TEXT shows which tools a text names"
	if near := nearest.Names(strings.ToLower(name), names, 3); len(near) > 0 {
		hint = nearest.DidYouMean(near)
	}
	return nil, usageErr(hint, "no tool %q in the catalogue", name)
}

// reports explains the tool in each category of the runs that has it, in the order of the
// categories.
func (o *explainOptions) reports(ctx context.Context, cat *catalog.Catalog, tool *catalog.Tool) (reports []explain.Report, err error) {
	store, err := o.trials(ctx)
	if err != nil {
		return nil, err
	}
	chosen, err := o.currentRuns(ctx, store, o.runs, o.category)
	if err = errors.Join(err, store.Close()); err != nil {
		return nil, err
	}
	for _, c := range cat.Categories {
		if _, ok := c.Entry(tool.Slug); !ok {
			continue
		}
		var trials []explain.Trial
		synthetic := false
		extractor := pick.New(c, cat.Version)
		for _, r := range chosen.rows {
			if r.Category != c.Slug {
				continue
			}
			answers, err := explain.Read(ctx, o.runsRoot(), r.ID, extractor)
			if err != nil {
				return nil, err
			}
			trials, synthetic = append(trials, explain.Trials(answers, tool.Slug)...), synthetic || r.Synthetic
		}
		if len(trials) > 0 {
			report := explain.New(tool.Slug, tool.Domains, trials)
			report.Category, report.Tool, report.Synthetic = c.Slug, tool.Name, synthetic
			reports = append(reports, report)
		}
	}
	if len(reports) > 0 {
		o.explain(chosen)
	}
	return reports, nil
}
