package members

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/store/state"
)

// pageSize is how many lines a page of the log has.
const pageSize = 50

type logData struct {
	Page    layout.Page
	Rows    []logRow
	Members []memberChoice
	Chosen  bool   // lines of one member
	Older   string // address of the next page
	First   string // address of the first page; empty on it
}

type logRow struct{ When, Who, What string }

type memberChoice struct {
	ID, Email string
	On        bool
}

// log shows who did what, newest first; ?member= chooses one member, ?before= a page.
func (h *Handler) log(v *layout.Visit) error {
	query := v.R.URL.Query()
	member := query.Get("member")
	members, _, err := h.Agents.Members(v.R.Context(), v.Signed.Account, v.Workspace.Slug)
	if err != nil {
		return err
	}
	d := logData{Page: v.Settings("log", nil), Chosen: member != ""}
	for _, m := range members {
		d.Members = append(d.Members, memberChoice{m.AccountID, m.Email, m.AccountID == member})
	}
	log, err := h.Agents.WorkspaceLog(v.R.Context(), v.Signed.Account, v.Workspace.Slug, state.WorkspaceLog{
		AccountID: member, Events: eventNames(), Before: parsePlace(query.Get("before")), Limit: pageSize + 1,
	})
	if err != nil {
		return err
	}
	base := layout.Under(d.Page.Path, "log") + "?member=" + url.QueryEscape(member)
	if query.Get("before") != "" {
		d.First = base
	}
	if len(log.Entries) > pageSize {
		log.Entries = log.Entries[:pageSize]
		d.Older = base + "&before=" + place(&log.Entries[pageSize-1])
	}
	for i := range log.Entries {
		e := &log.Entries[i]
		d.Rows = append(d.Rows, logRow{When: e.At.UTC().Format("2 Jan 2006, 15:04"), Who: who(log, e), What: what(log, e)})
	}
	return v.Show(http.StatusOK, "workspace-log", "Log", d)
}

// place encodes where a line stands: its time and id.
func place(e *state.AuditEntry) string {
	return strconv.FormatInt(e.At.UnixMicro(), 10) + "." + e.ID
}

// parsePlace returns the line that place encoded; anything else is the newest.
func parsePlace(text string) (e state.AuditEntry) {
	at, id, _ := strings.Cut(text, ".")
	if n, err := strconv.ParseInt(at, 10, 64); err == nil && n > 0 {
		e.At, e.ID = time.UnixMicro(n), id
	}
	return e
}

// who names who did it.
func who(log *registrations.WorkspaceLog, e *state.AuditEntry) string {
	group, _, _ := strings.Cut(e.Event, ".")
	email := log.Emails[e.AccountID]
	switch {
	case group == "operator":
		return "The operator"
	case group == "billing":
		return "Billing"
	case strings.HasPrefix(e.Detail["by"], "sch_"):
		return "A schedule"
	case strings.HasPrefix(e.Detail["by"], "evk_"):
		return "Eval key " + e.Detail["by"]
	case e.AccountID == "" && e.RegistrationID != "":
		return "An agent"
	case e.AccountID == "":
		return "The service"
	case email == "":
		return "A former account"
	case e.RegistrationID != "" && group != "claim":
		return "An agent of " + email
	}
	return email
}

// what describes a line.
func what(log *registrations.WorkspaceLog, e *state.AuditEntry) string {
	values := make([]string, 0, 2*len(e.Detail)+2)
	for name, value := range e.Detail {
		if name == "member" {
			if value = log.Emails[value]; value == "" {
				value = "a former account"
			}
		}
		values = append(values, "{"+name+"}", value)
	}
	var text string
	for _, known := range events() {
		if known.name == e.Event {
			text = known.text
		}
	}
	text = strings.NewReplacer(values...).Replace(text)
	if name, renamed := e.Detail["name"]; renamed && e.Event == "workspace.settings" {
		text += ". New name: " + name
	}
	if keys := e.Detail["keys"]; keys != "" {
		text += ". Keys revoked: " + keys
	}
	return text
}
