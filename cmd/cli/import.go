package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/importer"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

type importOptions struct {
	*app
	files     []string
	eval      string
	planned   int
	synthetic bool
	force     bool
	sessions  sessionImport
}

func newImportCmd(env *Env) *cobra.Command {
	o := &importOptions{}
	cmd := &cobra.Command{
		Use:   "import FILE.jsonl --eval NAME | --from KIND FILE|DIR... --eval NAME",
		Short: "Import recorded answers",
		Long: `Import recorded answers, one trial per line:

  {"agent":"a","category":"payments","prompt_id":"p1","prompt":"Add payments.","repeat":1,
   "input":{"final_text":"I'd use Stripe.","commands":[{"cmd":"npm i stripe","exit":0}],
            "workspace_diff":[{"path":"package.json","added_deps":["stripe@^17"],"added":[]}]}}

A command without "exit" has an unknown exit status: what it installs counts as considered, not as used.

Or, instead of "input", a ready "outcome":{"kind":"tool","picked":"stripe","shortlist":["stripe"]}.
A line may have the prompt's "family":"checkout" and "tags":{"intent":"build"}, as in eval files.
Names of agents, prompts, families and templates are as in eval files: letters, digits and . _ / : -, at most 100.
The whole file is validated before anything is stored. Each category becomes one run.
The coverage of an import is unknown, unless --planned says how many trials were planned.

With --from, the arguments are session folders of a coding agent, or output streams of its program:

  claude-code  ~/.claude/projects             codex   ~/.codex/sessions
  gemini       ~/.gemini/tmp                  cursor  ~/.cursor/projects/*/agent-transcripts
  atif         trajectories (Agent Trajectory Interchange Format 1)

One session is one trial: the first prompt, the commands, the lines added to files, the last message.
--category says what the sessions measure. Without it, only sessions are imported whose
prompt is built in or in an eval file of --tasks. A summary counts the files that were skipped, by reason.
Secrets are redacted. Lines and JSON documents are limited to 64 MiB, all transcripts of an import to 512 MiB.
Symbolic links out of a folder are not followed.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("from") {
				if len(args) == 0 {
					return usageErr("for example firstpick import --from codex ~/.codex/sessions --eval NAME", "%s --from wants FILE|DIR... (got none)", cmd.CommandPath())
				}
				return nil
			}
			return usage(cobra.ExactArgs(1))(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			if cmd.Flags().Changed("planned") && o.planned < 1 {
				return usageErr("", "--planned must be at least 1 (got %d)", o.planned)
			}
			if err := o.sessions.check(cmd); err != nil {
				return err
			}
			o.files = args
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.eval, "eval", "", "name of the eval that the answers belong to (required)")
	cmd.Flags().IntVar(&o.planned, "planned", 0, "how many trials were planned, those without an answer too (default unknown)")
	cmd.Flags().BoolVar(&o.synthetic, "synthetic", false, "mark the answers as simulated")
	cmd.Flags().BoolVar(&o.force, "force", false, "store answers although another eval has the same")
	s := &o.sessions
	cmd.Flags().StringVar(&s.from, "from", "", "read session folders of this `kind`: claude-code, codex, gemini, cursor, atif")
	cmd.Flags().StringVar(&s.category, "category", "", "category that all sessions measure (with --from)")
	cmd.Flags().StringSliceVar(&s.tasks, "tasks", nil, "eval files whose prompts give a session its category (with --from)")
	cmd.Flags().StringVar(&s.agent, "agent", "", "name of the agent (with --from; default program/model)")
	cmd.Flags().StringVar(&s.prompt, "prompt", "", "prompt of streams that do not have it (with --from)")
	cmd.Flags().BoolVar(&s.skipped, "skipped", false, "list every skipped file, not 5 of each reason (with --from)")
	return cmd
}

func (o *importOptions) run(ctx context.Context) error {
	if o.eval == "" {
		from := ""
		if o.sessions.from != "" {
			from = "--from " + o.sessions.from + " "
		}
		return usageErr("firstpick import "+from+o.files[0]+" --eval NAME", "--eval is missing")
	}
	if !importer.ValidName(o.eval) {
		return usageErr("letters, digits, dots, dashes and underscores", "--eval must be a name (got %q)", o.eval)
	}
	cat, err := o.catalog()
	if err != nil {
		return err
	}
	batch, err := o.read(cat)
	if err != nil {
		return err
	}
	if err := o.checkPlanned(batch); err != nil {
		return err
	}
	if err := o.refuseKnown(batch); err != nil {
		return err
	}
	id := newRunID(o.env)
	for i := range batch.Categories {
		part := &batch.Categories[i]
		if err := o.store(ctx, cat, part, runOfPart(id, part)); err != nil {
			return err
		}
	}
	_, _ = fmt.Fprintf(o.env.Stderr, "imported %s in %s as %s\n", count(batch.Trials, "trial"), categories(len(batch.Categories)), o.eval)
	o.loadThen(ctx, func(store *trialstore.Store) error { return o.noteReplaced(ctx, store, id, batch) })
	return nil
}

func (o *importOptions) read(cat *catalog.Catalog) (importer.Batch, error) {
	if o.sessions.from != "" {
		return o.sessions.read(o, cat)
	}
	f, err := os.Open(o.files[0])
	if errors.Is(err, fs.ErrNotExist) {
		return importer.Batch{}, usageErr(otherFiles(o.files[0]), "answers %s: no such file", o.files[0])
	}
	if err != nil {
		return importer.Batch{}, badInput(fmt.Errorf("answers: %w", err))
	}
	defer func() { _ = f.Close() }()
	batch, err := importer.Read(f, cat, o.env.Now().UTC())
	if err != nil {
		return batch, &codedError{fmt.Errorf("%s: %w", filepath.Base(o.files[0]), err), exitUsage, "nothing was stored"}
	}
	return batch, nil
}

// checkPlanned refuses a plan that is smaller than the file, and one of several
// categories: each has a plan of its own.
func (o *importOptions) checkPlanned(batch importer.Batch) error {
	switch {
	case o.planned == 0:
	case o.planned < batch.Trials:
		return usageErr("nothing was stored; count the trials without an answer too", "--planned is %d, and the file has %d trials", o.planned, batch.Trials)
	case len(batch.Categories) > 1:
		return usageErr("nothing was stored; import a file for each category", "--planned is for one category, and the file has %d", len(batch.Categories))
	}
	return nil
}

// refuseKnown refuses answers that are here under another eval's name, unless forced:
// ranks pool the evals of a category, so the same answers would count twice.
func (o *importOptions) refuseKnown(batch importer.Batch) error {
	runs, _, err := journal.List(o.runsRoot())
	if err != nil {
		return err
	}
	for i := range batch.Categories {
		part := &batch.Categories[i]
		for _, r := range runs {
			if r.Content != part.Digest || r.Eval.Name == o.eval || r.Eval.Category != part.Category {
				continue
			}
			if o.force {
				o.note("the answers of category %s are also in run %s, as eval %s: where both are read, they count twice", part.Category, r.ID, r.Eval.Name)
				continue
			}
			return usageErr(fmt.Sprintf("nothing was stored; --eval %s imports them again as that eval; to rename it, delete %s first; --force stores another measurement with the same answers",
				r.Eval.Name, filepath.Join(o.runsRoot(), r.ID)),
				"the answers of category %s are already in run %s, as eval %s: as eval %s they would count twice",
				part.Category, r.ID, r.Eval.Name, o.eval)
		}
	}
	return nil
}

// noteReplaced names the runs that boards read until now: of an eval they read the latest
// complete one.
func (o *importOptions) noteReplaced(ctx context.Context, store *trialstore.Store, id string, batch importer.Batch) error {
	rows, err := store.Runs(ctx)
	if err != nil {
		return err
	}
	for i := range batch.Categories {
		part := &batch.Categories[i]
		var was *trialstore.RunRow
		current := false
		for j := range rows {
			r := &rows[j]
			switch {
			case r.Eval != o.eval || r.Category != part.Category || r.Shard != "":
			case r.ID == runOfPart(id, part):
				current = r.Current
			case r.Complete || was == nil || !was.Complete:
				was = r
			}
		}
		if was == nil || !current {
			continue
		}
		another := ""
		if old, err := journal.ReadRun(o.runsRoot(), was.ID); err == nil && old.Content != part.Digest {
			another = "; to count both, import this one with another --eval"
		}
		o.note("%s: the import takes the place of run %s of eval %s, with %s%s", part.Category, was.ID, o.eval, counted(was.Valid, "trial"), another)
	}
	return nil
}

// runOfPart is the id of the run of a category of an import.
func runOfPart(id string, part *importer.Part) string { return id + "-" + part.Category }

// store writes one category as one run, or nothing: a run that cannot be
// written whole is taken away again.
func (o *importOptions) store(ctx context.Context, cat *catalog.Catalog, part *importer.Part, id string) (err error) {
	ev := part.Eval
	ev.Name = o.eval
	j, err := journal.Create(o.runsRoot(), journal.Run{
		ID: id, Eval: ev, Planned: max(o.planned, len(part.Trials)), PlanKnown: o.planned > 0, CreatedAt: o.env.Now().UTC(),
		Synthetic: o.synthetic, Imported: true, Content: part.Digest, Catalog: cat.Version, Extractor: pick.Version,
	})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := j.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			_ = os.RemoveAll(filepath.Join(o.runsRoot(), id))
		}
	}()
	category, _ := cat.Category(part.Category)
	x := pick.New(category, cat.Version)
	return part.Write(ctx, o.eval, j, x)
}
