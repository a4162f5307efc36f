package operator

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/firstpick/firstpick/server/auth/session"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/kit/chart"
)

const snapshotsPath = home + "/snapshots"

const maxID = 100 // bytes of a snapshot's id

// Snapshots are the published snapshots. The operator's pages do not know where they are.
type Snapshots interface {
	// List returns the snapshots, newest first, and the id of the current one, also along with
	// an error about those that cannot be read.
	List(ctx context.Context) (list []Snapshot, current string, err error)
	// Promote verifies a snapshot and makes it the current one, if before still is: a
	// *Refusal says why not.
	Promote(ctx context.Context, id, before string) error
	// Command returns the command that promotes a snapshot in a terminal.
	Command(id string) string
}

// A Snapshot is a published snapshot.
type Snapshot struct {
	ID              string
	CreatedAt       time.Time // when it was published
	AsOf            time.Time // of its data; zero for unknown
	Boards, Trials  int
	Synthetic       bool
	Signed, Current bool
	Retracted       string // the reason; empty without a retraction
}

// A Refusal is why a snapshot is not promoted.
type Refusal struct { //nolint:errname // it is an answer first
	Text string
	// Elsewhere is set where another process may be able to promote it.
	Elsewhere bool
}

// Error implements error.
func (r *Refusal) Error() string { return r.Text }

type snapshotsData struct {
	Page    page
	Missing bool   // this server does not know the published snapshots
	Unread  string // why some are not listed
	Current *snapshotRow
	Pointer string // the id of the current snapshot
	Behind  bool   // this server serves another one
	Served  string
	Back    *snapshotRow // that a roll back promotes
	Rows    []snapshotRow
	More    int // that are not listed
	Command string
}

type snapshotRow struct {
	ID, Published, AsOf string
	Size                string // boards and trials
	Synthetic, Signed   bool
	Current, Served     bool
	Retracted           string
}

// snapshots lists the published snapshots, newest first.
func (h *Handler) snapshots(v *layout.Visit, status int, wrong problem) error {
	d := snapshotsData{Page: h.page(v, "Snapshots", wrong), Missing: h.Snapshots == nil}
	if v.R.Method == http.MethodGet && v.R.URL.Query().Has("done") {
		d.Page.Notice = "Promoted. Servers serve it within seconds."
	}
	if !d.Missing {
		list, current, err := h.Snapshots.List(v.R.Context())
		if err != nil {
			if v.R.Context().Err() != nil {
				return err
			}
			d.Unread = err.Error()
		}
		h.fillSnapshots(v.R.Context(), &d, list, current)
	}
	h.Pages.Show(v.W, status, "operator-snapshots", "Snapshots · Operator", d)
	return nil
}

func (h *Handler) fillSnapshots(ctx context.Context, d *snapshotsData, list []Snapshot, current string) {
	d.Pointer, d.Served = current, h.Health(ctx).Snapshot
	d.Behind = d.Pointer != d.Served
	d.Command = h.Snapshots.Command("ID")
	older := false // than the current one
	for _, s := range list {
		row := snapshotRow{
			ID: s.ID, Published: s.CreatedAt.UTC().Format(minute), AsOf: "unknown", Size: chart.Count(s.Boards, "board", "boards") + " · " + chart.Count(s.Trials, "trial", "trials"),
			Synthetic: s.Synthetic, Signed: s.Signed, Current: s.ID == current, Served: s.ID == d.Served, Retracted: s.Retracted,
		}
		if !s.AsOf.IsZero() {
			row.AsOf = s.AsOf.UTC().Format(minute)
		}
		if older && d.Back == nil && s.Retracted == "" {
			back := row
			d.Back = &back
		}
		if row.Current {
			older = true
			now := row
			d.Current = &now
		}
		if len(d.Rows) < shown {
			d.Rows = append(d.Rows, row)
		} else {
			d.More++
		}
	}
}

// promote makes a snapshot the current one: a newer one, or an older one to roll back. The
// form names the snapshot that was current when the page was made: of two operators who
// decide at the same time, the second sees what the first did.
func (h *Handler) promote(v *layout.Visit) error {
	if h.Snapshots == nil {
		return h.snapshots(v, http.StatusUnprocessableEntity, problem{Text: "This server cannot promote snapshots."})
	}
	id, before := v.R.PostFormValue("snapshot"), v.R.PostFormValue("current")
	if id == "" || len(id) > maxID || len(before) > maxID {
		return h.snapshots(v, http.StatusUnprocessableEntity, problem{Text: "Choose a snapshot of the list."})
	}
	ctx, cancel, err := whole(v)
	if err != nil {
		return err
	}
	defer cancel()
	detail := map[string]string{"snapshot": id, "before": before}
	// First the audit log: a promotion that it does not hold cannot happen.
	if err := h.Agents.AuditOperator(ctx, v.Operator(), "operator.promotion", detail); err != nil {
		return h.Agents.DB.APIError(err)
	}
	err = h.Snapshots.Promote(ctx, id, before)
	var refused *Refusal
	switch {
	case errors.As(err, &refused):
	case err != nil:
		h.Pages.Log.Error("a snapshot is not promoted", "id", id, "err", err)
		refused = &Refusal{Text: err.Error(), Elsewhere: true}
	default:
		session.See(v.W, v.R, address(snapshotsPath, "done", "promoted"))
		return nil
	}
	if err := h.Agents.AuditOperator(ctx, v.Operator(), "operator.promotion_refused", detail); err != nil {
		return h.Agents.DB.APIError(err)
	}
	wrong := problem{Text: "Not promoted: " + refused.Text}
	if refused.Elsewhere {
		wrong.Command = h.Snapshots.Command(id)
	}
	return h.snapshots(v, http.StatusConflict, wrong)
}
