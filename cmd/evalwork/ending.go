package evalwork

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/publish/bundle"
	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/store/state"
)

const (
	// maxAttempts limits the attempts at a run that only meets trouble. Attempts that
	// gave the run back in order do not count.
	maxAttempts = 25
	// pushedAttempts limits the attempts at a pushed run: a worker only reads it.
	pushedAttempts = 8
	// lastAttempt limits all attempts: the run may be crashing its workers.
	lastAttempt = 100
	// Waits after trouble double from firstWait up to longestWait.
	firstWait   = 2 * time.Second
	longestWait = 5 * time.Minute
	maxNote     = 500 // characters
)

// An ending is how a run ends.
type ending struct {
	status string // see state.RunOutcome
	note   string
	bundle string
}

// final stores the final numbers of a run without attempts in flight.
func (j *job) final(sum runner.Summary) {
	j.meter.mu.Lock()
	defer j.meter.mu.Unlock()
	s := &j.meter.latest
	was := *s
	s.Planned, s.Valid, s.Excluded, s.InFlight = sum.Planned, sum.Valid, sum.Excluded, 0
	s.SpentUSD, s.ReservedUSD = sum.SpentUSD, max(0, sum.AtMostUSD-sum.SpentUSD)
	j.meter.counts.advance(was, *s)
}

// judge decides how a run ends. A stop request after the last attempt changes nothing.
func (j *job) judge(run journal.Run, sum runner.Summary, stop *stopper) (*ending, error) {
	end := &ending{status: state.RunDone}
	switch {
	case sum.Missing > 0 && stop.cancelled():
		end.status, end.note = state.RunCancelled, stop.note
		return end, nil
	case sum.Missing > 0 && sum.Stopped == runner.StoppedInterrupted && !stop.expired():
		return nil, errStopped
	}
	why := j.why(sum)
	if sum.Missing > 0 && stop.expired() {
		why = stop.over
	}
	switch {
	case sum.Valid == 0:
		end.status, end.note = state.RunFailed, "No trial has an answer. "+why
	case sum.Missing > 0:
		end.note = fmt.Sprintf("%d of %d trials have no answer. %s", sum.Missing, sum.Planned, why)
	}
	if run.Before != nil {
		end.note = strings.TrimSpace(fmt.Sprintf("%s The journal of an earlier worker was lost, so the run started over; its earlier cost, up to %s USD, counts.", end.note, usd(run.Before.AtMostUSD)))
	}
	end.note = clip(string(j.clean([]byte(end.note))), maxNote)
	return end, nil
}

// why returns the most frequent reason for missing trials, in full if a lane has the
// details.
func (j *job) why(sum runner.Summary) string {
	if sum.Stopped == runner.StoppedBudget {
		return fmt.Sprintf("The budget of %s USD was reached.", usd(dollars(j.row.BudgetMicros)))
	}
	most := ""
	for _, reason := range slices.Sorted(maps.Keys(sum.Reasons)) {
		if most == "" || sum.Reasons[reason] > sum.Reasons[most] {
			most = reason
		}
	}
	if most == "" {
		return ""
	}
	full := most
	for _, l := range j.meter.read().Lanes {
		if l.Reason == most || strings.HasPrefix(l.Reason, most+": ") {
			full = l.Reason
		}
	}
	return fmt.Sprintf("Main reason (%d trials): %s.", sum.Reasons[most], strings.TrimRight(full, "."))
}

func usd(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// clip shortens a text to a number of characters.
func clip(text string, most int) string {
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	return string(r[:most-1]) + "…"
}

// bundle writes the result bundle of the run's journal. A run without finished trials
// has none. If writing may be crashing the workers, it is tried once more and then
// skipped.
func (j *job) bundle(ctx context.Context, end *ending) error {
	if j.row.Tries() > lastAttempt+1 || j.catalog == nil {
		return nil
	}
	if s := j.meter.read(); s.Valid+s.Excluded == 0 {
		return nil
	}
	root, id := j.w.runsRoot(j.row.WorkspaceID), j.row.ID
	if j.pushed != nil {
		root, id = PushedRoot(j.w.Data, j.row.WorkspaceID, id), j.pushed.LocalRun
	}
	if _, err := journal.ReadRun(root, id); errors.Is(err, os.ErrNotExist) {
		return nil // the row has the counts of a lost journal
	}
	m, err := bundle.Write(ctx, bundle.Input{
		RunsRoot: root, RunID: id, Catalog: j.catalog, Own: len(j.own) > 0,
		Root: BundlesRoot(j.w.Bundles, j.row.WorkspaceID), Generator: j.w.Generator,
	})
	if err != nil {
		return err
	}
	if j.w.Shared != nil {
		if err := bundle.Copy(ctx, j.w.Shared, storage.Folder(j.w.Bundles), j.row.WorkspaceID, m.ID); err != nil {
			return err
		}
	}
	end.bundle = m.ID
	return nil
}

// finish ends the row with its last events, all or nothing.
func (j *job) finish(ctx context.Context, end ending) error {
	s, now := j.meter.read(), j.w.Now()
	p := j.progress(s)
	err := j.w.DB.Write(ctx, func(tx *state.Tx) error {
		if _, err := tx.RenewLease(ctx, j.row.Lease(), now, j.w.Lease, p); err != nil {
			return err
		}
		events := [][]byte{j.clean(body(newProgressEvent(s))), body(evals.EndedEvent{Type: evals.EventEnded, Status: end.status, Note: end.note})}
		if err := appendEvents(ctx, tx, j.row.ID, now, events...); err != nil {
			return err
		}
		return tx.FinishRun(ctx, j.row.Lease(), now, state.RunOutcome{Status: end.status, RunProgress: p, Bundle: end.bundle, Failure: end.note})
	})
	if err == nil {
		j.w.Counts.ended(end.status)
		j.log.Info("run ended", "status", end.status, "valid", p.Valid, "planned", p.Planned, "spent_usd", s.SpentUSD, "note", end.note)
	}
	return err
}

// trouble gives back a run that this worker cannot continue, for another worker or a
// later try.
func (j *job) trouble(ctx context.Context, cause error) {
	most := maxAttempts
	if j.row.Origin == state.OriginPushed {
		most = pushedAttempts
	}
	if j.row.Tries() >= most && !errors.Is(cause, journal.ErrBusy) {
		j.log.Error("run failed after too many attempts", "attempts", j.row.Tries(), "err", j.cleanError(cause))
		err := j.finish(ctx, ending{
			status: state.RunFailed,
			note:   fmt.Sprintf("The run failed after %d attempts. The operator's log has the reason.", j.row.Tries()),
		})
		if err == nil || errors.Is(err, state.ErrLeaseLost) {
			return
		}
		cause = err
	}
	wait := firstWait << min(max(0, j.row.Tries()-1), 10)
	wait = min(wait, longestWait)
	j.log.Error("run given back: this worker cannot continue it", "retry_in", wait.String(), "err", j.cleanError(cause))
	j.release(ctx, func(tx *state.Tx, now time.Time, p state.RunProgress) error {
		_, err := tx.RenewLease(ctx, j.row.Lease(), now, wait, p)
		return err
	})
}

// cleanError keeps provider keys out of the log.
func (j *job) cleanError(err error) string { return j.keys.Text(err.Error()) }

// giveBack gives the run back for an immediate restart, with a note on why it waits.
func (j *job) giveBack(ctx context.Context, note string) {
	j.release(ctx, func(tx *state.Tx, now time.Time, p state.RunProgress) error {
		return tx.ReleaseRun(ctx, j.row.Lease(), now, p, note)
	})
}

// release gives the run back. If the store cannot be reached, the lease expires by
// itself.
func (j *job) release(ctx context.Context, update func(*state.Tx, time.Time, state.RunProgress) error) {
	now := j.w.Now()
	j.w.Counts.ended(givenBack)
	err := j.w.DB.Write(ctx, func(tx *state.Tx) error { return update(tx, now, j.progress(j.meter.read())) })
	if err != nil && !errors.Is(err, state.ErrLeaseLost) {
		j.log.Warn("giving the run back failed; its lease will expire", "err", err)
	}
}
