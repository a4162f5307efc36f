package progress

import (
	"time"

	"github.com/firstpick/firstpick/runner"
)

// A Remote is the state of a run on a server, with fewer fields than a local run.
type Remote struct {
	// Phase is the status of the run, such as queued or running.
	Phase                              string
	Planned, Valid, Excluded, InFlight int
	// SpentUSD is the known cost, AtMostUSD adds the possible rest.
	SpentUSD, AtMostUSD, BudgetUSD float64
	// Since is when it began; the zero time where it has not.
	Since time.Time
	// Ended says that nothing more comes.
	Ended bool
	Lanes []RemoteLane
}

// A RemoteLane is a lane of such a run.
type RemoteLane struct{ Name, Phase, Reason string }

// Show shows the state of a run on a server.
func (v *View) Show(r Remote) error {
	now := v.cfg.Now()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tally.state(&r, now)
	if v.lines != nil {
		return v.lines.state(v.tally, now)
	}
	if !r.Ended {
		v.show(now)
	}
	return nil
}

// state takes over what a server knows of a run.
func (t *tally) state(r *Remote, now time.Time) {
	t.remote, t.phase, t.started = true, r.Phase, r.Since
	t.run.Planned, t.done, t.excluded = r.Planned, r.Valid, r.Excluded
	if r.Ended && t.ended.IsZero() {
		t.ended = now
	}
	t.status = &runner.Status{
		Planned: r.Planned, Valid: r.Valid, Excluded: r.Excluded, InFlight: r.InFlight,
		SpentUSD: r.SpentUSD, ReservedUSD: max(0, r.AtMostUSD-r.SpentUSD), CapUSD: r.BudgetUSD, SpentKnown: true,
	}
	for _, l := range r.Lanes {
		t.status.Lanes = append(t.status.Lanes, runner.LaneStatus{Name: l.Name, Phase: l.Phase, Reason: l.Reason})
	}
}
