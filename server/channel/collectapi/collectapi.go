// Package collectapi serves POST /api/collect, by which sites send events, and its
// probe. It reads requests and writes responses: package event decodes the bodies,
// package collect stores the events.
package collectapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/channel/collect"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/reqctx"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/store/quota"
)

// A Handler serves the routes.
type Handler struct {
	Collect *collect.Service
	Errors  apierr.Writer
	Log     *slog.Logger
	limits  limits
}

// New returns a handler that holds senders to the rules of limits.
func New(c *collect.Service, limits quota.Limiter, errs apierr.Writer, log *slog.Logger) *Handler {
	return &Handler{Collect: c, Errors: errs, Log: log, limits: newLimits(limits)}
}

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	// Browsers may send with any key; whether a page may read the answer depends on it.
	route.API(r, "Authorization, Content-Type, Idempotency-Key", []route.Operation{
		route.On(http.MethodGet, "/api/collect", h.handle(h.probe)), route.On(http.MethodPost, "/api/collect", h.handle(h.collect)),
	})
}

// Limits implements route.Limited. Events are counted by key; a body is bounded again, by
// its format, when it is decompressed.
func (h *Handler) Limits() map[string]route.Limits {
	return map[string]route.Limits{"/api/collect": {MaxBody: event.MaxLogBody + route.DefaultMaxBody, Unmetered: true}}
}

type endpoint func(w http.ResponseWriter, r *http.Request) (status int, answer any, err error)

func (h *Handler) handle(f endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		status, answer, err := f(w, r)
		if err != nil {
			e := apierr.Of(err)
			if e.Status >= http.StatusInternalServerError {
				h.Log.Error("storing events failed", "request_id", reqctx.ID(w), "err", e)
			}
			h.Errors.Write(w, r, e)
			return
		}
		head := w.Header()
		head.Set("Cache-Control", "no-store")
		head.Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(answer) // a write error means that the client disconnected
	}
}

// keyOf returns the key that a request names: as a Bearer token, or, for log
// drains that can only be given an address, in the query.
func keyOf(r *http.Request) string {
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(token)
	}
	if key := r.URL.Query().Get("key"); strings.HasPrefix(key, "log_") {
		return key
	}
	return ""
}

func (h *Handler) collect(w http.ResponseWriter, r *http.Request) (int, any, error) {
	token := keyOf(r)
	var key *collect.Key
	o := event.Options{
		MediaType: r.Header.Get("Content-Type"), Encoding: r.Header.Get("Content-Encoding"), Length: r.ContentLength,
		Format: event.Format(r.URL.Query().Get("format")), IdempotencyKey: r.Header.Get("Idempotency-Key"), ReceivedAt: h.Collect.Now().UTC(),
		Host: r.URL.Query().Get("host"), Backfill: isTrue(r, "backfill"), DryRun: isTrue(r, "dryRun"),
		ClientIP: reqctx.Client(w), ClientUserAgent: r.UserAgent(),
	}
	if o.Format != "" {
		o.Limits = event.Limits{Events: event.MaxLogLines, Body: event.MaxLogBody}
	}
	// Limits come before a byte of the body is read.
	if token != "" || o.Format != "" {
		var err error
		if key, err = h.authenticate(r.Context(), w, token); err != nil {
			return 0, nil, err
		}
		o.Key, o.Currency = event.KeyKind(key.Kind), key.Workspace.Currency
	} else if err := h.limits.page(w, o.ReceivedAt); err != nil {
		return 0, nil, err
	}
	batch, err := read(r.Body, o, key)
	if err != nil {
		if key == nil || event.KeyKind(key.Kind) == event.KindPublishable {
			if limited := h.limits.failed(w, o.ReceivedAt); limited != nil {
				return 0, nil, limited
			}
		}
		return 0, nil, unreadable(err)
	}
	if key == nil { // navigator.sendBeacon has no headers
		if key, err = h.lookUp(r.Context(), w, batch.Key); err != nil {
			return 0, nil, err
		}
		if event.KeyKind(key.Kind) != event.KindPublishable {
			return 0, nil, forbidden("Only publishable keys may stand in a body. Send this one in the Authorization header.")
		}
	}
	if err := origin(w, r, key); err != nil {
		return 0, nil, err
	}
	if err := h.limits.events(key, len(batch.Inputs), o.ReceivedAt); err != nil {
		return 0, nil, err
	}
	receipt, err := h.Collect.Take(r.Context(), key, &batch, o.ReceivedAt)
	if err != nil {
		return 0, nil, err
	}
	w.Header().Set("X-Quota-Remaining", strconv.FormatInt(receipt.Left, 10))
	return answer(w, &batch, receipt)
}

// read reads a body. Without a key in the request's head it takes no more than a
// browser's beacon.
func read(body io.Reader, o event.Options, key *collect.Key) (event.Batch, error) {
	if key != nil {
		return event.Read(body, o)
	}
	if o.Encoding != "" && !strings.EqualFold(o.Encoding, "identity") {
		return event.Batch{}, fmt.Errorf("%w: send the key of a compressed body in the Authorization header", event.ErrEncoding)
	}
	o.Limits.Body = event.MaxBeacon
	batch, err := event.Read(body, o)
	if errors.Is(err, event.ErrTooLarge) {
		err = fmt.Errorf("%w, or send its key in the Authorization header", err)
	}
	return batch, err
}

func isTrue(r *http.Request, name string) bool {
	v := r.URL.Query().Get(name)
	return v == "1" || v == "true"
}

// notToken reports whether a character is invalid in a header's value that we repeat.
func notToken(r rune) bool {
	return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

// origin holds publishable keys to the pages they are for.
func origin(w http.ResponseWriter, r *http.Request, key *collect.Key) error {
	from := r.Header.Get("Origin")
	if event.KeyKind(key.Kind) != event.KindPublishable {
		return nil
	}
	if !slices.Contains(key.Origins, from) {
		return forbidden("This publishable key is not for pages of this origin. Make one with this origin in origins: POST /api/agent/keys.")
	}
	w.Header().Set("Access-Control-Allow-Origin", from)
	w.Header().Add("Vary", "Origin")
	return nil
}

func forbidden(description string) *apierr.Error {
	return &apierr.Error{Status: http.StatusForbidden, Code: "forbidden", Description: description}
}

// unreadable turns an error of package event about a whole body into an answer.
func unreadable(err error) error {
	e := &apierr.Error{Status: http.StatusBadRequest, Code: "invalid_request", Description: describe(err.Error()), Cause: err}
	var broken *http.MaxBytesError
	switch {
	case errors.Is(err, event.ErrTooLarge), errors.As(err, &broken):
		e.Status, e.Code = http.StatusRequestEntityTooLarge, "request_too_large"
	case errors.Is(err, event.ErrUnsupportedMedia), errors.Is(err, event.ErrEncoding):
		e.Status, e.Code = http.StatusUnsupportedMediaType, "unsupported_media_type"
	case errors.Is(err, event.ErrUnreadable), errors.Is(err, event.ErrUnknownFormat):
	default: // the connection broke off
		e.Description = "Unexpected end of the request body."
	}
	return e
}

// describe makes a text fit for an error description (RFC 6749, 5.2).
func describe(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return ' '
		}
		return r
	}, s)
}

type refusal struct {
	Index   int        `json:"index"`
	ID      string     `json:"id,omitempty"`
	Code    event.Code `json:"code"`
	Field   string     `json:"field,omitempty"`
	Message string     `json:"message"`
}

type warning struct {
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Count   int      `json:"count"`
	Fields  []string `json:"fields,omitempty"`
}

type receiptBody struct {
	Accepted   int            `json:"accepted"`
	Duplicates int            `json:"duplicates"`
	Rejected   int            `json:"rejected"`
	Skipped    int            `json:"skipped,omitempty"`
	DryRun     bool           `json:"dryRun,omitempty"`
	Events     []event.Record `json:"events,omitempty"`
	ReceivedAt string         `json:"receivedAt"`
	RequestID  string         `json:"requestId"`
	Errors     []refusal      `json:"errors,omitempty"`
	Warnings   []warning      `json:"warnings,omitempty"`
}

// answer reports the result of every event: 202 when all were stored, 207 for a part,
// 400 or 403 when all were refused. A refused event never causes a retry of a valid
// one.
func answer(w http.ResponseWriter, batch *event.Batch, receipt *collect.Receipt) (int, any, error) {
	out := receiptBody{
		Accepted: receipt.Accepted, Duplicates: receipt.Duplicates, Rejected: len(batch.Refusals), Skipped: batch.Skipped + receipt.People, DryRun: batch.DryRun,
		Events: receipt.Records, ReceivedAt: receipt.ReceivedAt.Format(time.RFC3339Nano), RequestID: reqctx.ID(w),
	}
	allForbidden := len(batch.Refusals) > 0
	for _, r := range batch.Refusals {
		out.Errors = append(out.Errors, refusal{r.Index, r.ID, r.Code, r.Field, r.Message})
		allForbidden = allForbidden && r.Code == event.NotAllowed
	}
	for _, n := range batch.Warnings {
		out.Warnings = append(out.Warnings, warning{n.Code, n.Message, n.Count, n.Fields})
	}
	if receipt.Reused > 0 {
		out.Warnings = append(out.Warnings, warning{
			"id_reused_with_other_content", "an event of the same id is stored with other content; the first one counts", receipt.Reused, []string{"id"},
		})
	}
	out.Warnings = append(out.Warnings, edges(receipt)...)
	switch {
	case len(batch.Refusals) == 0:
		return http.StatusAccepted, out, nil
	case len(batch.Inputs) > 0:
		return http.StatusMultiStatus, out, nil
	case allForbidden:
		e := forbidden("This key may not send events of this type. Use a secret key.")
		e.Extra = out
		return 0, nil, e
	default:
		return 0, nil, &apierr.Error{Status: http.StatusBadRequest, Code: "invalid_request", Description: "No event of the body is valid; see errors.", Extra: out}
	}
}

// edges returns warnings of addresses that are not the client's: agents cannot be
// verified by them.
func edges(receipt *collect.Receipt) []warning {
	const send = ". Send the client's address as signals.ip: behind Cloudflare it is in CF-Connecting-IP, behind Fastly in Fastly-Client-IP. See /setup.md#env."
	var out []warning
	for _, w := range []warning{
		{Code: string(agentid.CDNAddress), Message: "the address is that of a CDN's edge, by which no agent can be verified"},
		{Code: string(agentid.PrivateAddress), Message: "the address is of a private network, by which no agent can be verified"},
	} {
		if w.Count = receipt.Edges[agentid.Reason(w.Code)]; w.Count > 0 {
			w.Message, w.Fields = w.Message+send, []string{"signals.ip"}
			out = append(out, w)
		}
	}
	return out
}

// probe reports whether the key is valid, and the time of the last event.
func (h *Handler) probe(w http.ResponseWriter, r *http.Request) (int, any, error) {
	key, err := h.authenticate(r.Context(), w, keyOf(r))
	if err != nil {
		return 0, nil, err
	}
	health, err := h.Collect.Health(r.Context(), key)
	if err != nil {
		return 0, nil, err
	}
	if v := r.URL.Query().Get("verify"); v != "" && !strings.ContainsFunc(v, notToken) { // Vercel asks for this before it sends logs
		w.Header().Set("X-Vercel-Verify", v)
	}
	out := struct {
		Workspace string  `json:"workspace"`
		Claimed   bool    `json:"claimed"`
		Key       string  `json:"key"`
		Kind      string  `json:"kind"`
		LastEvent *string `json:"lastEventAt"`
		Today     int64   `json:"eventsToday"`
		Total     int64   `json:"eventsTotal"`
	}{Workspace: key.Workspace.Slug, Claimed: key.Claimed(), Key: key.Shown, Kind: key.Kind, Today: health.Today, Total: health.Total}
	if !health.LastAt.IsZero() {
		at := health.LastAt.Format(time.RFC3339Nano)
		out.LastEvent = &at
	}
	return http.StatusOK, out, nil
}
