// Package members serves the pages about the people of a workspace:
//
//	/workspaces/{slug}/settings/members  members, their roles, invitations
//	/workspaces/{slug}/log               who did what, and when
//	/invitations                         the page that a mailed invitation leads to
//
// The pages are HTML made at every request and work without script.
package members

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/auth/session"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/mail"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// A Handler serves the routes.
type Handler struct{ *layout.Frame }

const (
	path     = "/settings/members"
	dateOnly = "2 Jan 2006"
)

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	r = r.With(h.Guard)
	r.Get("/workspaces/{slug}"+path, h.Get(identity.Viewer, func(v *layout.Visit) error { return h.show(v, http.StatusOK, problem{}) }))
	r.Get("/workspaces/{slug}/log", h.Get(identity.Editor, h.log))
	for name, do := range map[string]func(*layout.Visit) (done, form string, err error){
		"/invite":   h.invite,
		"/resend":   h.resend,
		"/withdraw": h.withdraw,
		"/role":     h.setRole,
		"/remove":   h.remove,
		"/transfer": h.transfer,
		"/leave":    h.leave,
	} {
		need := identity.Owner
		if name == "/leave" {
			need = identity.Viewer
		}
		r.Post("/workspaces/{slug}"+path+name, h.Post(layout.Action{Need: need, Fresh: true, Back: path, Do: h.action(do)}))
	}
	r.Get("/invitations", h.Get(identity.Viewer, h.invitation))
	r.Post("/invitations", h.Post(layout.Action{Do: h.answer}))
}

// A problem is a validation error of a form.
type problem struct{ Form, Text string }

type membersData struct {
	Page        layout.Page
	Notice      string
	Problem     problem
	InLog       bool // the server writes mails to its log
	Stale       bool // changes need a new sign-in
	Members     []memberRow
	Others      []memberRow // than the visitor
	LastOwner   bool        // the visitor is, so cannot leave
	Waits       bool        // an invitation can still be accepted
	Invitations []invitationRow
	Roles       []roleTerm
	Email, Role string // of an invitation, as typed
	Most        int    // members and invitations
	Days        int    // that an invitation works
}

type memberRow struct {
	ID, Email, Role, Since string
	Keys                   int
	You                    bool
	Roles                  []roleTerm
}

type invitationRow struct {
	ID, Email, Role, Sent, Until string
	Expired                      bool
}

// A roleTerm is a role in a list to choose from.
type roleTerm struct {
	Key, Name, Means string
	On               bool
}

func roles(on identity.Role) []roleTerm {
	return []roleTerm{
		{string(identity.Viewer), "Viewer", "reads the dashboard and results.", on == identity.Viewer},
		{string(identity.Editor), "Editor", "also changes evals, settings and keys, and reads the log.", on == identity.Editor},
		{string(identity.Owner), "Owner", "also changes members, decides which hosts get provider keys, and erases data.", on == identity.Owner},
	}
}

// notices returns the notices after an action.
func notices() map[string]string {
	return map[string]string{
		"invited":     "Invitation sent.",
		"resent":      "Invitation sent again. The earlier link works no longer.",
		"withdrawn":   "Invitation withdrawn. Its link works no longer.",
		"role":        "Role changed.",
		"removed":     "Member removed. This person has no access any more.",
		"transferred": "Workspace transferred. You are an editor now.",
	}
}

// show answers with the members. After a problem the fields hold what was typed.
func (h *Handler) show(v *layout.Visit, status int, wrong problem) error {
	members, invitations, err := h.Agents.Members(v.R.Context(), v.Signed.Account, v.Workspace.Slug)
	if err != nil {
		return err
	}
	d := membersData{
		Page: v.Settings("members", nil), Problem: wrong, Stale: !v.Fresh(), Roles: roles(identity.Viewer),
		Most: registrations.MaxMembers, Days: int(registrations.InvitationLife.Hours() / 24),
	}
	d.InLog = mail.InLog(h.Agents.Outbox.Mailer)
	if v.R.Method == http.MethodGet {
		done := v.R.URL.Query().Get("done")
		if d.Notice = notices()[done]; (done == "invited" || done == "resent") && d.InLog {
			d.Notice = strings.Replace(d.Notice, "sent", "created", 1) + " This server sends no mail: the link is in its log."
		}
	} else if wrong.Form == "invite" {
		d.Email, d.Roles = v.R.PostFormValue("email"), roles(identity.Role(v.R.PostFormValue("role")))
	}
	d.LastOwner = d.Page.Owns()
	for _, m := range members {
		row := memberRow{ID: m.AccountID, Email: m.Email, Role: string(m.Role), Since: m.Since.UTC().Format(dateOnly), Keys: m.Keys, You: m.AccountID == v.Signed.Account.ID, Roles: roles(m.Role)}
		if row.Email == "" {
			row.Email = "an account without an address"
		}
		d.Members = append(d.Members, row)
		if !row.You {
			d.Others, d.LastOwner = append(d.Others, row), d.LastOwner && m.Role != identity.Owner
		}
	}
	if d.Page.Owns() {
		d.Invitations = h.invitations(invitations)
		d.Waits = slices.ContainsFunc(d.Invitations, func(i invitationRow) bool { return !i.Expired })
	}
	return v.Show(status, "workspace-members", "Members", d)
}

func (h *Handler) invitations(list []*state.Invitation) (out []invitationRow) {
	for _, i := range list {
		out = append(out, invitationRow{
			ID: i.ID, Email: i.Email, Role: string(i.Role), Sent: i.SentAt.UTC().Format(dateOnly), Until: i.ExpiresAt.UTC().Format(dateOnly),
			Expired: !h.Sessions.Now().Before(i.ExpiresAt),
		})
	}
	return out
}

// action carries out a form. A problem shows the page again.
func (h *Handler) action(do func(*layout.Visit) (done, form string, err error)) func(*layout.Visit) error {
	return func(v *layout.Visit) error {
		done, form, err := do(v)
		switch {
		case err == nil && done == "left":
			session.See(v.W, v.R, "/workspaces?all")
			return nil
		case err == nil:
			session.See(v.W, v.R, layout.Under("/workspaces", v.Workspace.Slug)+path+"?done="+done)
			return nil
		}
		if e := apierr.Of(err); e.Status == http.StatusBadRequest || e.Status == http.StatusTooManyRequests {
			return h.show(v, http.StatusUnprocessableEntity, problem{form, e.Description})
		}
		return err
	}
}

func (h *Handler) invite(v *layout.Visit) (done, form string, err error) {
	return "invited", "invite", h.Agents.Invite(v.R.Context(), v.Caller(), v.Signed.Account, v.Workspace.Slug, v.R.PostFormValue("email"), identity.Role(v.R.PostFormValue("role")))
}

func (h *Handler) resend(v *layout.Visit) (done, form string, err error) {
	return "resent", "invitations", h.Agents.ResendInvitation(v.R.Context(), v.Caller(), v.Signed.Account, v.Workspace.Slug, v.R.PostFormValue("invitation"))
}

func (h *Handler) withdraw(v *layout.Visit) (done, form string, err error) {
	return "withdrawn", "invitations", h.Agents.WithdrawInvitation(v.R.Context(), v.Caller(), v.Signed.Account, v.Workspace.Slug, v.R.PostFormValue("invitation"))
}

func (h *Handler) setRole(v *layout.Visit) (done, form string, err error) {
	return "role", "members", h.Agents.SetRole(v.R.Context(), v.Caller(), v.Signed.Account, v.Workspace.Slug, v.R.PostFormValue("member"), identity.Role(v.R.PostFormValue("role")))
}

func (h *Handler) remove(v *layout.Visit) (done, form string, err error) {
	return "removed", "members", h.Agents.RemoveMember(v.R.Context(), v.Caller(), v.Signed.Account, v.Workspace.Slug, v.R.PostFormValue("member"), v.R.PostFormValue("keys") != "")
}

func (h *Handler) transfer(v *layout.Visit) (done, form string, err error) {
	return "transferred", "transfer", h.Agents.Transfer(v.R.Context(), v.Caller(), v.Signed.Account, v.Workspace.Slug, v.R.PostFormValue("member"))
}

func (h *Handler) leave(v *layout.Visit) (done, form string, err error) {
	return "left", "leave", h.Agents.Leave(v.R.Context(), v.Caller(), v.Signed.Account, v.Workspace.Slug)
}
