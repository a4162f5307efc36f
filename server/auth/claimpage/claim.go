// Package claimpage serves the pages on which a person decides about agents: the
// claim ceremony, the list of linked agents, and the link of a notice. They are
// plain HTML and need no script.
package claimpage

import (
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/auth/session"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/kit/reqctx"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/quota"
)

// claimLife is how long a browser keeps the claim of its link: a little longer than a
// code, so that the page can report an expired code.
const claimLife = 30 * time.Minute

// A Handler serves the routes. All fields are required.
type Handler struct {
	Agents   *registrations.Service
	Sessions *session.Manager
	Pages    session.Pages
	// Guard refuses requests of other sites (cross-origin forms).
	Guard func(http.Handler) http.Handler
}

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	r = r.With(h.Guard)
	r.Get("/claim", h.claim)
	r.Post("/claim", h.decide)
	r.Get("/agents", h.agents)
	r.Post("/agents/revoke", h.revoke)
	r.Post("/agents/keep", h.keep)
	r.Post("/agents/deny", h.deny)
	r.Get("/agents/unlink", h.unlinkForm)
	r.Post("/agents/unlink", h.unlink)
}

func (h *Handler) message(w http.ResponseWriter, status int, title, text string) {
	h.Pages.SendMessage(w, status, title, render.Message{Text: text, Next: render.Link{Path: "/agents", Text: "Your agents"}})
}

func (h *Handler) broken(w http.ResponseWriter, r *http.Request, err error) {
	e := apierr.Of(err)
	switch {
	case quota.Limited(err):
		h.message(w, http.StatusTooManyRequests, "Too many wrong codes", "Try again in an hour.")
		return
	case e.Status == http.StatusForbidden:
		h.message(w, http.StatusForbidden, "Not allowed", e.Description)
		return
	case e.Status < http.StatusInternalServerError:
		h.message(w, e.Status, "Request failed", e.Description)
		return
	}
	h.Pages.Log.Error("a page failed", "request_id", reqctx.ID(w), "path", r.URL.Path, "err", err)
	h.message(w, http.StatusServiceUnavailable, "Try again in a moment", "The database does not respond.")
}

func caller(w http.ResponseWriter, r *http.Request) *registrations.Caller {
	return &registrations.Caller{IP: reqctx.Client(w), UserAgent: r.UserAgent()}
}

// claim shows the ceremony. It moves the token of the link into a cookie, so that the
// token stays out of the history and of Referer headers.
func (h *Handler) claim(w http.ResponseWriter, r *http.Request) {
	if token := r.URL.Query().Get("claim_attempt_token"); token != "" {
		h.Sessions.Keep(w, session.ClaimCookie, string(secret.Hash(token)), claimLife)
		session.See(w, r, "/claim")
		return
	}
	view, signed := h.open(w, r)
	if signed == nil {
		return
	}
	c, err := h.Agents.Ceremony(r.Context(), signed.Account, view)
	if err != nil {
		h.broken(w, r, err)
		return
	}
	h.show(w, signed, c, http.StatusOK, "")
}

// open returns the claim of the browser and who is signed in, or answers.
func (h *Handler) open(w http.ResponseWriter, r *http.Request) ([]byte, *session.Signed) {
	view := h.Sessions.Kept(r, session.ClaimCookie)
	if view == "" {
		h.message(w, http.StatusNotFound, "Open the link from your agent", "Your agent gives you a link and a six-digit code. Open that link here first.")
		return nil, nil
	}
	signed, err := h.Sessions.Current(r.Context(), r)
	if err != nil {
		h.broken(w, r, err)
		return nil, nil
	}
	if signed == nil || !signed.Fresh(h.Sessions.Now()) {
		h.Sessions.Forget(w, session.ReturnCookie) // the claim replaces the return page
		session.See(w, r, "/signin")
		return nil, nil
	}
	switch undecided, err := h.Agents.Unreviewed(r.Context(), signed.Account); {
	case err != nil:
		h.broken(w, r, err)
		return nil, nil
	case undecided: // links by other people are decided first
		session.See(w, r, "/agents")
		return nil, nil
	}
	return []byte(view), signed
}

// claimData is the data of the form.
type claimData struct {
	Ceremony                       *registrations.Ceremony
	FormToken, Email, Asked, Error string
}

// show renders the state of the ceremony.
func (h *Handler) show(w http.ResponseWriter, signed *session.Signed, c *registrations.Ceremony, status int, problem string) {
	switch c.Status {
	case registrations.Open:
		h.Pages.Show(w, status, "claim", "Link an agent", claimData{
			c, signed.FormToken(), signed.Account.Email, c.Attempt.CreatedAt.UTC().Format("2 January 2006, 15:04:05 UTC"), problem,
		})
	case registrations.Done:
		h.message(w, http.StatusOK, "The agent is linked", "Go back to your agent: it has access now. Your agents has a button to revoke it. If this server sends mail, you get one with a link to revoke it.")
	case registrations.Denied:
		h.message(w, http.StatusOK, "Denied", "The agent got no access.")
	case registrations.Lapsed:
		h.message(w, http.StatusGone, "The code is no longer valid", "Codes work for ten minutes. Ask your agent for a new one.")
	case registrations.Locked:
		h.message(w, http.StatusGone, "Too many wrong codes", "This code is locked. Ask your agent for a new one.")
	case registrations.NotYours:
		h.Pages.SendMessage(w, http.StatusForbidden, "Wrong account", render.Message{
			Text: "The agent asks for access as " + c.BoundEmail + ". You are signed in as " + signed.Account.Email + ".", SignOut: signed.FormToken(),
		})
	default:
		h.message(w, http.StatusNotFound, "This link does not work", "A newer link may have replaced it. Ask your agent for a new one.")
	}
}

// decide takes the person's answer.
func (h *Handler) decide(w http.ResponseWriter, r *http.Request) {
	view, signed := h.open(w, r)
	if signed == nil {
		return
	}
	if !h.formOK(w, r, signed) {
		return
	}
	c, err := h.Agents.Ceremony(r.Context(), signed.Account, view)
	if err != nil {
		h.broken(w, r, err)
		return
	}
	if seen := r.PostFormValue("attempt"); c.Status == registrations.Open && seen != "" && seen != c.Attempt.ID {
		h.show(w, signed, c, http.StatusConflict, "You opened another link in the meantime. Check again: this is the pending agent.")
		return
	}
	switch r.PostFormValue("action") {
	case "authorize":
		h.authorize(w, r, signed, view, c)
	case "deny":
		c, err := h.Agents.Deny(r.Context(), caller(w, r), signed.Account, view)
		if err != nil {
			h.broken(w, r, err)
			return
		}
		h.after(w, r, signed, c)
	default:
		h.message(w, http.StatusBadRequest, "Request failed", "Use the buttons of the page.")
	}
}

func (h *Handler) authorize(w http.ResponseWriter, r *http.Request, signed *session.Signed, view []byte, c *registrations.Ceremony) {
	code := strings.NewReplacer(" ", "", "-", "", "\u00a0", "").Replace(r.PostFormValue("user_code"))
	if !sixDigits(code) {
		h.show(w, signed, c, http.StatusUnprocessableEntity, "Enter the six digits that your agent showed you.")
		return
	}
	c, right, err := h.Agents.Confirm(r.Context(), caller(w, r), signed.Account, registrations.Confirmation{ViewHash: view, Code: code, Workspace: r.PostFormValue("workspace")})
	if err != nil {
		h.broken(w, r, err)
		return
	}
	if !right && c.Status == registrations.Open {
		tries := "tries left"
		if c.Left == 1 {
			tries = "try left"
		}
		h.show(w, signed, c, http.StatusUnprocessableEntity, "Wrong code. "+digits[c.Left]+" "+tries+".")
		return
	}
	h.after(w, r, signed, c)
}

var digits = [...]string{"No", "One", "Two", "Three", "Four", "Five"}

func sixDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return len(s) == 6
}

// after shows an end at its own address, so that reloading posts nothing.
func (h *Handler) after(w http.ResponseWriter, r *http.Request, signed *session.Signed, c *registrations.Ceremony) {
	if c.Status == registrations.Done || c.Status == registrations.Denied {
		session.See(w, r, "/claim")
		return
	}
	h.show(w, signed, c, http.StatusOK, "")
}

// formOK refuses a form that was not made for this session.
func (h *Handler) formOK(w http.ResponseWriter, r *http.Request, signed *session.Signed) bool {
	if !h.Pages.Form(w, r) {
		return false
	}
	if !signed.FormOK(r) {
		h.message(w, http.StatusForbidden, "This form has expired", "Go back, reload the page and try again.")
		return false
	}
	return true
}
