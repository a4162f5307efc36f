// Package signin serves the pages on which a person signs in: by a link that is
// mailed and works only in the browser that asked for it, or at an identity
// provider (OpenID Connect).
package signin

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/auth/session"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/mail"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/kit/reqctx"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/quota"
	"github.com/firstpick/firstpick/server/store/state"
)

// browserCookie identifies the browser that asked for a link.
const browserCookie = "browser"

// A Handler serves the routes. All fields but Providers are required.
type Handler struct {
	Agents    *registrations.Service
	Sessions  *session.Manager
	Pages     session.Pages
	Providers []*Provider
	// Guard refuses requests of other sites (cross-origin forms).
	Guard func(http.Handler) http.Handler
}

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	r = r.With(h.Guard)
	r.Get("/signin", h.form)
	r.Post("/signin", h.ask)
	r.Get("/signin/link", h.follow)
	r.Post("/signout", h.signOut)
	r.Get("/signin/oidc/{provider}", h.depart)
	r.Get("/signin/oidc/{provider}/callback", h.arrive)
}

type formData struct {
	Notice, Error, Email string
	Providers            []*Provider
	InLog                bool // mails are
}

func (h *Handler) form(w http.ResponseWriter, r *http.Request) {
	signed, err := h.Sessions.Current(r.Context(), r)
	if err != nil {
		h.broken(w, r, err)
		return
	}
	claiming, returning := h.Sessions.Kept(r, session.ClaimCookie) != "", h.Sessions.Kept(r, session.ReturnCookie) != ""
	notice := ""
	switch {
	case signed != nil && (!claiming && !returning || signed.Fresh(h.Sessions.Now())):
		h.redirectBack(w, r, signed.Account)
		return
	case signed != nil && returning:
		notice = "Sign in again: changes that cannot be undone need a recent sign-in."
	case signed != nil:
		notice = "Sign in again: linking an agent needs a recent sign-in."
	case returning:
		if notice, err = h.returnNotice(r); err != nil {
			h.broken(w, r, err)
			return
		}
	case claiming:
		notice = "Sign in to see the agent that requests access."
	}
	h.show(w, http.StatusOK, formData{Notice: notice})
}

// returnNotice says what signing in leads to. Only the holder of a link that works sees whose
// invitation it is.
func (h *Handler) returnNotice(r *http.Request) (string, error) {
	if back, err := url.Parse(h.Sessions.Kept(r, session.ReturnCookie)); err == nil && back.Path == "/invitations" {
		i, err := h.Agents.InvitationOf(r.Context(), back.Query().Get("token"))
		switch {
		case err != nil:
			return "", err
		case i == nil:
			return "Sign in with the invited address to see the invitation.", nil
		case i.From == "":
			return "Sign in to join " + i.Workspace.Title() + " on firstpick: you are invited as " + string(i.Role) + ".", nil
		}
		return "Sign in to join " + i.Workspace.Title() + " on firstpick: " + i.From + " invited you as " + string(i.Role) + ".", nil
	}
	return "Sign in to see your workspace.", nil
}

func (h *Handler) show(w http.ResponseWriter, status int, d formData) {
	d.Providers, d.InLog = h.Providers, mail.InLog(h.Agents.Outbox.Mailer)
	h.Pages.Show(w, status, "signin", "Sign in", d)
}

func (h *Handler) message(w http.ResponseWriter, status int, title, text string) {
	h.Pages.SendMessage(w, status, title, render.Message{Text: text, Next: render.Link{Path: "/signin", Text: "Sign in"}})
}

// broken answers when the store fails.
func (h *Handler) broken(w http.ResponseWriter, r *http.Request, err error) {
	h.Pages.Log.Error("a page failed", "request_id", reqctx.ID(w), "path", r.URL.Path, "err", err)
	h.message(w, http.StatusServiceUnavailable, "Try again in a moment", "The database does not respond.")
}

func caller(w http.ResponseWriter, r *http.Request) *registrations.Caller {
	return &registrations.Caller{IP: reqctx.Client(w), UserAgent: r.UserAgent()}
}

// ask mails a link. The answer is the same for every address.
func (h *Handler) ask(w http.ResponseWriter, r *http.Request) {
	if !h.Pages.Form(w, r) {
		return
	}
	email, ok := identity.ParseEmail(r.PostFormValue("email"))
	if !ok {
		h.show(w, http.StatusUnprocessableEntity, formData{Error: "Invalid e-mail address.", Email: r.PostFormValue("email")})
		return
	}
	browser := h.Sessions.Kept(r, browserCookie)
	if browser == "" {
		browser = h.Sessions.Secrets.Token("")
	}
	c := caller(w, r)
	switch err := h.Agents.AskSignIn(r.Context(), c, email, browser, h.Sessions.Known(r, email)); {
	case quota.Limited(err):
		c.Seen.Write(w.Header())
		h.show(w, http.StatusTooManyRequests, formData{Error: "Too many links requested. Try again in an hour.", Email: email})
	case err != nil:
		h.broken(w, r, err)
	default:
		h.Sessions.Keep(w, browserCookie, browser, registrations.SignInLife)
		title, inLog := "Check your inbox", mail.InLog(h.Agents.Outbox.Mailer)
		if inLog {
			title = "Open the link from the log"
		}
		h.Pages.Show(w, http.StatusOK, "sent", title, formData{Email: email, InLog: inLog})
	}
}

// follow signs in by a link. It changes something though it is a GET: the link
// works once, and only in the browser whose cookie it is bound to, so neither a
// scanner that fetches it nor another site can use it up.
func (h *Handler) follow(w http.ResponseWriter, r *http.Request) {
	account, err := h.Agents.FollowLink(r.Context(), caller(w, r), r.URL.Query().Get("token"), h.Sessions.Kept(r, browserCookie))
	if errors.Is(err, registrations.ErrOtherBrowser) {
		h.message(w, http.StatusForbidden, "Open the link in the other browser",
			"This link works only in the browser that requested it. Open it there, or request a new one here.")
		return
	}
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	h.begin(w, r, account)
}

func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	switch e := apierr.Of(err); e.Status {
	case http.StatusNotFound:
		h.message(w, http.StatusGone, "This link no longer works", "It was used before or has expired. Request a new one on the sign-in page.")
	case http.StatusForbidden:
		h.message(w, http.StatusForbidden, "This account is disabled", "Contact the operator of this service.")
	default:
		h.broken(w, r, err)
	}
}

func (h *Handler) begin(w http.ResponseWriter, r *http.Request, account *state.Account) {
	if err := h.Sessions.Begin(r.Context(), w, r, account); err != nil {
		h.broken(w, r, err)
		return
	}
	h.Sessions.Forget(w, browserCookie)
	h.redirectBack(w, r, account)
}

// redirectBack redirects a signed-in person to the page they requested, else to the agents that
// wait for their decision, else to their workspaces.
func (h *Handler) redirectBack(w http.ResponseWriter, r *http.Request, account *state.Account) {
	if back := h.Sessions.Kept(r, session.ReturnCookie); back != "" {
		h.Sessions.Forget(w, session.ReturnCookie)
		session.See(w, r, back)
		return
	}
	if h.Sessions.Kept(r, session.ClaimCookie) != "" {
		session.See(w, r, "/claim")
		return
	}
	decide, err := h.Agents.AwaitsDecision(r.Context(), account)
	if err != nil {
		h.broken(w, r, err)
		return
	}
	if decide {
		session.See(w, r, "/agents")
		return
	}
	session.See(w, r, "/workspaces")
}

func (h *Handler) signOut(w http.ResponseWriter, r *http.Request) {
	signed, err := h.Sessions.Current(r.Context(), r)
	if err == nil && signed != nil && !signed.FormOK(r) {
		h.message(w, http.StatusForbidden, "This form has expired", "Go back, reload the page and try again.")
		return
	}
	if err == nil {
		err = h.Sessions.End(r.Context(), w, r)
	}
	if err != nil {
		h.broken(w, r, err)
		return
	}
	session.See(w, r, "/signin")
}
