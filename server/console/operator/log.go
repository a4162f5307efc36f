package operator

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/store/state"
)

const logPath = home + "/log"

type logData struct {
	Page              page
	Workspace, Action string
	Rows              []logRow
	First, Older      string // addresses of pages; empty on the first and last
}

type logRow struct {
	When, Event, Workspace, Who string
	Detail                      []string
}

// log shows the audit log over all workspaces, newest first; ?workspace= and ?action= choose
// lines, ?before= a page.
func (h *Handler) log(v *layout.Visit) error {
	ctx, tx, given := v.R.Context(), h.Agents.DB.Read(), v.R.URL.Query()
	d := logData{Page: h.page(v, "Log", problem{}), Workspace: strings.TrimSpace(given.Get("workspace")), Action: strings.TrimSpace(given.Get("action"))}
	f := state.OperatorLog{WorkspaceID: d.Workspace, Action: d.Action, Limit: pageSize + 1}
	f.Before.At, f.Before.ID = parsePlace(given.Get("before"))
	if d.Workspace != "" { // an id, also of a workspace that is gone, is one that no slug has
		switch w, err := tx.WorkspaceBySlug(ctx, d.Workspace); {
		case err == nil:
			f.WorkspaceID = w.ID
		case !errors.Is(err, state.ErrNotFound):
			return h.Agents.DB.APIError(err)
		}
	}
	entries, err := tx.OperatorLog(ctx, &f)
	if err != nil {
		return h.Agents.DB.APIError(err)
	}
	if !f.Before.At.IsZero() {
		d.First = address(logPath, "workspace", d.Workspace, "action", d.Action)
	}
	if len(entries) > pageSize {
		entries = entries[:pageSize]
		last := &entries[pageSize-1]
		d.Older = address(logPath, "workspace", d.Workspace, "action", d.Action, "before", place(last.At, last.ID))
	}
	names := &names{tx: tx, slugs: map[string]string{}, emails: map[string]string{}}
	for i := range entries {
		row, err := names.row(ctx, &entries[i])
		if err != nil {
			return h.Agents.DB.APIError(err)
		}
		d.Rows = append(d.Rows, row)
	}
	h.Pages.Show(v.W, http.StatusOK, "operator-log", "Log · Operator", d)
	return nil
}

// names looks up the names of workspaces and accounts, each once.
type names struct {
	tx            *state.Tx
	slugs, emails map[string]string // by id; the id itself where the row is gone
}

func (n *names) row(ctx context.Context, e *state.AuditEntry) (logRow, error) {
	row := logRow{When: e.At.UTC().Format("2 Jan 2006, 15:04:05"), Event: e.Event}
	var err error
	if row.Workspace, err = lookUp(n.slugs, e.WorkspaceID, func(id string) (string, error) {
		w, err := n.tx.Workspace(ctx, id)
		if err != nil {
			return "", err
		}
		return w.Slug, nil
	}); err != nil {
		return row, err
	}
	email, err := lookUp(n.emails, e.AccountID, func(id string) (string, error) {
		a, err := n.tx.Account(ctx, id)
		if err != nil {
			return "", err
		}
		return a.Email, nil
	})
	if err != nil {
		return row, err
	}
	row.Who = actor(e, email)
	if e.ISS != "" {
		row.Detail = append(row.Detail, "issuer: "+e.ISS)
	}
	for _, name := range shownDetails() {
		if value := e.Detail[name]; value != "" {
			row.Detail = append(row.Detail, name+": "+value)
		}
	}
	return row, nil
}

// shownDetails returns the names of the details that operators see: ids, counts and choices
// of lists. Texts of customers, such as names of evals and hosts of keys, are the workspace's.
func shownDetails() []string {
	return []string{
		"attempt", "before", "billing_event", "budget_usd", "by", "changed", "channel", "eval", "events", "invitation", "invited_by", "key", "keys", "kid", "kind", "member",
		"monthly_budget_usd", "plan", "role", "run", "schedule", "scope", "scopes", "snapshot", "subscription", "version",
	}
}

// lookUp returns the name of an id, which it keeps in known.
func lookUp(known map[string]string, id string, find func(id string) (string, error)) (string, error) {
	if id == "" {
		return "", nil
	}
	if name, ok := known[id]; ok {
		return name, nil
	}
	name, err := find(id)
	if errors.Is(err, state.ErrNotFound) || err == nil && name == "" {
		name, err = id, nil
	}
	if err == nil {
		known[id] = name
	}
	return name, err
}

// actor names who did it.
func actor(e *state.AuditEntry, email string) string {
	by := e.Detail["by"]
	switch {
	case strings.HasPrefix(by, "sch_"), strings.HasPrefix(by, "evk_"):
		return by
	case email != "" && e.RegistrationID != "":
		return "agent " + e.RegistrationID + " of " + email
	case email != "":
		return email
	case e.RegistrationID != "":
		return "agent " + e.RegistrationID
	case strings.HasPrefix(e.Event, "operator."):
		return "the command line"
	}
	return "the service"
}
