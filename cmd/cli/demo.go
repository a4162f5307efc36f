package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/cmd/progress"
	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/observed"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

type demoOptions struct {
	*app
	noServe, workspace, verbose bool
}

func newDemoCmd(env *Env) *cobra.Command {
	o := &demoOptions{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Rank a published study's recorded answers and serve the leaderboards",
		Long: `Run the 4,000 recorded answers of a published study (8 language models, 5 tasks,
100 answers each) through the same runner, store, ranking and publishing as any
eval, and serve the result. It also shows what agents used in 27,839 pull requests of
another study, marked as observed. It needs no key and no network.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().String("listen", demoListen, "address to serve on")
	cmd.Flags().BoolVar(&o.noServe, "no-serve", false, "stop after publishing")
	cmd.Flags().BoolVar(&o.workspace, "workspace", false, "add a sample workspace with made-up traffic, conversions and an eval")
	cmd.Flags().BoolVar(&o.verbose, "verbose", false, "log a line per request on a terminal too")
	cmd.MarkFlagsMutuallyExclusive("no-serve", "workspace")
	return cmd
}

func (o *demoOptions) run(ctx context.Context) error {
	var ln net.Listener
	if !o.noServe {
		var err error
		if ln, err = listen(ctx, o.cfg.Listen); err != nil { // before the work: report a taken port at once
			return err
		}
		defer func() { _ = ln.Close() }()
	}
	if err := o.fill(ctx); err != nil {
		return err
	}
	if o.noServe {
		_, err := fmt.Fprintf(o.env.Stderr, "next: firstpick rank%[1]s · firstpick server%[1]s\n", o.dataFlag())
		return err
	}
	if o.env.StderrIsTTY && !o.verbose {
		o.cfg.AccessLog = false // the person reads the address, not the requests
	}
	if o.workspace {
		o.cfg.WithWorker = true // so that its evals do not wait for ever
		return serve(ctx, o.app, ln, o.addSample)
	}
	return serve(ctx, o.app, ln)
}

// fill measures and publishes what the demo serves.
func (o *demoOptions) fill(ctx context.Context) error {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // more memory for a few seconds, and a fifth less time
	cat, err := o.catalog()
	if err != nil {
		return err
	}
	if err := o.measure(ctx, cat); err != nil {
		return err
	}
	if err := o.observe(); err != nil {
		return err
	}
	p := publishOptions{app: o.app, serves: true}
	return p.run(ctx)
}

// observe adds the built-in field study to the data folder.
func (o *demoOptions) observe() error {
	s, err := observed.Load(fixtures.Files(), observed.PullRequests)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(o.env.Stderr, "OBSERVED: %d of %d pull requests by agents use a tool\n", len(s.Units), s.Read)
	return o.keepStudyFile(s.Name, s.File)
}

// measure runs every built-in eval as far as the data folder does not hold it yet.
func (o *demoOptions) measure(ctx context.Context, cat *catalog.Catalog) (err error) {
	files, err := fs.Glob(fixtures.Files(), "evals/*.yaml")
	if err != nil {
		return err
	}
	var journals []*journal.Journal
	defer func() {
		for _, j := range journals {
			err = errors.Join(err, j.Close())
		}
	}()
	shown := journal.Run{Eval: eval.Eval{Name: "recorded study", Category: fmt.Sprintf("%d categories", len(files))}}
	for _, file := range files {
		j, err := o.journal(cat, file)
		if err != nil {
			return err
		}
		journals = append(journals, j)
		run := j.Run()
		shown.Planned, shown.Eval.Agents = shown.Planned+run.Planned, run.Eval.Agents // each asks the same agents
	}
	view := progress.New(ctx, o.env.showing(shown, !o.env.StderrIsTTY))
	defer func() { err = errors.Join(err, view.Close()) }()
	valid := 0
	for _, j := range journals {
		sum, err := execute(ctx, o.app, execution{journal: j, catalog: cat, sinks: []runner.Sink{open{view}}, concurrency: 64, control: runner.NewControl()})
		if err == nil {
			err = outcome(ctx, sum)
		}
		if err != nil {
			return err
		}
		valid += sum.Valid
	}
	return errors.Join(view.Close(), o.leaders(ctx, cat, view, valid, shown.Planned))
}

// leaders prints the first of each board.
func (o *demoOptions) leaders(ctx context.Context, cat *catalog.Catalog, view *progress.View, valid, planned int) error {
	boards, err := (&rankOptions{app: o.app}).boards(ctx, cat)
	if err != nil {
		return err
	}
	if err := view.Boards(boards); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.env.Stderr, "%d of %d recorded answers in %s\n", valid, planned, o.cfg.Data)
	return err
}

// open is a display that shows several runs: the end of one does not close it.
type open struct{ *progress.View }

func (open) Close() error { return nil }

// journal opens the run of a built-in eval, and creates it if it is missing.
func (o *demoOptions) journal(cat *catalog.Catalog, file string) (*journal.Journal, error) {
	data, err := fs.ReadFile(fixtures.Files(), file)
	if err != nil {
		return nil, err
	}
	ev, err := eval.Parse(path.Base(file), data)
	if err != nil {
		return nil, err
	}
	id := "demo-" + ev.Name + "-" + pick.Version // what an earlier version made of the study is not taken for its own
	j, err := journal.Open(o.runsRoot(), id)
	if errors.Is(err, os.ErrNotExist) {
		return createRun(o.app, cat, journal.Run{ID: id, Eval: *ev})
	}
	return j, err
}
