package runner

import (
	"context"
	"fmt"

	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/plan"
)

// A Proof is a run whose journal is whole: checksums are right, every record belongs to
// the plan, and every planned trial has one answer or is excluded.
type Proof struct {
	Run journal.Run
	Progress
	End journal.Offset // after the last record
}

// An UnprovenError says why a journal is not that of a whole run.
type UnprovenError struct {
	Reason string
	// Missing counts the planned trials without an answer or exclusion, if that is the reason.
	Missing int
}

// Error implements error.
func (e *UnprovenError) Error() string { return e.Reason }

// Prove reads the journal of a run of a whole eval and proves that it is whole. It fails with
// an *UnprovenError or a *journal.DamageError for a journal that is not, and with another
// error for one that cannot be read.
func Prove(ctx context.Context, root, id string) (*Proof, error) {
	run, err := journal.ReadRun(root, id)
	if err != nil {
		return nil, err
	}
	if reason := partial(&run); reason != "" {
		return nil, &UnprovenError{Reason: reason}
	}
	if err := run.Eval.CheckSize(); err != nil { // run.json may come from elsewhere
		return nil, &UnprovenError{Reason: "its eval has " + err.Error()}
	}
	planned := map[string]plan.Trial{}
	for _, t := range run.Trials() {
		planned[t.ID] = t
	}
	if run.Planned != len(planned) {
		return nil, &UnprovenError{Reason: fmt.Sprintf("its plan has %d trials, and run.json says %d", len(planned), run.Planned)}
	}
	p := &Proof{Run: run, Progress: NewProgress()}
	p.End, err = journal.Scan(root, id, journal.Offset{}, func(r journal.Record, next journal.Offset) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if reason := foreign(r, planned, p.Valid); reason != "" {
			return &UnprovenError{Reason: reason}
		}
		p.Add(r, next)
		return nil
	})
	if err != nil {
		return nil, err
	}
	p.Progress.End()
	if n := run.Planned - len(p.Valid) - len(p.Excluded); n > 0 {
		return nil, &UnprovenError{Reason: fmt.Sprintf("%d of %d planned trials have neither an answer nor an exclusion", n, run.Planned), Missing: n}
	}
	return p, nil
}

// partial says why a run is not a run of a whole eval; empty if it is.
func partial(run *journal.Run) string {
	switch {
	case run.Shard != nil:
		return fmt.Sprintf("it is shard %s of its eval; merge the shards first", run.Shard)
	case run.Imported:
		return "its answers were imported, so it has no plan"
	case run.Until != nil:
		return "a stopping rule decided how much of the eval it asked, which results of a server do not show"
	case run.Synthetic != run.Eval.Synthetic():
		return "its mark for simulated answers does not match its agents"
	}
	return ""
}

// foreign says why a record is not of the run; empty if it is.
func foreign(r journal.Record, planned map[string]plan.Trial, answered map[string]bool) string {
	for _, cost := range []*float64{r.CostUSD, r.AtMostUSD} {
		if cost != nil && *cost < 0 {
			return fmt.Sprintf("trial %s has a negative cost", r.Trial.ID)
		}
	}
	if r.Answer != nil && r.Answer.CostUSD != nil && *r.Answer.CostUSD < 0 {
		return fmt.Sprintf("trial %s has a negative cost", r.Trial.ID)
	}
	want := planned[r.Trial.ID]
	if r.Trial.Family == "" { // of an older program
		want.Family, want.Tags = "", r.Trial.Tags
	}
	switch {
	case r.Kind == journal.KindManifest && r.Manifest != nil:
		return ""
	case want != r.Trial || r.Trial.ID == "":
		return fmt.Sprintf("trial %q does not belong to its plan", r.Trial.ID)
	case r.Kind == journal.KindResult && answered[r.Trial.ID]:
		return fmt.Sprintf("trial %s has two answers", r.Trial.ID)
	case r.Kind == journal.KindResult && (r.Answer == nil || r.Result == nil):
		return fmt.Sprintf("trial %s has a result without an answer", r.Trial.ID)
	case r.Kind == journal.KindExtraction && r.Result == nil:
		return fmt.Sprintf("trial %s has an extraction without a result", r.Trial.ID)
	}
	return ""
}
