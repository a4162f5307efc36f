package evalwork

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/study"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/redact"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/store/state"
)

// A job is a claimed run, in the hands of a worker.
type job struct {
	w     *Worker
	row   *state.EvalRun
	began time.Time // by this worker
	log   *slog.Logger
	meter *meter
	keys  *redact.Redactor // knows the workspace's provider keys, once they are read

	pushed  *state.Upload    // of a pushed run, once it is read
	source  []byte           // the eval
	digest  string           // of its meaning
	own     []byte           // the own catalogue of the workspace when the run was started; may be empty
	catalog *catalog.Catalog // the worker's with own on it; nil until execute has it
	secrets map[string]state.BoundSecret
}

// A verdict is a permanent reason why a run cannot be executed.
type verdict struct{ note string }

func (v *verdict) Error() string { return v.note }

// errStopped means that the worker must give the run back before it has ended.
var errStopped = errors.New("the run is to be given back")

// runJob works on a run until it ends, is taken over, or is given back soon after ctx
// ends.
func (w *Worker) runJob(ctx context.Context, row *state.EvalRun) {
	w.Counts.started()
	j := &job{w: w, row: row, began: w.Now(), meter: &meter{counts: w.Counts}, keys: redact.New(), log: w.Log.With("run", row.ID, "workspace", row.WorkspaceID, "attempt", row.Attempt)}
	j.meter.latest = runner.Status{
		Planned: row.Planned, Valid: row.Valid, Excluded: row.Excluded,
		SpentUSD: dollars(row.SpentMicros), ReservedUSD: dollars(row.AtMostMicros - row.SpentMicros),
	}
	defer j.removeErased(context.WithoutCancel(ctx))
	// The run's own context outlives the worker's: attempts in flight may finish.
	work, leave := context.WithCancelCause(context.WithoutCancel(ctx))
	defer leave(nil)
	k := &renewer{job: j}
	end, err := j.run(ctx, work, leave, k)
	switch {
	case errors.Is(context.Cause(work), state.ErrLeaseLost), errors.Is(context.Cause(work), errLeaseExpired), errors.Is(err, state.ErrLeaseLost):
		w.Counts.ended(lost)
		j.log.Warn("run lost to another worker", "err", cmp.Or(context.Cause(work), err))
		return
	case errors.Is(err, errStopped):
		note := ""
		if over := (*turnOverError)(nil); errors.As(context.Cause(ctx), &over) {
			note = over.Error()
		}
		j.giveBack(work, note)
		j.log.Info("run given back", "note", note)
		return
	}
	if err == nil {
		err = j.finish(work, *end)
	}
	if err != nil && !errors.Is(err, state.ErrLeaseLost) {
		j.trouble(work, err)
	}
}

// removeErased deletes what this worker wrote of a run that was erased meanwhile.
func (j *job) removeErased(ctx context.Context) {
	if _, err := j.w.DB.Read().Run(ctx, j.row.WorkspaceID, j.row.ID); !errors.Is(err, state.ErrNotFound) {
		return
	}
	if err := os.RemoveAll(filepath.Join(j.w.runsRoot(j.row.WorkspaceID), j.row.ID)); err != nil {
		j.log.Warn("the files of an erased run stay", "err", err)
	}
}

// run carries the run out and returns how it ends.
func (j *job) run(ctx, work context.Context, leave context.CancelCauseFunc, k *renewer) (*ending, error) {
	if ctx.Err() != nil {
		return nil, errStopped
	}
	if err := j.load(work); err != nil {
		return nil, err
	}
	if err := k.begin(work); err != nil {
		return nil, err
	}
	j.log.Info("run started")
	stop := newStopper(ctx, k.order)
	keeping, done := context.WithCancel(work)
	var background sync.WaitGroup
	background.Go(func() { k.keep(keeping, leave, stop.cancel) })
	background.Go(func() { j.limit(keeping, stop) })
	defer func() { done(); background.Wait() }() // wait, so that only this goroutine touches the row's end
	end, err := j.execute(work, stop)
	var never *verdict
	if errors.As(err, &never) {
		end, err = &ending{status: state.RunFailed, note: clip(string(j.clean([]byte(never.note))), maxNote)}, nil
	}
	if err != nil {
		return nil, err
	}
	return end, j.bundle(work, end)
}

// load reads the eval and the keys.
func (j *job) load(ctx context.Context) error {
	tx := j.w.DB.Read()
	v, err := tx.EvalVersion(ctx, j.row.WorkspaceID, j.row.EvalID, j.row.Version)
	if err != nil {
		return fmt.Errorf("version %d of eval %s: %w", j.row.Version, j.row.EvalID, err)
	}
	j.source, j.digest = v.Source, v.Digest
	if j.row.Catalog > 0 {
		own, err := tx.CatalogVersion(ctx, j.row.WorkspaceID, j.row.Catalog)
		if err != nil {
			return fmt.Errorf("version %d of the catalogue of %s: %w", j.row.Catalog, j.row.WorkspaceID, err)
		}
		j.own = own.Source
	}
	if j.secrets, err = tx.ProviderSecrets(ctx, j.row.WorkspaceID); err != nil {
		return fmt.Errorf("provider keys: %w", err)
	}
	var secrets []string
	for _, s := range j.secrets {
		secrets = append(secrets, string(s.Secret))
	}
	j.keys = redact.New(secrets...)
	return nil
}

// clean redacts the workspace's keys in a text.
func (j *job) clean(text []byte) []byte { return j.keys.Bytes(text) }

// execute executes the rest of the run's journal.
func (j *job) execute(ctx context.Context, stop *stopper) (*ending, error) {
	merged, err := overlay(j.w.Catalog, j.own)
	if err != nil {
		return nil, &verdict{fmt.Sprintf("Version %d of the workspace's own catalogue does not fit the catalogue of this server any more: %s", j.row.Catalog, joinIssues(issuesOf(err)))}
	}
	j.catalog = merged
	if j.row.Tries() > lastAttempt {
		return nil, &verdict{fmt.Sprintf("The run was started %d times, and its workers never finished it. The operator's log has details.", j.row.Tries())}
	}
	// Another worker's may have it, unless the workspace itself removed it.
	if _, ok := merged.Category(j.row.Category); !ok && j.row.Catalog == 0 {
		return nil, fmt.Errorf("this worker's catalogue has no category %q", j.row.Category)
	}
	if j.row.Origin == state.OriginPushed {
		return j.verify(ctx, stop)
	}
	checker := &Checker{Catalog: merged, Prices: j.w.Prices, Policy: j.w.Policy}
	ev, keys, _, issues := checker.read(j.source)
	if len(issues) > 0 {
		return nil, &verdict{"The eval cannot be run any more: " + joinIssues(issues)}
	}
	jour, err := j.open(ev)
	if err != nil {
		return nil, err
	}
	sum, err := j.settle(ctx, stop, jour, slices.Sorted(maps.Keys(keys)))
	if err = errors.Join(err, jour.Close()); err != nil {
		return nil, err
	}
	j.final(sum)
	return j.judge(jour.Run(), sum, stop)
}

// settle finishes every remaining trial as far as possible.
func (j *job) settle(ctx context.Context, stop *stopper, jour *journal.Journal, keys []string) (runner.Summary, error) {
	run := jour.Run()
	done, err := runner.Replay(j.w.runsRoot(j.row.WorkspaceID), run.ID)
	if err != nil {
		return runner.Summary{}, err
	}
	j.meter.begin(run.Planned, done)
	if stop.cancelled() && len(done.Answered) == 0 { // before this worker made an attempt
		return settled(run, done), nil
	}
	return j.ask(ctx, stop, jour, done, keys)
}

// settled returns the summary of a run without further attempts.
func settled(run journal.Run, p runner.Progress) runner.Summary {
	return runner.Summary{
		RunID: run.ID, Planned: run.Planned, Valid: len(p.Valid), Excluded: len(p.Excluded), Missing: run.Planned - len(p.Valid) - len(p.Excluded),
		SpentUSD: p.SpentUSD, AtMostUSD: p.SpentUSD + p.LostUSD,
	}
}

// joinIssues joins the issues of an eval into a sentence.
func joinIssues(issues []evals.Issue) string {
	var out []string
	for _, i := range issues[:min(len(issues), 3)] {
		if i.Line > 0 {
			i.Message = fmt.Sprintf("line %d: %s", i.Line, i.Message)
		}
		out = append(out, i.Message)
	}
	if more := len(issues) - len(out); more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, "; ") + "."
}

// open opens or creates the run's journal. If an earlier journal is lost, its cost in
// the row stays on the bill.
func (j *job) open(ev *eval.Eval) (*journal.Journal, error) {
	root := j.w.runsRoot(j.row.WorkspaceID)
	opened, err := journal.Open(root, j.row.ID)
	if !errors.Is(err, os.ErrNotExist) {
		return opened, err
	}
	run := journal.Run{
		ID: j.row.ID, Eval: *ev, Planned: ev.Trials(), CreatedAt: j.row.CreatedAt, Synthetic: ev.Synthetic(),
		Catalog: j.catalog.Version, Extractor: pick.Version,
	}
	if run.Notes, err = study.Notes(j.w.Files, ev.Studies()...); err != nil {
		return nil, err
	}
	if j.row.AtMostMicros > 0 {
		run.Before = &journal.Money{SpentUSD: dollars(j.row.SpentMicros), AtMostUSD: dollars(j.row.AtMostMicros)}
		j.log.Warn("the run's journal is lost: starting over with the rest of its budget", "at_most_usd", run.Before.AtMostUSD)
	}
	return journal.Create(root, run)
}
