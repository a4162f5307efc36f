package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/fixtures/catalog"
)

// besideRuns is the value of --labels without a file.
const besideRuns = "of the runs"

type rankOptions struct {
	*app
	format
	category string
	runs     []string
	all      bool
	funnel   bool
	by       string   // one of cutsBy, or empty
	labels   []string // files; besideRuns for those of the runs
	// counted has what boards lack, by category; nil for boards that were not ranked here.
	counted map[string]rankCounts
}

// rankCounts are what `rank` counts besides the board.
type rankCounts struct {
	Details analytics.Details `json:"details,omitzero"`
	Funnel  *analytics.Funnel `json:"funnel,omitempty"`
}

func newRankCmd(env *Env) *cobra.Command {
	o := &rankOptions{}
	cmd := &cobra.Command{
		Use:   "rank [--labels [FILE]...]",
		Short: "Print pick rates and ranks",
		Long: `Rank the tools of every measured category, or of one, from the latest complete run of
each eval: one with answers to 95 % of its planned trials. Where there is none, the
latest run is ranked, and a note on stderr says so. Rates are shares of all valid
trials, with a 95 % CI that treats prompts as clusters: to narrow it, add prompts, not
repeats. The rank is followed by its range (95 %). A tool that nobody picked has an upper
limit. With --by the rates are those of each agent, of the prompts with one value of a tag,
or of each project, with and without an incumbent; small cells are marked early. With
--funnel it counts, of the trials of programs, those that name a tool, pick it, install
it, and pass the eval's builds command.

Labels stored with the runs (firstpick label) are used where they exist: the board then
has the share of wrongly extracted outcomes, and each tool its rate corrected for them
(PPI++, and Rogan-Gladen in JSON) next to the uncorrected one. With --labels they must
exist; files given with it replace the labels of the runs.`,
		Args: usage(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) > 0 && len(o.labels) == 0 {
				hint := "firstpick rank --labels FILE"
				if _, err := os.Stat(args[0]); err != nil && filepath.Ext(args[0]) == "" {
					hint = "firstpick rank --category " + args[0]
				}
				return usageErr(hint, "rank takes files of labels with --labels only (got %q)", args[0])
			}
			o.labels = append(o.labels, args...)
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			if cmd.Flags().Changed("server") {
				if u, err := url.Parse(o.cfg.Server); err != nil || u.Host == "" {
					return usageErr("such as --server https://firstpick.example", "--server must be an http or https URL (got %q)", o.cfg.Server)
				}
				o.cfg.BaseURL = strings.TrimRight(o.cfg.Server, "/")
			}
			return o.run(cmd.Context())
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&o.category, "category", "", "only this category")
	cmd.Flags().StringArrayVar(&o.runs, "run", nil, "rank this run instead of the latest ones (repeatable)")
	cmd.Flags().StringArrayVar(&o.labels, "labels", nil, "labels must exist; with files, use the labels in these")
	cmd.Flags().Lookup("labels").NoOptDefVal = besideRuns
	cmd.Flags().StringVar(&o.by, "by", "", "rates by "+strings.Join(cutsBy(), ", "))
	cmd.Flags().BoolVar(&o.funnel, "funnel", false, "of agents that are programs: named, picked, installed, builds")
	cmd.Flags().BoolVar(&o.all, "all", false, "also list tools that were never picked or named")
	addServerFlag(cmd.Flags(), "base-url, or http://"+demoListen, "base-url")
	return cmd
}

func (o *rankOptions) run(ctx context.Context) error {
	cat, err := o.catalog()
	if err != nil {
		return err
	}
	if _, ok := cat.Category(o.category); o.category != "" && !ok {
		return unknownCategory(cat, o.category)
	}
	if o.by != "" && o.funnel {
		return usageErr("leave one of them out", "--funnel cannot be combined with --by")
	}
	if o.by != "" && !slices.Contains(cutsBy(), o.by) {
		return unknownValue("unknown value of --by", o.by, cutsBy())
	}
	boards, err := o.boards(ctx, cat)
	if err != nil {
		return err
	}
	if o.category != "" && len(boards) == 0 {
		return usageErr("firstpick runs lists the runs", "category %s is not measured yet", o.category)
	}
	if len(boards) == 0 {
		o.noteNoRun()
	}
	if o.by != "" {
		return o.printCuts(boards)
	}
	if o.funnel && !o.json {
		return o.printFunnels(boards)
	}
	if o.json {
		return o.printBoards(boards)
	}
	return o.printTables(boards)
}

// boards ranks the wanted categories.
func (o *rankOptions) boards(ctx context.Context, cat *catalog.Catalog) (boards []analytics.Board, err error) {
	_, err = o.rankEach(ctx, cat, func(store *trialstore.Store) (selection, error) {
		chosen, err := o.currentRuns(ctx, store, o.runs, o.category)
		if err != nil || len(chosen.rows) == 0 {
			return chosen, err
		}
		chosen.cutProjects = o.by == analytics.CutProject
		if err := o.count(ctx, store, chosen.ids()); err != nil || len(o.labels) == 0 {
			return chosen, err
		}
		return o.withLabels(chosen, slices.DeleteFunc(o.labels, func(file string) bool { return file == besideRuns }))
	}, func(board analytics.Board, _ analytics.Measurement) {
		boards = append(boards, board.WithBase(o.base()))
	})
	return boards, err
}

// count counts what boards lack.
func (o *rankOptions) count(ctx context.Context, store *trialstore.Store, runs []string) error {
	details, err := store.Details(ctx, runs)
	if err != nil {
		return err
	}
	funnels, err := store.Funnels(ctx, runs)
	o.counted = map[string]rankCounts{}
	for category, d := range details {
		c := rankCounts{Details: d}
		if f, ok := funnels[category]; ok {
			c.Funnel = &f
		}
		o.counted[category] = c
	}
	return err
}

func (o *rankOptions) base() string {
	return cmp.Or(o.cfg.BaseURL, strings.TrimRight(o.cfg.Server, "/"), "http://"+o.cfg.Listen)
}

// rankEach calls each with the board and the measurement of every category of the runs that
// choose selects, and returns those runs.
func (a *app) rankEach(ctx context.Context, cat *catalog.Catalog, choose func(*trialstore.Store) (selection, error), each func(analytics.Board, analytics.Measurement)) (chosen selection, err error) {
	store, err := a.trials(ctx)
	if err != nil {
		return chosen, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if chosen, err = choose(store); err != nil || len(chosen.rows) == 0 {
		return chosen, err
	}
	a.explain(chosen)
	if err := a.noteCatalogs(ctx, store, cat, chosen); err != nil {
		return chosen, err
	}
	counts, err := store.Counts(ctx, chosen.ids())
	if err != nil {
		return chosen, err
	}
	if chosen.extracted, err = store.Extracted(ctx, chosen.runs); err != nil {
		return chosen, err
	}
	ms := make([]analytics.Measurement, len(counts))
	for i, c := range counts {
		category, ok := cat.Category(c.Category)
		if !ok {
			return chosen, usageErr("use the catalogue of the trials: --catalog DIR",
				"trials of category %s, which is not in the catalogue", c.Category)
		}
		ms[i] = analytics.Measurement{
			Category: category, Cells: c.Cells, Planned: c.Planned, Synthetic: c.Synthetic,
			Doubts: chosen.doubts(c.Category), Design: analytics.DesignOf(chosen.pool(c.Category)), CutProjects: chosen.cutProjects,
		}
	}
	for i, board := range analytics.RankAll(ms) {
		labels, err := chosen.labelled(ctx, store, board.Category)
		if err != nil {
			return chosen, badInput(err)
		}
		each(board.WithLabels(ms[i], labels), ms[i])
	}
	return chosen, nil
}

func (o *rankOptions) printBoards(boards []analytics.Board) error {
	type ranked struct {
		analytics.Board
		*rankCounts // nil for boards that were not ranked here
	}
	out := make([]ranked, len(boards))
	for i, b := range boards {
		out[i].Board = b
		if c, ok := o.counted[b.Category]; ok {
			out[i].rankCounts = &c
		}
	}
	if o.category != "" {
		return printJSON(o.env, out[0])
	}
	return printJSON(o.env, map[string]any{"rankings": out})
}

func (o *rankOptions) printTables(boards []analytics.Board) error {
	t := table{header: []string{"category", "rank", "ranks", "tool", "pick rate", "interval"}}
	for _, m := range analytics.Metrics() {
		t.header = append(t.header, strings.ToLower(m.Column))
	}
	t.header = append(t.header, "trials")
	corrected := slices.ContainsFunc(boards, func(b analytics.Board) bool { return len(b.Tools) > 0 && b.Tools[0].Labelled != nil })
	if corrected {
		t.header = append(t.header, "corrected rate", "corrected interval")
	}
	var notes boardNotes
	for _, b := range boards {
		hidden := 0
		for _, s := range b.Tools {
			if s.Picks == 0 && s.ShortlistRate == 0 && !o.all {
				hidden++
				continue
			}
			rate, interval := rateText(s)
			row := []string{b.Category, fmt.Sprint(s.Rank), fmt.Sprintf("%d–%d", s.RankLow, s.RankHigh), s.Slug, rate, interval}
			for _, m := range analytics.Metrics() {
				row = append(row, metricText(m, s))
			}
			row = append(row, fmt.Sprint(s.NTrials))
			if l := s.Labelled; l != nil {
				row = append(row, percent(l.PickRate), fmt.Sprintf("%s–%s", percent(l.CILow), percent(l.CIHigh)))
			} else if corrected {
				row = append(row, "-", "-")
			}
			t.add(row...)
		}
		notes.board(b, hidden)
		notes.counts(b, o.counted[b.Category])
	}
	return t.printWith(o.env, o.format, notes)
}
