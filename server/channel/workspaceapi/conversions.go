package workspaceapi

import (
	"net/http"
	"strconv"

	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/route"
)

// Pages of a list of conversions.
const (
	pageRows = 100
	maxRows  = 1000
)

// conversions lists the conversions of a window and the agents credited with them.
func (h *Handler) conversions(w http.ResponseWriter, r *http.Request) (any, error) {
	workspace, q, err := h.query(w, r)
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
		return nil, reportError(r.Context(), err)
	}
	return list, nil
}

// conversion returns the touches on the way to a conversion, and the credit of each.
func (h *Handler) conversion(w http.ResponseWriter, r *http.Request) (any, error) {
	workspace, q, err := h.query(w, r)
	if err != nil {
		return nil, err
	}
	c, err := h.Reports.Conversion(r.Context(), workspace, route.Param(r, "id"), q)
	if err != nil {
		return nil, reportError(r.Context(), err)
	}
	return c, nil
}

// query reads a request for a report of the token's workspace.
func (h *Handler) query(w http.ResponseWriter, r *http.Request) (workspace string, q traffic.Query, err error) {
	_, ws, _, err := h.read(w, r)
	if err != nil {
		return "", q, err
	}
	if h.Reports == nil {
		return "", q, reportError(r.Context(), nil)
	}
	q, err = traffic.ParseQuery(r.URL.Query(), h.Now())
	return ws.ID, q, err
}

// count reads a number from 0 to limit; byDefault where it is absent.
func count(r *http.Request, name string, byDefault, limit int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return byDefault, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > limit {
		return 0, apierr.InvalidRequest(name + " must be a number from 0 to " + strconv.Itoa(limit) + ".")
	}
	return n, nil
}
