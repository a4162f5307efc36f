package cli

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/cmd/labeller"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/label"
	"github.com/firstpick/firstpick/runner/pick"
)

const defaultLabels = 200

// oversampled is how much likelier an answer is drawn that extraction could not decide.
const oversampled = 3

type labelOptions struct {
	*app
	by         string
	size       int
	seed       uint64
	sized      bool // --size is given
	seeded     bool // --seed is given
	adjudicate bool
	agreement  bool
	export     bool
	importFile string
	cases      bool
	json       bool
}

func newLabelCmd(env *Env) *cobra.Command {
	o := &labelOptions{}
	cmd := &cobra.Command{
		Use:   "label RUN",
		Short: "Label a random sample of a run's trials, to measure and correct errors of extraction",
		Long: `Label a random sample of a run's trials on a terminal: read the answer and say which tool
it picked. Neither the agent nor the extracted outcome is shown. The sample is stratified
by agent, method, outcome and language, with ambiguous and unresolved answers three times
as likely; it is drawn once and stored with its seed. Each label is on disk before the
next answer is shown, so labelling may be interrupted at any time and continues with the
same command. ? shows the keys.

Labels are in labels.jsonl in the folder of the run. rank and publish use them: see
firstpick rank --help. About 200 labels of a category are a good start; fewer than 30 are
not used.

A second person labels the same sample without seeing the first (--by NAME). --agreement
compares them (Cohen's kappa); a third person decides where they differ (--adjudicate).
Until then the majority counts; on a tie, the first label.
Without a terminal, --export prints the trials as a blind sheet, one JSON object per line;
fill in outcome and picked, and --import it. --cases prints the labels for
firstpick extract score.`,
		Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			o.sized, o.seeded = cmd.Flags().Changed("size"), cmd.Flags().Changed("seed")
			return o.run(cmd.Context(), args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.by, "by", "", "name of the labeller (default $USER)")
	f.IntVar(&o.size, "size", defaultLabels, "trials in the sample")
	f.Uint64Var(&o.seed, "seed", 0, "seed of the sample (default: drawn)")
	f.BoolVar(&o.adjudicate, "adjudicate", false, "decide the trials whose labels differ")
	f.BoolVar(&o.agreement, "agreement", false, "print the agreement of labellers, and where they differ")
	f.BoolVar(&o.export, "export", false, "print a blind sheet of the trials that the labeller has not labelled")
	f.StringVar(&o.importFile, "import", "", "store the labels of a filled-in blind sheet")
	f.BoolVar(&o.cases, "cases", false, "print the labelled answers as cases for extract score")
	f.BoolVar(&o.json, "json", false, "print JSON (with --agreement)")
	cmd.MarkFlagsMutuallyExclusive("adjudicate", "agreement", "export", "import", "cases")
	return cmd
}

func (o *labelOptions) run(ctx context.Context, id string) error {
	id, err := o.findRun(id)
	if err != nil {
		return err
	}
	run, category, err := o.labelledRun(id)
	if err != nil {
		return err
	}
	w := &labelling{labelOptions: o, run: run, category: category, file: o.labelFile(id)}
	switch {
	case o.agreement:
		return w.printAgreement()
	case o.cases:
		return w.printCases()
	}
	if err := o.checkName(); err != nil {
		return err
	}
	onTerminal := o.env.StdinIsTTY && o.env.StderrIsTTY
	if !onTerminal && !o.export && o.importFile == "" {
		return usageErr("--export prints a blind sheet to fill in elsewhere, --import FILE stores it", "labelling needs a terminal")
	}
	if w.set, err = w.sample(ctx); err != nil {
		return err
	}
	switch {
	case o.export:
		return w.export()
	case o.importFile != "":
		return w.importSheet()
	}
	return w.interactive(ctx)
}

// labelledRun reads the plan of a run that can be labelled, and its category.
func (o *labelOptions) labelledRun(id string) (journal.Run, *catalog.Category, error) {
	run, err := journal.ReadRun(o.runsRoot(), id)
	if errors.Is(err, os.ErrNotExist) {
		return run, nil, usageErr("firstpick runs lists them", "no run %s in %s", id, o.cfg.Data)
	} else if err != nil {
		return run, nil, err
	}
	if run.Shard != nil {
		return run, nil, usageErr("firstpick merge, then label the merged run", "run %s is shard %s of its plan", id, run.Shard)
	}
	cat, err := o.catalog()
	if err != nil {
		return run, nil, err
	}
	category, ok := cat.Category(run.Eval.Category)
	if !ok {
		return run, nil, unknownCategory(cat, run.Eval.Category)
	}
	return run, category, nil
}

func (o *labelOptions) checkName() error {
	if o.by == "" {
		o.by = o.env.Getenv("USER")
	}
	if !regexp.MustCompile(`^[\pL\pN][\pL\pN._@-]{0,63}$`).MatchString(o.by) {
		return usageErr("--by NAME", "a labeller needs a name of letters, digits, dots, dashes, underscores and @ (got %q)", o.by)
	}
	if o.size < 1 {
		return usageErr("", "--size must be at least 1 (got %d)", o.size)
	}
	return nil
}

// A labelling is the command at work on one run.
type labelling struct {
	*labelOptions
	run      journal.Run
	category *catalog.Category
	file     label.File
	set      *label.Set
}

// sample returns the sample of the run with its labels, and draws it where there is none.
func (w *labelling) sample(ctx context.Context) (*label.Set, error) {
	drawn := false
	set, err := w.file.Begin(func() (label.Sample, error) {
		drawn = true
		return w.draw(ctx)
	})
	if err != nil {
		return nil, err
	}
	s := set.Sample
	if w.sized && w.size != s.Size || w.seeded && w.seed != s.Seed {
		return nil, usageErr("leave --size and --seed out", "run %s has a sample already: size %d, seed %d", w.run.ID, s.Size, s.Seed)
	}
	if drawn {
		w.note("drew %d of %d trials, seed %d", len(s.Trials), s.Frame, s.Seed)
	}
	return set, nil
}

func (w *labelling) draw(ctx context.Context) (label.Sample, error) {
	s := label.Sample{Run: w.run.ID, Seed: w.seed, Size: w.size, At: w.env.Now().UTC()}
	for _, id := range w.underWay(ctx) {
		if id == w.run.ID {
			return s, usageErr("wait until it ends", "run %s is still active: a sample would miss its later trials", id)
		}
	}
	if !w.seeded {
		sum := sha256.Sum256([]byte(w.env.NewID()))
		s.Seed = uint64(binary.BigEndian.Uint32(sum[:4])) // short enough to be typed again
	}
	var items []label.Item
	err := w.scan(func(r journal.Record) {
		if r.Result.Method != pick.MethodGiven {
			items = append(items, itemOf(r))
		}
	})
	if err != nil {
		return s, err
	}
	if len(items) == 0 {
		return s, usageErr("", "run %s has no answer to label: outcomes that were imported ready have none", w.run.ID)
	}
	s.Frame, s.Trials = len(items), label.Draw(items, w.size, s.Seed)
	return s, nil
}

// itemOf returns a trial as it may be drawn.
func itemOf(r journal.Record) label.Item {
	item := label.Item{Trial: r.Trial.ID, Size: 1}
	item.Stratum = fmt.Sprintf("%s/%s/%s/%s/%s", r.Trial.Category, r.Trial.Agent, r.Result.Method, r.Result.Kind, r.Result.Language)
	if r.Result.Kind == pick.Ambiguous || r.Result.Unresolved {
		item.Size = oversampled
	}
	return item
}

// scan calls fn with the record of each answer, with the result that counts.
func (w *labelling) scan(fn func(journal.Record)) error {
	results := map[string]*pick.Result{}
	_, err := journal.Scan(w.runsRoot(), w.run.ID, journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
		if r.Kind == journal.KindResult || r.Kind == journal.KindExtraction {
			results[r.Trial.ID] = r.Result
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = journal.Scan(w.runsRoot(), w.run.ID, journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
		if r.Kind == journal.KindResult && results[r.Trial.ID] != nil && r.Answer != nil {
			r.Result = results[r.Trial.ID]
			delete(results, r.Trial.ID)
			fn(r)
		}
		return nil
	})
	return err
}

// answers returns the records of the sample's trials, by id.
func (w *labelling) answers(set *label.Set) (map[string]journal.Record, error) {
	wanted, out := map[string]bool{}, map[string]journal.Record{}
	for _, d := range set.Sample.Trials {
		wanted[d.Trial] = true
	}
	err := w.scan(func(r journal.Record) {
		if wanted[r.Trial.ID] {
			out[r.Trial.ID] = r
		}
	})
	for _, d := range set.Sample.Trials {
		if _, ok := out[d.Trial]; !ok && err == nil {
			err = badInput(fmt.Errorf("%s: the sample has trial %s, which run %s does not have", w.file.Path, d.Trial, w.run.ID))
		}
	}
	return out, err
}

func (w *labelling) interactive(ctx context.Context) error {
	session, err := label.NewSession(w.file, w.set, w.by, w.adjudicate, w.env.Now)
	if err != nil {
		return usageErr("--by NAME", "%w", err)
	}
	if _, total := session.Progress(); total == 0 {
		w.note("no labels differ: nothing to decide")
		return nil
	}
	answers, err := w.answers(w.set)
	if err != nil {
		return err
	}
	cfg := labeller.Config{
		In: w.env.Stdin, Out: w.env.Stderr, Run: w.run.ID, Category: w.category.Name, Session: session,
		NoColor: w.env.Getenv("NO_COLOR") != "",
		Load:    func(trial string) ([]string, error) { return w.lines(answers[trial]), nil },
	}
	for _, e := range w.category.Entries {
		cfg.Tools = append(cfg.Tools, labeller.Tool{Slug: e.Tool.Slug, Name: e.Tool.Name})
	}
	err = labeller.Run(ctx, cfg)
	done, total := session.Progress()
	w.note("%d of %d labelled by %s, in %s", done, total, w.by, w.file.Path)
	return err
}
