package members

import (
	"net/http"

	"github.com/firstpick/firstpick/server/auth/session"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/render"
)

type invitationData struct {
	FormToken, Token             string
	Workspace, Slug, From, Email string
	Role                         string
	Means                        string
	Until                        string
}

// invitation asks before the link of a mail is used: mail scanners follow links too.
func (h *Handler) invitation(v *layout.Visit) error {
	token := v.R.URL.Query().Get("token")
	i, err := h.Agents.Invitation(v.R.Context(), v.Signed.Account, token)
	if err != nil {
		return h.dead(v, err)
	}
	d := invitationData{
		FormToken: v.Signed.FormToken(), Token: token, Workspace: i.Workspace.Title(), Slug: i.Workspace.Slug, From: i.From, Email: v.Signed.Account.Email,
		Until: i.ExpiresAt.UTC().Format(dateOnly),
	}
	for _, t := range roles(i.Role) {
		if t.On {
			d.Role, d.Means = t.Name, t.Means
		}
	}
	h.Pages.Show(v.W, http.StatusOK, "workspace-invitation", "Invitation", d)
	return nil
}

// answer accepts or declines.
func (h *Handler) answer(v *layout.Visit) error {
	accept := v.R.PostFormValue("do") == "accept"
	w, err := h.Agents.AnswerInvitation(v.R.Context(), v.Caller(), v.Signed.Account, v.R.PostFormValue("token"), accept)
	switch {
	case err != nil:
		return h.dead(v, err)
	case accept:
		session.See(v.W, v.R, layout.Under("/workspaces", w.Slug)+"?"+layout.JoinedQuery)
	default:
		h.ShowMessage(v.W, http.StatusOK, "Invitation declined", "The link works no longer.")
	}
	return nil
}

// dead answers for an invitation that does not work, and offers to sign in as somebody else.
func (h *Handler) dead(v *layout.Visit, err error) error {
	e := apierr.Of(err)
	if e.Status != http.StatusNotFound {
		return err
	}
	h.Pages.SendMessage(v.W, e.Status, "This invitation does not work", render.Message{
		Text: e.Description + " You are signed in as " + v.Signed.Account.Email + ".", Next: render.Link{Path: "/workspaces", Text: "Your workspaces"}, SignOut: v.Signed.FormToken(),
	})
	return nil
}
