package dashboard

import (
	"net/http"

	"github.com/firstpick/firstpick/server/auth/session"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/kit/render"
)

// eraseWorkspace deletes a workspace with everything in it.
func (h *Handler) eraseWorkspace(v *visit) error {
	if err := h.Agents.EraseOwnWorkspace(v.R.Context(), v.Caller(), v.Signed.Account, v.Workspace.Slug, v.R.PostFormValue(layout.ConfirmField)); err != nil {
		return err
	}
	session.See(v.W, v.R, "/workspaces?all&done=deleted")
	return nil
}

// eraseAccount deletes the account of who is signed in, with its workspaces.
func (h *Handler) eraseAccount(v *layout.Visit) error {
	if err := h.Agents.EraseOwnAccount(v.R.Context(), v.Caller(), v.Signed.Account, v.R.PostFormValue(layout.ConfirmField)); err != nil {
		return err
	}
	h.Pages.SendMessage(v.W, http.StatusOK, "Account deleted", render.Message{
		Text: "Your account and its workspaces are cut off and will be deleted within a minute. Runs under way are stopped first.",
		Next: render.Link{Path: "/", Text: "Home"},
	})
	return nil
}

func (v *visit) eraseForm() *layout.Erase {
	deletes := []string{"all events and reports of its site", "its keys, webhooks and alerts, and the access of its agents"}
	if v.h.Evals {
		deletes = append(deletes, "its evals, runs and results, and its provider keys; runs under way are stopped first")
	}
	return &layout.Erase{
		ID: "delete", Action: layout.Under("/workspaces", v.Workspace.Slug, "settings", "delete"), FormToken: v.Signed.FormToken(),
		Title: "Delete this workspace", Deletes: deletes, Confirm: v.Workspace.Slug,
	}
}

func accountForm(v *layout.Visit) *layout.Erase {
	return &layout.Erase{
		ID: "account", Action: "/account/erase", FormToken: v.Signed.FormToken(), Title: "Delete your account", Confirm: v.Signed.Account.Email,
		Deletes: []string{
			"your account: its address, sessions and sign-ins, and the access of your agents",
			"every workspace that has no other owner, with its events, evals, runs and keys",
			"your keys in the other workspaces",
		},
	}
}
