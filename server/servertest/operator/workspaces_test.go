package operator_test

import (
	"fmt"
	"html"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state"
)

const list = "/operator/workspaces"

// TestPlans sets the plan of a workspace on both stores, and the audit log names who did it.
func TestPlans(t *testing.T) {
	servertest.OnBoth(t, func(t *testing.T, s *servertest.Service) {
		ops, dana := newOperator(t, s), newPerson(t, s, "dana@example.com")
		slug := dana.Workspace("https://acme.dev")
		plan := func() string {
			t.Helper()
			w, err := s.Agents.DB.Read().WorkspaceBySlug(t.Context(), slug)
			if err != nil {
				t.Fatal(err)
			}
			return w.Plan
		}
		for _, step := range []struct{ plan, want, shown string }{
			{"paid", "paid", "paid, by the operator"}, {"free", "free", "free, by the operator"}, {"paid", "paid", "paid, by the operator"}, {"billed", "free", "free, by billing"},
		} {
			ops.Must("Plan changed.", list+"/plan", "workspace", slug, "plan", step.plan)
			if _, body := ops.Get(list); plan() != step.want || !strings.Contains(body, step.shown) {
				t.Errorf("after %s: %s, %s", step.plan, plan(), body)
			}
		}
		w, err := s.Agents.DB.Read().WorkspaceBySlug(t.Context(), slug)
		if err != nil {
			t.Fatal(err)
		}
		entries, err := s.Agents.DB.Read().OperatorLog(t.Context(), &state.OperatorLog{Action: "operator.plan", WorkspaceID: w.ID, Limit: 10})
		if err != nil || len(entries) != 4 || entries[0].AccountID != ops.Account().ID || entries[0].IP == "" {
			t.Errorf("audit: %+v, %v", entries, err)
		}
		// The owner's own log names no operator.
		if _, body := dana.Get("/workspaces/" + slug + "/log"); !strings.Contains(body, "The operator") || strings.Contains(body, ops.Email) {
			t.Errorf("the owner's log: %s", body)
		}

		for what, form := range map[string][]string{
			"unknown plan": {"workspace", slug, "plan", "gold"}, "no plan": {"workspace", slug}, "unknown workspace": {"workspace", "no-such-1234", "plan", "paid"}, "nothing": {},
		} {
			if status, body := ops.Send(list+"/plan", form...); status != http.StatusUnprocessableEntity || !strings.Contains(body, `role="alert"`) {
				t.Errorf("%s: %d %s", what, status, body)
			}
		}
		if status, _ := dana.Send(list+"/plan", "workspace", slug, "plan", "paid"); status != http.StatusNotFound || plan() != "free" {
			t.Errorf("the owner sets the plan: %d, %s", status, plan())
		}
		if status, _ := ops.Post(list+"/plan", "workspace", slug, "plan", "paid"); status != http.StatusForbidden || plan() != "free" {
			t.Errorf("without a form token: %d, %s", status, plan())
		}
		if status := ops.foreign(list+"/plan", "workspace", slug, "plan", "paid"); status != http.StatusForbidden || plan() != "free" {
			t.Errorf("from another site: %d, %s", status, plan())
		}
		// Somebody who stopped being an operator since the page was opened.
		by := &registrations.Operator{Caller: &registrations.Caller{}, Account: dana.Account()}
		by.Account.Admin = true
		if err := s.Agents.SetPlan(t.Context(), by, slug, "paid"); apierr.Of(err).Status != http.StatusNotFound || plan() != "free" {
			t.Errorf("who is no operator any more: %v, %s", err, plan())
		}
		s.Clock.Add(61 * time.Minute)
		if _, body := ops.Send(list+"/plan", "workspace", slug, "plan", "paid"); !strings.Contains(body, "Sign in") || plan() != "free" {
			t.Errorf("an old sign-in: %s, %s", plan(), body)
		}
	})
}

// TestWorkspaceList pages through many workspaces and searches them.
func TestWorkspaceList(t *testing.T) {
	servertest.OnBoth(t, func(t *testing.T, s *servertest.Service) {
		ops := newOperator(t, s)
		if _, body := ops.Get(list); !strings.Contains(body, "No workspace yet.") {
			t.Errorf("empty: %s", body)
		}
		var want []string
		for i := range 120 {
			if i%3 == 0 {
				s.Clock.Add(time.Second)
			}
			want = append(want, s.Workspace(t, fmt.Sprintf("w%03d", i), "free").Slug)
		}
		var got []string
		for path := list; path != ""; {
			_, body := ops.Get(path)
			for _, part := range strings.Split(body, `<b class="path">`)[1:] {
				slug, _, _ := strings.Cut(part, "<")
				got = append(got, slug)
			}
			path = ""
			if m := olderPattern.FindStringSubmatch(body); m != nil {
				path = html.UnescapeString(m[1])
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%d workspaces, want %d: %v", len(got), len(want), got)
		}
		w := s.Workspace(t, "quiet-otter", "free")
		if err := s.Agents.DB.Write(t.Context(), func(tx *state.Tx) error {
			return tx.SetSettings(t.Context(), w.ID, state.Settings{Name: "100% Acme_", Site: "https://Acme.example", RetentionDays: 395})
		}); err != nil {
			t.Fatal(err)
		}
		for query, finds := range map[string]bool{
			"OTTER": true, "quiet-otter": true, "100%25": true, "acme_": true, "acme.EXAMPLE": true, "%25quiet": false, "quiet_otter": false, `\`: false, "nobody": false, "x%00": false,
		} {
			if _, body := ops.Get(list + "?q=" + query); strings.Contains(body, `<b class="path">quiet-otter</b>`) != finds {
				t.Errorf("%q finds it: %v, want %v", query, !finds, finds)
			}
		}
	})
}
