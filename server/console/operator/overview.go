package operator

import (
	"net/http"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/store/state"
)

const (
	// failedDays is how many days the tile of failed runs covers.
	failedDays = 7
	lowDisk    = 1 << 30 // bytes
	// manyTries is how many tries of a mail show that the mail server rejects it.
	manyTries = 3
)

type overviewData struct {
	Page   page
	Tiles  []tile
	Health []condition
	Queue  []runRow
	More   int // runs in the queue that are not listed
	Failed []runRow
	Counts []count
}

// A tile is a number at the top of the page.
type tile struct{ Name, Link, Value, Note string }

// A condition is a line of the table of health.
type condition struct {
	Name, State, Note string
	Bad               bool
}

type runRow struct {
	ID, Slug     string
	Status, Look string
	Age, Lease   string
	Attempts     int
	Trials       string
	Ended        string
}

type count struct{ Name, Value, Note string }

func (h *Handler) overview(v *layout.Visit) error {
	ctx, tx, now := v.R.Context(), h.Agents.DB.Read(), h.Sessions.Now()
	totals, err := tx.Totals(ctx, now.AddDate(0, 0, -failedDays))
	if err != nil {
		return h.Agents.DB.APIError(err)
	}
	queue, err := tx.QueueStats(ctx, now)
	if err != nil {
		return h.Agents.DB.APIError(err)
	}
	open, err := tx.OpenRuns(ctx, shown)
	if err != nil {
		return h.Agents.DB.APIError(err)
	}
	failed, err := tx.LastFailures(ctx, shown/5)
	if err != nil {
		return h.Agents.DB.APIError(err)
	}
	health := h.Health(ctx)
	d := overviewData{
		Page: h.page(v, "Overview", problem{}), Health: conditions(health, &totals, queue, now), Counts: counts(&totals, now),
		More: max(0, queue.Queued+queue.Running+queue.Abandoned-len(open)),
	}
	d.Tiles = tiles(d.Health, health, &totals, queue, now)
	for _, r := range open {
		d.Queue = append(d.Queue, rowOf(r, now))
	}
	for _, r := range failed {
		d.Failed = append(d.Failed, rowOf(r, now))
	}
	h.Pages.Show(v.W, http.StatusOK, "operator", "Operator", d)
	return nil
}

func rowOf(r *state.RunLine, now time.Time) runRow {
	row := runRow{
		ID: r.ID, Slug: r.Slug, Status: r.Status, Age: age(now.Sub(r.CreatedAt)), Attempts: r.Attempt,
		Trials: chart.Whole(int64(r.Valid)) + " of " + chart.Whole(int64(r.Planned)),
	}
	switch {
	case r.Status == state.RunRunning && !r.LeaseUntil.After(now):
		row.Status, row.Look, row.Lease = "abandoned", "maybe", "expired "+ago(now.Sub(r.LeaseUntil))+", of "+r.LeaseOwner
	case r.Status == state.RunRunning:
		row.Lease = r.LeaseOwner + ", for " + age(r.LeaseUntil.Sub(now))
	case r.Status == state.RunQueued && r.LeaseUntil.After(now):
		row.Lease = "in " + age(r.LeaseUntil.Sub(now))
	}
	if !r.EndedAt.IsZero() {
		row.Ended = ago(now.Sub(r.EndedAt))
	}
	return row
}

// conditions returns the table of health, in a fixed order.
func conditions(health Health, totals *state.Totals, queue state.QueueStats, now time.Time) []condition {
	list := []condition{{Name: "Snapshot", State: "served", Note: "Pages and the API serve it."}}
	snapshot := &list[0]
	switch {
	case health.Snapshot == "":
		*snapshot = condition{Name: "Snapshot", State: "none", Note: "The read API answers 503 until a snapshot is published.", Bad: true}
	case health.Retracted != "":
		snapshot.State, snapshot.Note, snapshot.Bad = "retracted", "Promote another one: "+health.Retracted, true
	case health.Synthetic:
		snapshot.State, snapshot.Note, snapshot.Bad = "synthetic", "Its answers come from simulated agents.", true
	case !health.AsOf.IsZero():
		snapshot.Note = "Its data are " + age(now.Sub(health.AsOf)) + " old."
	}
	store := condition{Name: "Store", State: health.Store, Note: "It takes reads and writes (" + health.Engine + ").", Bad: health.Store != "ok"}
	switch health.Store {
	case "read-only":
		store.Note = "It takes no writes: look at its disk (" + health.Engine + ")."
	case "down":
		store.Note = "It does not answer (" + health.Engine + ")."
	}
	disk := condition{Name: "Disk", State: "unknown", Note: "The free space of the data folder is not known on this system."}
	if health.FreeDisk >= 0 {
		disk.State, disk.Bad, disk.Note = gigabytes(health.FreeDisk)+" free", health.FreeDisk < lowDisk, "In the data folder."
	}
	limits := condition{Name: "Rate limits", State: "on", Note: "Requests are limited by address and account."}
	if health.LimitsOff {
		limits.State, limits.Note, limits.Bad = "off", "Only for load tests.", true
	}
	workers := condition{Name: "Workers", State: "idle", Note: "No run is queued."}
	switch {
	case !health.Evals:
		workers.State, workers.Note = "off", "This server has no evals of workspaces."
	case queue.Abandoned > 0 && queue.Running == 0:
		workers.State, workers.Note, workers.Bad = "missing", "Runs lost their worker, and no worker takes them. Start firstpick worker.", true
	case queue.Running > 0:
		workers.State, workers.Note = "running", chart.Count(queue.Running, "run has", "runs have")+" a worker."
	case queue.Queued > 0:
		workers.State, workers.Note, workers.Bad = "waiting", "No run has a worker. Start firstpick worker, or the server with --with-worker.", queue.OldestWait > time.Minute
	}
	mail := condition{Name: "Mail", State: "sent", Note: "No mail waits."}
	if totals.Mail > 0 {
		mail.State, mail.Note, mail.Bad = chart.Whole(int64(totals.Mail))+" waiting", "At most "+chart.Whole(int64(totals.MailTries))+" tries of one mail.", totals.MailTries >= manyTries
	}
	erasures := condition{Name: "Erasures", State: "complete", Note: "No erasure waits."}
	if totals.Erasures > 0 {
		erasures.State, erasures.Note = chart.Whole(int64(totals.Erasures))+" waiting", "Rows are deleted once runs under way have stopped."
	}
	version := condition{Name: "Version", State: health.Version, Note: "Of this server."}
	if version.State == "" {
		version.State = "unknown"
	}
	return append(list, store, disk, workers, mail, erasures, limits, version)
}

func tiles(list []condition, health Health, totals *state.Totals, queue state.QueueStats, now time.Time) []tile {
	var bad []string
	for _, c := range list {
		if c.Bad {
			bad = append(bad, c.Name)
		}
	}
	status := tile{Name: "Health", Link: "#health", Value: "Good", Note: "no problem found"}
	if len(bad) > 0 {
		status.Value, status.Note = chart.Count(len(bad), "problem", "problems"), strings.Join(bad, ", ")
	}
	data := tile{Name: "Age of the data", Link: "#health", Value: "–", Note: "not known"}
	switch {
	case health.Snapshot == "":
		data.Note = "no snapshot"
	case !health.AsOf.IsZero():
		data.Value, data.Note = age(now.Sub(health.AsOf)), "snapshot with "+chart.Count(health.Boards, "board", "boards")
	}
	return []tile{
		status, data,
		{Name: "Queued runs", Link: "#queue", Value: chart.Whole(int64(queue.Queued)), Note: chart.Whole(int64(queue.Running)) + " running, longest wait " + age(queue.OldestWait)},
		{Name: "Failed runs", Link: "#failed", Value: chart.Whole(int64(totals.Failed)), Note: "in " + chart.Count(failedDays, "day", "days")},
		{Name: "Workspaces", Link: "#counts", Value: chart.Whole(int64(totals.Workspaces)), Note: chart.Whole(int64(totals.Claimed)) + " claimed"},
		{Name: "Events", Link: "#counts", Value: chart.Whole(totals.Events), Note: "of the days that are kept"},
	}
}

func counts(t *state.Totals, now time.Time) []count {
	last := "none"
	if !t.EventsAt.IsZero() {
		last = "last " + ago(now.Sub(t.EventsAt))
	}
	return []count{
		{"Accounts", chart.Whole(int64(t.Accounts)), chart.Count(t.Operators, "operator", "operators")},
		{"Workspaces", chart.Whole(int64(t.Workspaces)), chart.Whole(int64(t.Claimed)) + " claimed, " + chart.Whole(int64(t.Paid)) + " paid"},
		{"Linked agents", chart.Whole(int64(t.Registrations)), "not revoked"},
		{"Events", chart.Whole(t.Events), last},
		{"Evals", chart.Whole(int64(t.Evals)), ""},
		{"Runs", chart.Whole(int64(t.Runs)), ""},
	}
}
