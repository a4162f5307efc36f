package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/eval"
)

// The levels of a finding.
const (
	levelOK   = "ok"
	levelWarn = "warn"
	levelFail = "fail"
)

// A finding is the result of one check.
type finding struct {
	Level  string `json:"level"`
	What   string `json:"what"`
	Detail string `json:"detail"`
	// Hint is the advice, if any.
	Hint string `json:"hint,omitempty"`
}

type doctorOptions struct {
	*app
	format
	ask    bool
	agents []string
}

func newDoctorCmd(env *Env) *cobra.Command {
	o := &doctorOptions{}
	cmd := &cobra.Command{
		Use:   "doctor [EVAL.yaml]",
		Short: "Check everything that a run needs",
		Long: `Check the data folder, the trial store and the catalogue and, with an eval, its agents:
programs and their versions, keys, endpoints. No prompts are sent, and nothing costs
money, unless --ask sends each agent one short prompt.

The exit code is 1 when a check failed; warnings do not count.`,
		Args: usage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), args)
		},
	}
	o.flags(cmd)
	addAgentFlags(cmd.Flags())
	cmd.Flags().BoolVar(&o.ask, "ask", false, "send each agent one short prompt; it may cost money")
	cmd.Flags().StringArrayVar(&o.agents, "agent", nil, "check this agent of the eval only (repeatable)")
	return cmd
}

func (o *doctorOptions) run(ctx context.Context, args []string) error {
	if o.ask && len(args) == 0 {
		return usageErr("firstpick doctor EVAL.yaml --ask", "--ask needs an eval file")
	}
	found := []finding{o.dataFolder(), o.disk(), o.store(ctx)}
	cat, catFinding := o.catalogue()
	found = append(found, catFinding)
	table, priceFinding := o.priceTable()
	found = append(found, priceFinding)
	if len(args) == 1 {
		ev, evalFinding := o.eval(args[0], cat)
		if found = append(found, evalFinding); ev != nil {
			if err := keepAgents(ev, o.agents); err != nil {
				return err
			}
			found = append(found, o.programs(ctx, ev)...)
			found = append(found, o.agentsOf(ctx, ev, cat, table)...)
		}
	}
	if o.cfg.EvalPrograms {
		found = append(found, o.workspacePrograms(ctx))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return o.print(found)
}

func (o *doctorOptions) print(found []finding) error {
	failed := 0
	t := table{header: []string{"", "what", "detail", "hint"}}
	for _, f := range found {
		if f.Level == levelFail {
			failed++
		}
		t.add(f.Level, f.What, f.Detail, f.Hint)
	}
	var err error
	if o.json {
		err = printJSON(o.env, map[string]any{"ok": failed == 0, "checks": found})
	} else {
		err = t.print(o.env, o.format)
	}
	if err == nil && failed > 0 {
		err = &codedError{fmt.Errorf("%d of %d checks failed", failed, len(found)), exitFailed, ""}
	}
	return err
}

// dataFolder writes and removes a file.
func (o *doctorOptions) dataFolder() finding {
	const what = "data folder"
	dir, err := filepath.Abs(o.cfg.Data)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	var f *os.File
	if err == nil {
		f, err = os.CreateTemp(dir, ".doctor-*")
	}
	if err == nil {
		_, err = f.WriteString("firstpick")
		err = errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return finding{levelFail, what, err.Error(), "choose a folder that can be written: --data DIR"}
	}
	return finding{Level: levelOK, What: what, Detail: dir}
}

// Below these, in MB, a run may end half way; answers of agent CLIs take 50 kB each.
const (
	scarceMB = 2000
	tooFewMB = 200
)

func (o *doctorOptions) disk() finding {
	const what, hint = "free disk", "free disk space, or choose another folder: --data DIR"
	mb, err := freeMB(o.cfg.Data)
	detail := fmt.Sprintf("%d MB", mb)
	switch {
	case err != nil:
		return finding{levelWarn, what, "unknown: " + err.Error(), ""}
	case mb < tooFewMB:
		return finding{levelFail, what, detail, hint}
	case mb < scarceMB:
		return finding{levelWarn, what, detail, hint}
	}
	return finding{Level: levelOK, What: what, Detail: detail}
}

func (o *doctorOptions) store(ctx context.Context) finding {
	const what = "trial store"
	if _, err := os.Stat(o.trialsPath()); errors.Is(err, os.ErrNotExist) {
		return finding{Level: levelOK, What: what, Detail: "none yet; the first run creates it"}
	}
	store, err := trialstore.Open(ctx, o.trialsPath())
	if hint := fileHint(err); hint != "" {
		return finding{levelFail, what, err.Error(), hint}
	}
	if err != nil {
		return finding{levelFail, what, err.Error(), "firstpick runs rebuild rebuilds it from the journals"}
	}
	runs, err := store.Runs(ctx)
	if err = errors.Join(err, store.Close()); err != nil {
		return finding{levelFail, what, err.Error(), "firstpick runs rebuild rebuilds it from the journals"}
	}
	if store.Replaced() {
		return finding{levelWarn, what, "it is incomplete (disk full or process killed) and empty", "the next command that reads trials loads the journals"}
	}
	return finding{Level: levelOK, What: what, Detail: fmt.Sprintf("%d runs", len(runs))}
}

func (o *doctorOptions) catalogue() (*catalog.Catalog, finding) {
	cat, err := o.catalog()
	if err != nil {
		return nil, finding{levelFail, "catalogue", err.Error(), "firstpick lint lists every problem"}
	}
	return cat, finding{Level: levelOK, What: "catalogue", Detail: fmt.Sprintf("%d categories, version %.19s", len(cat.Categories), cat.Version)}
}

func (o *doctorOptions) priceTable() (*prices.Table, finding) {
	table, err := o.loadPrices()
	if err != nil {
		return nil, finding{levelFail, "prices", err.Error(), hintOf(err)}
	}
	return table, finding{Level: levelOK, What: "prices", Detail: "of " + table.Date}
}

func (o *doctorOptions) eval(file string, cat *catalog.Catalog) (*eval.Eval, finding) {
	ev, err := readEval(file)
	doubts := 0
	if err == nil && cat != nil {
		doubts, err = lintForRun(cat, ev)
	}
	if err != nil {
		return nil, finding{levelFail, "eval", err.Error(), hintOf(err)}
	}
	if doubts > 0 {
		return ev, finding{levelWarn, "eval", fmt.Sprintf("%s: %d problems of prompts", ev.Name, doubts), "firstpick lint " + file + " lists them"}
	}
	return ev, finding{Level: levelOK, What: "eval", Detail: fmt.Sprintf("%s: %d trials", ev.Name, ev.Trials())}
}

// programs checks the dependencies of agent CLIs.
func (o *doctorOptions) programs(ctx context.Context, ev *eval.Eval) []finding {
	if !slices.ContainsFunc(ev.Agents, func(a eval.Agent) bool { return a.IsProgram() }) {
		return nil
	}
	git := finding{Level: levelOK, What: "git"}
	var err error
	if git.Detail, err = exec.LookPath("git"); err != nil {
		git = finding{levelWarn, "git", "not found; the projects of agents will not be git repositories", "install git"}
	}
	out := []finding{git, o.sandboxFinding(ctx)}
	if mb := memoryCapMB(); mb > 0 {
		out = append(out, finding{Level: levelOK, What: "memory", Detail: fmt.Sprintf("%d MB for programs", mb)})
	}
	return out
}

func (o *doctorOptions) sandboxFinding(ctx context.Context) finding {
	const what = "sandbox"
	data, err := filepath.Abs(o.cfg.Data)
	if err != nil {
		return finding{levelFail, what, err.Error(), ""}
	}
	root := filepath.Join(data, "work", "doctor-"+strings.ToLower(o.env.NewID()))
	box, err := o.sandbox(ctx, root, []string{data})
	if err = errors.Join(err, os.RemoveAll(root)); err != nil {
		return finding{levelFail, what, err.Error(), cmp.Or(hintOf(err), "--sandbox chooses another")}
	}
	if warning := box.Warning(); warning != "" {
		return finding{levelWarn, what, warning, "install bubblewrap, or name a container: --sandbox docker:IMAGE"}
	}
	return finding{Level: levelOK, What: what, Detail: box.Describe()}
}

// workspacePrograms says whether workers here run programs of workspaces.
func (o *doctorOptions) workspacePrograms(ctx context.Context) finding {
	f := o.sandboxFinding(ctx)
	f.What = "programs of workspaces"
	if f.Level == levelWarn && o.cfg.Sandbox != sandboxOff {
		f.Level, f.Detail = levelFail, "workers refuse them: "+f.Detail
	}
	return f
}

// askLimit bounds the question of --ask to a model; programs have limits of their own.
const askLimit = 5 * time.Minute
