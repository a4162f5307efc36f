package cli

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/catalog"
	facts "github.com/firstpick/firstpick/fixtures/observed"
)

type fieldBoardsOptions struct {
	*app
	format
	by string
}

func newFieldBoardsCmd(env *Env) *cobra.Command {
	o := &fieldBoardsOptions{}
	cmd := &cobra.Command{
		Use:   "boards [CATEGORY]",
		Short: "Print observed boards",
		Long: `Print observed boards from the field studies of the data folder: among the pull requests
or commits by agents that use a tool of the category, the share that uses each, with a
95 % CI that treats repositories as clusters. Several tools may be in one, so shares need
not sum to 100 %. Without CATEGORY the boards are listed, and the categories without one:
a board needs 50 pull requests or commits in 20 repositories.`,
		Args: usage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			return o.run(firstOr(args, ""))
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&o.by, "by", "", "rates by language or agent")
	return cmd
}

func (o *fieldBoardsOptions) run(category string) error {
	if o.by != "" && o.by != "language" && o.by != "agent" {
		return unknownValue("unknown value of --by", o.by, []string{"language", "agent"})
	}
	if o.by != "" && category == "" {
		return usageErr("firstpick field boards orm --by language", "--by needs a category")
	}
	cat, err := o.catalog()
	if err != nil {
		return err
	}
	if _, ok := cat.Category(category); category != "" && !ok {
		return unknownCategory(cat, category)
	}
	studies, err := o.studies()
	if err != nil {
		return err
	}
	if len(studies) == 0 {
		return usageErr("firstpick field scan REPO or firstpick field add FILE adds one; firstpick demo has one", "no field study in %s", o.observedRoot())
	}
	boards, omitted := observedBoards(cat, studies)
	if category == "" {
		return o.list(boards, omitted)
	}
	if i := slices.IndexFunc(boards, func(b observed.Board) bool { return b.Category == category }); i >= 0 {
		return o.board(boards[i])
	}
	for _, no := range omitted {
		if no.Category == category {
			return usageErr("firstpick field boards lists the boards", "%s: no observed board: %s (%d in %d repositories)", category, no.Reason, no.NUnits, no.NRepos)
		}
	}
	return usageErr("firstpick field boards lists the boards", "%s: no study observed a tool of the category", category)
}

func observedBoards(cat *catalog.Catalog, studies []*facts.Study) ([]observed.Board, []observed.Omitted) {
	return observed.Boards(studies, func(s *facts.Study, slug string) (observed.Category, bool) {
		c, ok := cat.Category(slug)
		if !ok {
			return observed.Category{}, false
		}
		return observed.CategoryOf(c, s.Ecosystems), true
	})
}

// list prints the observed boards, and what has none.
func (o *fieldBoardsOptions) list(boards []observed.Board, omitted []observed.Omitted) error {
	if o.json {
		items := []observed.Item{}
		for _, b := range boards {
			items = append(items, b.Item())
		}
		return printJSON(o.env, map[string]any{"observed": true, "categories": items, "omitted": append([]observed.Omitted{}, omitted...)})
	}
	t := table{header: []string{"kind", "category", "first", "use rate (observed)", "interval", "unit", "units", "repositories", "study", "note"}}
	for _, b := range boards {
		first := b.Tools[0]
		t.add(observed.Mark, b.Category, first.Slug, percent(first.UseRate), useInterval(first.Use), b.Unit, strconv.Itoa(b.NUnits), strconv.Itoa(b.NRepos), b.FieldStudy, "")
	}
	for _, no := range omitted {
		t.add(observed.Mark, no.Category, "-", "-", "-", "-", strconv.Itoa(no.NUnits), strconv.Itoa(no.NRepos), no.FieldStudy, "no board: "+no.Reason)
	}
	_, _ = fmt.Fprintln(o.env.Stderr, observed.Notice)
	return t.print(o.env, o.format)
}

func useInterval(u observed.Use) string { return percent(u.CILow) + "–" + percent(u.CIHigh) }

// board prints one board, or its parts.
func (o *fieldBoardsOptions) board(b observed.Board) error {
	if o.json {
		return printJSON(o.env, b)
	}
	_, _ = fmt.Fprintf(o.env.Stderr, "%s\n%s\n", b.Heading(), observed.Notice)
	t := table{header: []string{"kind", "category", "rank", "rank range", "tool", "use rate (observed)", "interval", "uses", "units", "repositories"}}
	if o.by != "" {
		t.header = []string{"kind", "category", o.by, "tool", "use rate (observed)", "interval", "uses", "units", "repositories", "warnings"}
		o.parts(&t, b)
	} else {
		for _, s := range b.Tools {
			t.add(observed.Mark, b.Category, strconv.Itoa(s.Rank), fmt.Sprintf("%d–%d", s.RankLow, s.RankHigh), s.Slug, percent(s.UseRate), useInterval(s.Use), strconv.Itoa(s.Uses), strconv.Itoa(s.NUnits), strconv.Itoa(s.Repos))
		}
	}
	if err := t.print(o.env, o.format); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(o.env.Stderr, "%d %ss in %d repositories. %s\n", b.NUnits, b.Unit, b.NRepos, printable(b.Estimand))
	for _, code := range b.Warnings {
		_, _ = fmt.Fprintf(o.env.Stderr, "note: %s: %s: %s\n", b.Category, code, observed.Explain(code))
	}
	_, _ = fmt.Fprintf(o.env.Stderr, "source: %s\n", printable(b.Cite()))
	return nil
}

func (o *fieldBoardsOptions) parts(t *table, b observed.Board) {
	add := func(name string, p observed.Part) {
		for _, r := range p.Tools {
			t.add(observed.Mark, b.Category, name, r.Slug, percent(r.UseRate), useInterval(r.Use), strconv.Itoa(r.Uses), strconv.Itoa(p.NUnits), strconv.Itoa(p.NRepos), fmt.Sprint(p.Warnings))
		}
	}
	if o.by == "language" {
		for _, l := range b.Languages {
			add(l.Language, l.Part)
		}
		return
	}
	for _, a := range b.Agents {
		add(a.Agent, a.Part)
	}
}
