package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/stats"
	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/content"
)

func newDiffCmd(env *Env) *cobra.Command {
	o := &snapshotOptions{}
	var agents []string
	var category string
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare two snapshots, or two agents of the latest runs",
		Long: `Compare two snapshots: which tools moved, by how much, and which changes the trials show.

Prompts that both have are compared one by one, the others as two samples. All changes are
corrected for being tested together: the intervals hold for all of them at once, and a
change is significant exactly where its interval excludes 0.

With --agents A,B the agents A and B of the latest complete runs are compared instead:
the differences are the rates of B minus those of A.`,
		Args: usage(cobra.MaximumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			if len(agents) > 0 {
				return o.diffAgents(cmd.Context(), agents, category, args)
			}
			if len(args) != 2 {
				return usageErr("firstpick diff OLD NEW, or firstpick diff --agents A,B", "diff takes two snapshots (got %d)", len(args))
			}
			if o.place, err = o.snapshots(o.from); err != nil {
				return err
			}
			return o.diff(cmd.Context(), args)
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&o.from, "snapshots", "", "place of the snapshots: file:///DIR or s3://BUCKET/PREFIX (default: the data folder)")
	renameFlag(cmd.Flags(), "from", "snapshots")
	cmd.Flags().StringSliceVar(&agents, "agents", nil, "compare these two agents of the latest complete runs, as A,B")
	cmd.Flags().StringVar(&category, "category", "", "only this category (with --agents)")
	return cmd
}

func (o *snapshotOptions) diff(ctx context.Context, args []string) error {
	older, err := o.load(ctx, args[0])
	if err != nil {
		return err
	}
	newer, err := o.load(ctx, args[1])
	if err != nil {
		return err
	}
	changes, err := compareSnapshots(ctx, older, newer)
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(o.env, map[string]any{"old": older.ID, "new": newer.ID, "changes": changes})
	}
	if older.Manifest.Catalog != newer.Manifest.Catalog || older.Manifest.Extractor != newer.Manifest.Extractor {
		o.note("catalogue or extractor differ: changes may come from them, not from the agents")
	}
	t := table{header: []string{"category", "tool", "change", "rank", "pick rate", "difference", "95 % CI", "significant"}}
	for _, c := range changes {
		row := []string{
			c.Category, c.Tool, c.Kind, fmt.Sprintf("%s → %s", number(c.OldRank), number(c.NewRank)),
			fmt.Sprintf("%s → %s", percent(c.OldRate), percent(c.NewRate)), fmt.Sprintf("%+.1f pp", stats.Percent(c.Diff)),
		}
		t.add(append(row, verdictOf(c.Test)...)...)
	}
	if len(changes) == 0 {
		_, _ = fmt.Fprintln(o.env.Stderr, "no changes")
		return nil
	}
	return t.print(o.env, o.format)
}

// verdictOf returns the cells of a test: its interval and its verdict.
func verdictOf(t *analytics.ChangeTest) []string {
	if t == nil {
		return []string{"-", "-"}
	}
	verdict := "not yet"
	if t.Significant {
		verdict = "yes"
	}
	return []string{fmt.Sprintf("%+.1f to %+.1f pp", stats.Percent(t.CILow), stats.Percent(t.CIHigh)), verdict}
}

func number(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// compareSnapshots compares two snapshots. The changes of tools that both have are tested, corrected
// together.
func compareSnapshots(ctx context.Context, older, newer *publish.Snapshot) (_ []analytics.Change, err error) {
	changes := analytics.Diff(older.Boards, newer.Boards)
	was, err := older.Trials(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, was.Close()) }()
	is, err := newer.Trials(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, is.Close()) }()
	tested := map[[2]string]*analytics.Difference{}
	var all []*analytics.Difference
	for _, board := range newer.Boards {
		before, ok := older.Board(board.Category)
		if !ok {
			continue
		}
		y, err := measurementOf(ctx, is, newer, board.Category)
		if err != nil {
			return nil, err
		}
		x, err := measurementOf(ctx, was, older, board.Category)
		if err != nil {
			return nil, err
		}
		nameByText(x.Design, older.Manifest, y.Design, newer.Manifest, board.Category)
		differences := analytics.Differences(x, y, analytics.PickedOnEither(before, board))
		for i := range differences {
			d := &differences[i]
			tested[[2]string{board.Category, d.Slug}], all = d, append(all, d)
		}
	}
	analytics.Simultaneous(all)
	for i, c := range changes {
		if d := tested[[2]string{c.Category, c.Tool}]; d != nil {
			changes[i].Test = analytics.TestOf(d)
		}
	}
	return changes, nil
}

// measurementOf reads the cells of a category of a snapshot.
func measurementOf(ctx context.Context, store *trialstore.Store, s *publish.Snapshot, category string) (analytics.Measurement, error) {
	cells, _, err := store.Cells(ctx, category, nil)
	return analytics.Measurement{Cells: cells, Design: analytics.DesignOf(s.Manifest.Pool(category))}, err
}

// nameByText gives the prompts of older snapshots, which name families of equal texts only,
// the families that the same texts have in the newer one, or else ones of their texts.
func nameByText(was analytics.Design, older publish.Manifest, is analytics.Design, newer publish.Manifest, category string) {
	families := map[string]string{} // by digest of the text
	each := func(m publish.Manifest, d analytics.Design) {
		for _, e := range m.Evals {
			for _, p := range e.Prompts {
				name := e.Name + "/" + p.ID
				if e.Category != category || p.SHA256 == content.Digest(nil) {
					continue
				}
				if d.Families[name] == "" {
					d.Families[name] = cmp.Or(families[p.SHA256], "text "+p.SHA256)
				}
				families[p.SHA256] = d.Families[name]
			}
		}
	}
	each(newer, is)
	each(older, was)
}

// An agentDiff is a tool's rate with two agents.
type agentDiff struct {
	Category string  `json:"category"`
	Tool     string  `json:"tool"`
	Agent    string  `json:"agent"`
	Other    string  `json:"other"`
	Rate     float64 `json:"pickRate"`
	OfOther  float64 `json:"otherPickRate"`
	*analytics.ChangeTest
}

func (o *snapshotOptions) diffAgents(ctx context.Context, agents []string, category string, args []string) error {
	if len(agents) != 2 || agents[0] == agents[1] || len(args) > 0 {
		return usageErr("firstpick diff --agents A,B", "--agents takes two different agents and no snapshots (got %s)", strings.Join(append(agents, args...), ", "))
	}
	cat, err := o.catalog()
	if err != nil {
		return err
	}
	if _, ok := cat.Category(category); category != "" && !ok {
		return unknownCategory(cat, category)
	}
	rows, seen := []agentDiff{}, map[string]bool{}
	var all []*analytics.Difference
	_, err = o.rankEach(ctx, cat, func(store *trialstore.Store) (selection, error) {
		return o.currentRuns(ctx, store, nil, category)
	}, func(b analytics.Board, m analytics.Measurement) {
		of := map[string]map[string]analytics.AgentRate{}
		for _, a := range b.Agents {
			seen[a.Agent], of[a.Agent] = true, map[string]analytics.AgentRate{}
			for _, t := range a.Tools {
				of[a.Agent][t.Slug] = t
			}
		}
		if of[agents[0]] == nil || of[agents[1]] == nil {
			return
		}
		slugs := slices.DeleteFunc(toolsOf(b), func(slug string) bool { return of[agents[0]][slug].Picks+of[agents[1]][slug].Picks == 0 })
		differences := analytics.AgentDifferences(m, agents[1], agents[0], slugs)
		for i := range differences {
			slug := differences[i].Slug
			rows = append(rows, agentDiff{b.Category, slug, agents[1], agents[0], of[agents[1]][slug].PickRate, of[agents[0]][slug].PickRate, nil})
			all = append(all, &differences[i])
		}
	})
	if err != nil {
		return err
	}
	for _, a := range agents {
		if !seen[a] {
			return usageErr("firstpick rank --json names the agents", "no measured category has an agent %q", a)
		}
	}
	analytics.Simultaneous(all)
	for i, d := range all {
		rows[i].ChangeTest = analytics.TestOf(d)
	}
	if o.json {
		return printJSON(o.env, map[string]any{"differences": rows})
	}
	t := table{header: []string{"category", "tool", agents[0], agents[1], "difference", "95 % CI", "significant"}}
	for _, r := range rows {
		t.add(append([]string{r.Category, r.Tool, percent(r.OfOther), percent(r.Rate), fmt.Sprintf("%+.1f pp", stats.Percent(r.Diff))}, verdictOf(r.ChangeTest)...)...)
	}
	return t.print(o.env, o.format)
}

func toolsOf(b analytics.Board) (slugs []string) {
	for _, s := range b.Tools {
		slugs = append(slugs, s.Slug)
	}
	return slugs
}
