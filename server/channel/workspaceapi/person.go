package workspaceapi

import (
	"net/http"

	"github.com/firstpick/firstpick/server/channel/collect"
	"github.com/firstpick/firstpick/server/channel/export"
	"github.com/firstpick/firstpick/server/kit/endpoint"
	"github.com/firstpick/firstpick/server/kit/reqbody"
)

// events answers with the stored events as a file.
func (h *Handler) events(w http.ResponseWriter, r *http.Request) {
	endpoint.Headers(w.Header())
	_, ws, _, err := h.read(w, r)
	if err == nil {
		files := export.Sender{Reports: h.Reports, Now: h.Now}
		err = files.Send(w, r, ws)
	}
	if err != nil {
		h.Fail(w, r, err)
	}
}

// A personRequest is an authenticated request about a person.
type personRequest struct {
	token     Token
	workspace string
	subject   collect.Subject
}

// readPerson reads a request about a person. Only a token that may read the workspace may
// send one.
func (h *Handler) readPerson(w http.ResponseWriter, r *http.Request) (req personRequest, err error) {
	token, ws, _, err := h.read(w, r)
	if err != nil {
		return req, err
	}
	var body struct {
		Email        string `json:"email"`
		UserRef      string `json:"userRef"`
		VisitorToken string `json:"visitorToken"`
	}
	err = reqbody.Object(r, &body)
	return personRequest{token, ws.ID, collect.Subject(body)}, err
}

// person answers with the events of a person.
func (h *Handler) person(w http.ResponseWriter, r *http.Request) (any, error) {
	req, err := h.readPerson(w, r)
	if err == nil {
		err = req.token.CountPerson(r.Context())
	}
	if err != nil {
		return nil, err
	}
	events, err := h.Collect.About(r.Context(), req.workspace, req.subject)
	return map[string]any{"events": events}, err
}

// erase erases the events of a person.
func (h *Handler) erase(w http.ResponseWriter, r *http.Request) (any, error) {
	req, err := h.readPerson(w, r)
	if err == nil {
		err = req.token.MayErase()
	}
	if err == nil {
		err = req.token.CountPerson(r.Context())
	}
	if err != nil {
		return nil, err
	}
	n, err := h.Collect.Erase(r.Context(), req.workspace, req.subject)
	if err != nil {
		return nil, err
	}
	return map[string]int{"erased": n}, req.token.AuditErasure(r.Context(), n)
}
