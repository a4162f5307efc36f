package claimpage

import (
	"net/http"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/auth/session"
	"github.com/firstpick/firstpick/server/kit/reqctx"
	"github.com/firstpick/firstpick/server/store/identity"
)

type agentsData struct {
	Email, FormToken, Notice string
	BaseURL                  string
	Links                    []linkData
	Waiting                  bool // an agent asks to be linked
	Pending                  []pendingData
	MorePending              bool // than are listed
}

// pendingData is an agent that named the person's address and waits for a code.
type pendingData struct{ ID, Title, When, From, UserAgent string }

type linkData struct {
	ID, Title, Workspace, When, From, Provider string
	Live, Unreviewed                           bool
}

func (h *Handler) agents(w http.ResponseWriter, r *http.Request) {
	signed := h.signed(w, r)
	if signed == nil {
		return
	}
	links, err := h.Agents.Linked(r.Context(), signed.Account)
	if err != nil {
		h.broken(w, r, err)
		return
	}
	d := agentsData{Email: signed.Account.Email, FormToken: signed.FormToken(), BaseURL: h.Agents.BaseURL}
	if view := h.Sessions.Kept(r, session.ClaimCookie); view != "" {
		c, err := h.Agents.Ceremony(r.Context(), signed.Account, []byte(view))
		if err != nil {
			h.broken(w, r, err)
			return
		}
		d.Waiting = c.Status == registrations.Open
	}
	pending, more, err := h.Agents.Pending(r.Context(), signed.Account)
	if err != nil {
		h.broken(w, r, err)
		return
	}
	d.MorePending = more
	for _, p := range pending {
		provider := ""
		if p.ISS != "" {
			provider = h.Agents.Issuers.NameOf(r.Context(), p.ISS)
		}
		d.Pending = append(d.Pending, pendingData{p.ID, titleOf(p.Kind, provider), p.CreatedAt.UTC().Format(minute), p.CreatedIP, p.UserAgent})
	}
	for _, l := range links {
		d.Links = append(d.Links, describe(l))
		if l.Unreviewed {
			d.Waiting, d.Notice = false, "Agents were linked before you first signed in. Choose which of them to keep."
		}
	}
	h.Pages.Show(w, http.StatusOK, "agents", "Your agents", d)
}

// minute is how a time is shown.
const minute = "2 January 2006, 15:04 UTC"

func describe(l registrations.Link) linkData {
	return linkData{
		ID: l.Registration.ID, Workspace: l.Workspace, When: l.Registration.ClaimedAt.UTC().Format(minute), Title: titleOf(l.Registration.Kind, l.Provider),
		From: l.Registration.CreatedIP, Provider: l.Provider, Live: l.Live, Unreviewed: l.Unreviewed,
	}
}

func titleOf(kind identity.Kind, provider string) string {
	switch {
	case provider != "":
		return "Agent of " + provider
	case kind == identity.Anonymous:
		return "Agent that registered by itself"
	default:
		return "Agent that gave your address"
	}
}

// signed returns who is signed in, or sends the browser to sign in.
func (h *Handler) signed(w http.ResponseWriter, r *http.Request) *session.Signed {
	signed, err := h.Sessions.Current(r.Context(), r)
	if err != nil {
		h.broken(w, r, err)
		return nil
	}
	if signed == nil {
		session.See(w, r, "/signin")
	} else if signed.Account.Admin {
		reqctx.SetOperator(w)
	}
	return signed
}

func (h *Handler) revoke(w http.ResponseWriter, r *http.Request) {
	h.change(w, r, func(signed *session.Signed, id string) error {
		return h.Agents.Unlink(r.Context(), caller(w, r), signed.Account.ID, id)
	})
}

func (h *Handler) keep(w http.ResponseWriter, r *http.Request) {
	h.change(w, r, func(signed *session.Signed, id string) error {
		return h.Agents.Keep(r.Context(), signed.Account.ID, id)
	})
}

func (h *Handler) deny(w http.ResponseWriter, r *http.Request) {
	h.change(w, r, func(signed *session.Signed, id string) error {
		return h.Agents.DenyPending(r.Context(), caller(w, r), signed.Account, id)
	})
}

func (h *Handler) change(w http.ResponseWriter, r *http.Request, f func(signed *session.Signed, id string) error) {
	signed := h.signed(w, r)
	if signed == nil || !h.formOK(w, r, signed) {
		return
	}
	if err := f(signed, r.PostFormValue("registration")); err != nil {
		h.broken(w, r, err)
		return
	}
	session.See(w, r, "/agents")
}

// unlinkForm asks before the link of a notice revokes: mail scanners follow
// links too.
func (h *Handler) unlinkForm(w http.ResponseWriter, r *http.Request) {
	token := r.URL.Query().Get("token")
	if _, _, err := h.Agents.OpenUnlink(token); err != nil {
		h.dead(w)
		return
	}
	h.Pages.Show(w, http.StatusOK, "unlink", "Revoke this agent", map[string]string{"Token": token})
}

func (h *Handler) unlink(w http.ResponseWriter, r *http.Request) {
	account, registration, err := h.Agents.OpenUnlink(r.PostFormValue("token"))
	if err != nil {
		h.dead(w)
		return
	}
	if err := h.Agents.Unlink(r.Context(), caller(w, r), account, registration); err != nil {
		h.broken(w, r, err)
		return
	}
	h.message(w, http.StatusOK, "The agent is revoked", "It no longer has access.")
}

func (h *Handler) dead(w http.ResponseWriter) {
	h.message(w, http.StatusNotFound, "This link does not work", "It has expired or is incomplete. Sign in to see your agents.")
}
