// Package billing serves POST /api/billing/webhook, by which a billing system
// reports subscriptions of workspaces, in the format of Stripe's events.
//
// A workspace is paid for while any of its subscriptions is active, trialing or
// past_due. The metadata of a subscription names its workspace, by slug or id, as
// workspace; else its checkout session does, as metadata.workspace or
// client_reference_id. Events may arrive in any order and repeatedly: the newest event
// of a subscription sets its state.
//
// An operator's choice overrides billing. A workspace that an operator made paid stays
// paid, even when subscriptions end: another person may have bought and cancelled one
// in the workspace's name. A workspace that an operator made free stays free until a
// later subscription begins to pay; renewals and late, older events change nothing. An
// operator can return the plan to billing.
//
// Test mode needs no setting: its endpoints have separate secrets.
package billing

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/reqbody"
	"github.com/firstpick/firstpick/server/kit/reqctx"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/state"
)

// Path is the route of the webhook, and MaxBody its body limit in bytes.
const (
	Path    = "/api/billing/webhook"
	MaxBody = 256 << 10
)

// A Handler takes events. All fields but Keys are required.
type Handler struct {
	// Keys are the secrets that events are signed with: several while one replaces
	// another. Without any, nothing is served.
	Keys    []string
	DB      *state.DB
	Secrets secret.Source // of ids in the audit log
	Errors  apierr.Writer
	Log     *slog.Logger
	Now     func() time.Time
}

// Mount registers the route.
func (h *Handler) Mount(r chi.Router) {
	if len(h.Keys) > 0 {
		r.Post(Path, h.serve)
	}
}

// Limits implements route.Limited.
func (h *Handler) Limits() map[string]route.Limits {
	if len(h.Keys) == 0 {
		return nil
	}
	return map[string]route.Limits{Path: {MaxBody: MaxBody}}
}

// serve answers 2xx to all that is stored and all that does not concern us: a
// billing system repeats whatever is answered otherwise for days.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request) {
	if err := h.receive(r); err != nil {
		e := h.refusal(err)
		if e.Status >= http.StatusInternalServerError {
			h.Log.Error("billing event failed", "request_id", reqctx.ID(w), "err", err)
		} else {
			h.Log.Warn("a billing event was refused", "request_id", reqctx.ID(w), "err", err)
		}
		h.Errors.Write(w, r, e)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = io.WriteString(w, `{"received":true}`+"\n") // a write error means that the sender disconnected
}

func (h *Handler) receive(r *http.Request) error {
	body, err := reqbody.Read(r, MaxBody)
	if err != nil {
		return err
	}
	if err := verify(r.Header.Get("Stripe-Signature"), body, h.Keys, h.Now()); err != nil {
		return err
	}
	e, err := parse(body)
	if err != nil || e.subscription == "" {
		return err
	}
	return h.take(r.Context(), &e)
}

// refusal converts an error to its API error.
func (h *Handler) refusal(err error) *apierr.Error {
	var e *apierr.Error
	switch {
	case errors.As(err, &e): // the body was not read
		return e
	case errors.Is(err, errNoSignature), errors.Is(err, errNotInTime), errors.Is(err, errNotSignedFor):
		e = apierr.BadBody("bad_signature", "The header Stripe-Signature does not sign this body: "+err.Error()+".")
	case errors.Is(err, errNoEvent):
		e = apierr.BadBody("bad_event", "The body is not a valid event.")
	case h.DB.IsDown(err):
		e = apierr.StoreDown(err)
	default:
		e = apierr.Internal(err)
	}
	e.Cause = err
	return e
}
