package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/cmd/runctl"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
)

// trials opens the trial store and brings it up to date with the journals, so
// that every acknowledged trial is read. Runs that
// cannot be read are named and passed over.
func (a *app) trials(ctx context.Context) (*trialstore.Store, error) {
	if info, err := os.Stat(a.cfg.Data); err == nil && !info.IsDir() {
		return nil, usageErr("--data must be the folder of the runs; .firstpick is the default", "data: %s is a file, not a folder", a.cfg.Data)
	}
	if _, err := os.Stat(a.runsRoot()); errors.Is(err, os.ErrNotExist) {
		return nil, usageErr("firstpick demo, or firstpick run EVAL.yaml", "no runs in %s", a.cfg.Data)
	} else if err != nil {
		return nil, badInput(fmt.Errorf("runs: %w", err))
	}
	store, err := trialstore.Open(ctx, a.trialsPath())
	if err != nil {
		return nil, err
	}
	if store.Replaced() {
		a.note("%s is incomplete (disk full or process killed); rebuilding it from the journals", a.trialsPath())
	}
	loaded, err := store.Sync(ctx, a.runsRoot())
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	for _, run := range loaded.Unreadable {
		a.log.Warn("run skipped: it cannot be read completely", "run", run.ID, "err", run.Err)
	}
	store.SetUnderWay(a.underWay(ctx))
	return store, nil
}

// underWay returns the runs that a process answers for.
func (a *app) underWay(ctx context.Context) (ids []string) {
	dirs, err := os.ReadDir(a.runsRoot())
	if err != nil {
		return nil
	}
	for _, d := range dirs {
		if runctl.Listening(ctx, filepath.Join(a.runsRoot(), d.Name())) {
			ids = append(ids, d.Name())
		}
	}
	return ids
}

// note prints a caveat on stderr.
func (a *app) note(format string, args ...any) {
	_, _ = fmt.Fprintf(a.env.Stderr, "note: "+format+"\n", args...)
}

// A selection is the runs that a command reads, in the order in which they were made.
type selection struct {
	runs []journal.Run
	rows []trialstore.RunRow // of the runs
	// newer are incomplete runs replaced by a complete one.
	newer []trialstore.RunRow
	// simulated are runs of simulated agents left out beside measured ones.
	simulated []trialstore.RunRow
	// labels are what people say of trials of the runs.
	labels []analytics.RunLabels
	// cutProjects asks for cuts by project.
	cutProjects bool
	// extracted counts the trials that people can check, by run; see Store.Extracted.
	extracted map[string]int
}

func (s selection) ids() []string {
	ids := make([]string, len(s.rows))
	for i, r := range s.rows {
		ids[i] = r.ID
	}
	return ids
}

// doubts returns the warnings of a category that its counts cannot show.
func (s selection) doubts(category string) []string {
	var out []string
	for i, r := range s.rows {
		if r.Category == category && r.Imported && !s.runs[i].PlanKnown {
			out = append(out, analytics.CoverageUnknown)
		} else if r.Category == category && !r.Complete {
			out = append(out, analytics.Incomplete)
		}
		if u := s.runs[i].Until; r.Category == category && u != nil && u.Stopped != nil {
			out = append(out, analytics.StoppedByRule)
		}
	}
	return out
}

// pool returns the evals of a category.
func (s selection) pool(category string) eval.Pool { return journal.Pool(s.runs, category) }

// families returns the families of a category's prompts, by their names in cells.
func (s selection) families(category string) map[string]string { return s.pool(category).Clusters() }

// currentRuns selects the runs that `rank` and `publish` read: the given ones, or the
// latest complete run of every eval and, where none is complete, the latest. An empty
// category is all of them. Without given runs, those of simulated agents are left out of a
// category that has others: one rate must not come from both.
func (a *app) currentRuns(ctx context.Context, store *trialstore.Store, given []string, category string) (selection, error) {
	return a.selectRuns(ctx, store, given, category, func(r trialstore.RunRow) bool { return r.Current })
}

// latestRuns selects the given runs, or the latest of every eval: `gate` must not pass
// by yesterday's run where today's was interrupted.
func (a *app) latestRuns(ctx context.Context, store *trialstore.Store, given []string, category string) (selection, error) {
	return a.selectRuns(ctx, store, given, category, func(r trialstore.RunRow) bool { return r.Latest })
}

func (a *app) selectRuns(ctx context.Context, store *trialstore.Store, given []string, category string, wanted func(trialstore.RunRow) bool) (s selection, err error) {
	rows, err := store.Runs(ctx)
	if err != nil {
		return s, err
	}
	chosen := make([]string, len(given))
	for i, start := range given {
		id, err := a.findRun(start)
		if err != nil {
			return s, err
		}
		if !slices.ContainsFunc(rows, func(r trialstore.RunRow) bool { return r.ID == id }) {
			return s, usageErr("firstpick runs lists them", "run %s has no answers yet", id)
		}
		chosen[i] = id
	}
	given = chosen
	chooses := func(row trialstore.RunRow) bool {
		chosen := slices.Contains(given, row.ID) || len(given) == 0 && wanted(row)
		return chosen && (category == "" || row.Category == category)
	}
	measured := map[string]bool{} // by category
	for _, row := range rows {
		measured[row.Category] = measured[row.Category] || !row.Synthetic && chooses(row)
	}
	for _, row := range rows {
		if !chooses(row) {
			continue
		}
		if row.Synthetic && measured[row.Category] && len(given) == 0 {
			s.simulated = append(s.simulated, row)
			continue
		}
		run, err := a.intactRun(row.ID)
		if err != nil {
			return s, err
		}
		s.rows, s.runs = append(s.rows, row), append(s.runs, run)
		set, err := a.labelFile(run.ID).Read()
		if err != nil {
			return s, badInput(err)
		}
		if set != nil && len(set.Labels) > 0 {
			s.labels = append(s.labels, analytics.ReadingsOf(set))
		}
	}
	if len(given) == 0 {
		s.newer = newerThan(s.rows, rows)
	}
	for _, row := range s.newer { // one that damage made incomplete is no reason to read an older one
		if _, err := a.intactRun(row.ID); err != nil {
			return s, err
		}
	}
	return s, nil
}

// intactRun reads the plan of a run and checks every record of it: numbers rest
// on the journal, not on the trial store.
func (a *app) intactRun(id string) (journal.Run, error) {
	run, err := journal.ReadRun(a.runsRoot(), id)
	if err != nil {
		return run, err
	}
	if run.Shard != nil {
		a.log.Warn("the run is one shard of its plan: merge it with the others", "run", id, "shard", run.Shard.String())
	}
	if err := journal.Verify(a.runsRoot(), id); err != nil {
		return run, &codedError{fmt.Errorf("run %s is damaged: %w", id, err), exitFailed, "--run RUN reads another run; firstpick runs lists them"}
	}
	return run, nil
}

// newerThan returns, for each chosen run, the latest run of its eval that was begun
// after it. rows are in the order of time.
func newerThan(chosen, rows []trialstore.RunRow) (newer []trialstore.RunRow) {
	for _, c := range chosen {
		at := slices.IndexFunc(rows, func(r trialstore.RunRow) bool { return r.ID == c.ID })
		for _, r := range slices.Backward(rows[at+1:]) {
			if r.Eval == c.Eval && r.Category == c.Category && r.Shard == "" {
				newer = append(newer, r)
				break
			}
		}
	}
	return newer
}

// explain says which incomplete and simulated runs were passed over, which are read although
// they are incomplete, and which weights do not apply.
func (a *app) explain(s selection) {
	for _, r := range s.newer {
		a.note("%s: skipped newer run %s of eval %s: %s; %s, or choose it with --run %s", r.Category, r.ID, r.Eval, howFar(r), a.howToFinish(r), r.ID)
	}
	for _, r := range s.simulated {
		a.note("%s: left out run %s of eval %s: its answers are simulated; --run %s reads it", r.Category, r.ID, r.Eval, r.ID)
	}
	for _, r := range s.rows {
		if !r.Complete {
			a.note("%s: run %s of eval %s is incomplete: %s; %s", r.Category, r.ID, r.Eval, howFar(r), a.howToFinish(r))
		}
	}
	var seen []string
	for _, r := range s.rows {
		if slices.Contains(seen, r.Category) {
			continue
		}
		seen = append(seen, r.Category)
		if _, err := s.pool(r.Category).Weights(); err != nil {
			a.note("%s: agents weigh equally, although an eval has weights: %v", r.Category, err)
		}
	}
}

// noteCatalogs names the runs whose answers were read with another catalogue than the one
// whose tools are ranked.
func (a *app) noteCatalogs(ctx context.Context, store *trialstore.Store, cat *catalog.Catalog, s selection) error {
	for _, r := range s.rows {
		version, err := store.Catalog(ctx, r.ID)
		if err != nil {
			return err
		}
		if version != "" && version != cat.Version {
			a.note("%s: the picks of run %s were read with another catalogue; firstpick extract diff %s shows what changes, firstpick extract --run %s reads them again", r.Category, r.ID, r.ID, r.ID)
		}
	}
	return nil
}

// noteNoRun says why there are no results although there may be runs.
func (a *app) noteNoRun() {
	_, _ = fmt.Fprintln(a.env.Stderr, "note: no run is measured yet; firstpick runs lists the runs, and firstpick merge joins shards")
}

// howFar says how much of its plan a run has.
func howFar(r trialstore.RunRow) string {
	share := 0.0
	if r.Planned > 0 {
		share = float64(r.Valid) / float64(r.Planned)
	}
	s := fmt.Sprintf("%d of %d planned trials have an answer (%s)", r.Valid, r.Planned, percent(share))
	if r.UnderWay {
		s += ", and it is still active"
	}
	return s
}

// howToFinish says how a run becomes complete.
func (a *app) howToFinish(r trialstore.RunRow) string {
	switch {
	case r.UnderWay:
		return "wait until it ends"
	case r.Shard != "":
		return "merge the shards with firstpick merge"
	case r.Imported:
		return "import a file that has the missing trials too"
	default:
		return "finish it with " + a.resumeCommand(r.ID, r.Planned-r.Valid-r.Excluded <= 0)
	}
}

// resumeCommand is the command that resumes a run. Where nothing is missing, only
// excluded trials can be retried.
func (a *app) resumeCommand(id string, excluded bool) string {
	s := fmt.Sprintf("firstpick run --resume %s --data %s", id, a.cfg.Data)
	if excluded {
		s += " --retry-excluded"
	}
	return s
}
