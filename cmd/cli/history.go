package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/fixtures/nearest"
)

type historyOptions struct {
	*app
	format
	from, since string
}

func newHistoryCmd(env *Env) *cobra.Command {
	o := &historyOptions{}
	cmd := &cobra.Command{
		Use:   "history CATEGORY [TOOL]",
		Short: "Print pick rates over published snapshots, and which dropped or rose",
		Long: `Print the pick rates of a category over the published snapshots, oldest first: one line
per snapshot and tool, with the interval, what changed besides the answers (breaks), and
which tools dropped or rose.

A change is shown where sequential tests over all nights find it, for all agents together
or for one, at a false discovery rate of 5 % within the category on each night. Trials
count once: a snapshot without trials of its own is skipped. Trials by another model, or
of a reworded prompt, are not compared with earlier ones; with another catalogue or
extractor all tests start from a new reference.

firstpick gate 'night(TOOL)' fails if the last night shows a drop.`,
		Args: usage(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), args[0], firstOr(args[1:], ""))
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&o.since, "since", "", "leave out earlier snapshots: first day as YYYY-MM-DD (UTC)")
	cmd.Flags().StringVar(&o.from, "snapshots", "", "place of the snapshots: file:///DIR or s3://BUCKET/PREFIX (default: the data folder)")
	renameFlag(cmd.Flags(), "from", "snapshots")
	return cmd
}

func (o *historyOptions) run(ctx context.Context, category, tool string) error {
	if _, err := time.Parse(time.DateOnly, o.since); err != nil && o.since != "" {
		return usageErr("", "--since must be a day as YYYY-MM-DD (got %q)", o.since)
	}
	from, err := o.snapshots(o.from)
	if err != nil {
		return err
	}
	published, err := publishedNights(ctx, from, []string{category})
	if err != nil {
		return err
	}
	past := since(o.since, published[category])
	if len(past) == 0 {
		cat, err := o.catalog()
		if err != nil {
			return err
		}
		if _, ok := cat.Category(category); !ok {
			return unknownCategory(cat, category)
		}
		if o.since != "" {
			category += " since " + o.since
		}
		return usageErr("firstpick publish creates one", "no snapshot in %s has category %s", from.Store, category)
	}
	h, err := readHistory(ctx, from, category, past, func(n nights.Night) {
		o.note("skipped snapshot %s of %s: an earlier one has the same trials", n.Snapshot, n.At.Format(time.DateOnly))
	})
	if err != nil {
		return err
	}
	series := h.Series()
	if tool != "" {
		if series, err = onlyTool(series, tool); err != nil {
			return err
		}
	}
	if o.json {
		return printJSON(o.env, series)
	}
	return o.printTable(series)
}

// onlyTool leaves one tool in a series that has it.
func onlyTool(s nights.Series, tool string) (nights.Series, error) {
	slugs := map[string]string{}
	for _, l := range s.Nights {
		for _, t := range l.Tools {
			slugs[t.Slug] = t.Slug
		}
	}
	if _, ok := slugs[tool]; !ok {
		hint := "firstpick history " + s.Category + " lists them"
		if near := nearest.Names(tool, slugs, 3); len(near) > 0 {
			hint = nearest.DidYouMean(near)
		}
		return s, usageErr(hint, "no tool %q in category %s of the snapshots", tool, s.Category)
	}
	return s.Only(tool), nil
}

func (o *historyOptions) printTable(s nights.Series) error {
	picked, hidden := map[string]bool{}, map[string]bool{}
	for _, l := range s.Nights {
		for _, t := range l.Tools {
			if t.PickRate > 0 || s.Tool != "" {
				picked[t.Slug] = true
			}
		}
	}
	t := table{header: []string{"date", "snapshot", "tool", "pick rate", "interval", "trials", "breaks", "verdict"}}
	for _, l := range s.Nights {
		for _, tool := range l.Tools {
			if !picked[tool.Slug] {
				hidden[tool.Slug] = true
				continue
			}
			t.add(l.At.Format(time.RFC3339), l.Snapshot, tool.Slug, percent(tool.PickRate), fmt.Sprintf("%s–%s", percent(tool.CILow), percent(tool.CIHigh)),
				fmt.Sprint(tool.NTrials), strings.Join(l.Breaks, "; "), tool.Verdict())
		}
	}
	if len(hidden) > 0 {
		o.note("%s: %d tools that no snapshot has picks of are hidden (name one to see it)", s.Category, len(hidden))
	}
	return t.print(o.env, o.format)
}
