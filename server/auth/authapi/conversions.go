package authapi

import (
	"net/http"
	"strconv"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/route"
)

// Pages of a list of conversions.
const (
	pageRows = 100
	maxRows  = 1000
)

// conversions lists the conversions of a window and whom they are credited to.
func (h *Handler) conversions(_ *registrations.Caller, r *http.Request) (any, error) {
	workspace, q, err := h.report(r)
	if err != nil {
		return nil, err
	}
	offset, err := count(r, "offset", 0, 1_000_000)
	if err != nil {
		return nil, err
	}
	limit, err := count(r, "limit", pageRows, maxRows)
	if err != nil {
		return nil, err
	}
	list, err := h.Reports.Conversions(r.Context(), workspace, q, offset, limit)
	if err != nil {
		return nil, unreported(r.Context(), err)
	}
	return list, nil
}

// conversion tells the touches on the way to a conversion, and what each of them
// counted.
func (h *Handler) conversion(_ *registrations.Caller, r *http.Request) (any, error) {
	workspace, q, err := h.report(r)
	if err != nil {
		return nil, err
	}
	c, err := h.Reports.Conversion(r.Context(), workspace, route.Param(r, "id"), q)
	if err != nil {
		return nil, unreported(r.Context(), err)
	}
	return c, nil
}

// report checks a request for a report of the token's workspace.
func (h *Handler) report(r *http.Request) (workspace string, q traffic.Query, err error) {
	b, err := h.bearer(r)
	if err != nil {
		return "", q, err
	}
	if _, _, err := h.Agents.ReadWorkspace(r.Context(), b); err != nil {
		return "", q, err
	}
	if h.Reports == nil {
		return "", q, unreported(r.Context(), nil)
	}
	q, err = traffic.ParseQuery(r.URL.Query(), h.Agents.Now())
	return b.WorkspaceID, q, err
}

// count reads a number from 0 to most.
func count(r *http.Request, name string, otherwise, most int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		return 0, apierr.InvalidRequest(name + " must be a number from 0 to " + strconv.Itoa(most) + ".")
	}
	return n, nil
}
