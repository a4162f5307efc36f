package operator

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/auth/session"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/store/state"
)

const (
	workspacesPath = home + "/workspaces"
	pageSize       = 50
	maxQuery       = 100 // characters
	// billed is the choice that leaves the plan to billing.
	billed = "billed"
)

type workspacesData struct {
	Page  page
	Query string
	Rows  []workspaceRow
	First string // address of the first page; empty on it
	Older string // address of the next page
}

type workspaceRow struct {
	Slug, Name, Site string
	State, Since     string
	Plan             string
	Plans            []choice
	Members          int
	Events, Runs     string
	Active           string
}

type choice struct {
	Key, Name string
	On        bool
}

// workspaces lists workspaces, newest first; ?q= searches, ?before= chooses a page.
func (h *Handler) workspaces(v *layout.Visit, status int, wrong problem) error {
	given := v.R.URL.Query()
	if v.R.Method == http.MethodPost {
		given = v.R.PostForm
	}
	query := []rune(strings.TrimSpace(given.Get("q")))
	d := workspacesData{Page: h.page(v, "Workspaces", wrong), Query: string(query[:min(len(query), maxQuery)])}
	if v.R.Method == http.MethodGet && given.Has("done") {
		d.Page.Notice = "Plan changed."
	}
	before, id := parsePlace(given.Get("before"))
	list, err := h.Agents.DB.Read().SearchWorkspaces(v.R.Context(), state.WorkspaceSearch{Text: d.Query, Before: before, BeforeID: id, Limit: pageSize + 1})
	if err != nil {
		return h.Agents.DB.APIError(err)
	}
	if !before.IsZero() {
		d.First = address(workspacesPath, "q", d.Query)
	}
	if len(list) > pageSize {
		list = list[:pageSize]
		last := list[pageSize-1]
		d.Older = address(workspacesPath, "q", d.Query, "before", place(last.CreatedAt, last.ID))
	}
	now := h.Sessions.Now()
	for _, w := range list {
		row := workspaceRow{
			Slug: w.Slug, Name: w.Name, Site: w.Site, State: w.State(now), Since: w.CreatedAt.UTC().Format("2 Jan 2006"), Plan: w.Plan + ", by billing", Members: w.Members,
			Events: chart.Count(w.Events, "event", "events"), Runs: chart.Count(w.Runs, "run", "runs"), Active: "never",
			Plans: []choice{
				{state.PlanFree, "Free", w.OperatorPlan == state.PlanFree}, {state.PlanPaid, "Paid", w.OperatorPlan == state.PlanPaid},
				{billed, "By billing", w.OperatorPlan == ""},
			},
		}
		if w.OperatorPlan != "" {
			row.Plan = w.Plan + ", by the operator"
		}
		if !w.ActiveAt.IsZero() {
			row.Active = ago(now.Sub(w.ActiveAt))
		}
		d.Rows = append(d.Rows, row)
	}
	h.Pages.Show(v.W, status, "operator-workspaces", "Workspaces · Operator", d)
	return nil
}

// setPlan sets the plan of a workspace, as firstpick admin plan does.
func (h *Handler) setPlan(v *layout.Visit) error {
	slug, plan := v.R.PostFormValue("workspace"), v.R.PostFormValue("plan")
	switch plan {
	case state.PlanFree, state.PlanPaid:
	case billed:
		plan = ""
	default:
		return h.workspaces(v, http.StatusUnprocessableEntity, problem{Text: "Choose free, paid, or by billing."})
	}
	err := h.Agents.SetPlan(v.R.Context(), v.Operator(), slug, plan)
	if errors.Is(err, state.ErrNotFound) {
		return h.workspaces(v, http.StatusUnprocessableEntity, problem{Text: "This workspace does not exist any more."})
	}
	if err != nil {
		return h.Agents.DB.APIError(err)
	}
	session.See(v.W, v.R, address(workspacesPath, "q", v.R.PostFormValue("q"), "done", "plan"))
	return nil
}

// address adds values to a path; empty ones are left out.
func address(path string, values ...string) string {
	query := url.Values{}
	for i := 0; i < len(values); i += 2 {
		if values[i+1] != "" {
			query.Set(values[i], values[i+1])
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// place encodes where a row stands: its time and id.
func place(at time.Time, id string) string { return strconv.FormatInt(at.UnixMicro(), 10) + "." + id }

// parsePlace returns what place encoded; anything else is the newest.
func parsePlace(text string) (time.Time, string) {
	at, id, _ := strings.Cut(text, ".")
	if n, err := strconv.ParseInt(at, 10, 64); err == nil && n > 0 {
		return time.UnixMicro(n), id
	}
	return time.Time{}, ""
}
