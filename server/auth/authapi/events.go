package authapi

import (
	"net/http"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/channel/collect"
	"github.com/firstpick/firstpick/server/channel/export"
	"github.com/firstpick/firstpick/server/kit/reqbody"
	"github.com/firstpick/firstpick/server/store/state"
)

// events answers with the stored events as a file.
func (h *Handler) events(w http.ResponseWriter, r *http.Request) {
	common(w.Header())
	b, err := h.bearer(r)
	if err == nil {
		err = h.download(w, r, b)
	}
	if err != nil {
		h.fail(w, r, h.Errors, err)
	}
}

func (h *Handler) download(w http.ResponseWriter, r *http.Request, b state.Bearer) error {
	ws, _, err := h.Agents.ReadWorkspace(r.Context(), b)
	if err != nil {
		return err
	}
	files := export.Sender{Reports: h.Reports, Now: h.Agents.Now}
	return files.Send(w, r, ws.ID, ws.Slug)
}

type subjectRequest struct {
	Email        string `json:"email"`
	UserRef      string `json:"userRef"`
	VisitorToken string `json:"visitorToken"`
}

// person answers with what is kept about a person.
func (h *Handler) person(c *registrations.Caller, r *http.Request) (any, error) {
	b, who, err := h.subject(r)
	if err == nil {
		err = h.Agents.AskPerson(r.Context(), c, b)
	}
	if err != nil {
		return nil, err
	}
	events, err := h.Collect.About(r.Context(), b.WorkspaceID, who)
	return map[string]any{"events": events}, err
}

// erase erases what is kept about a person.
func (h *Handler) erase(c *registrations.Caller, r *http.Request) (any, error) {
	b, who, err := h.subject(r)
	if err == nil {
		err = h.Agents.MayErase(b)
	}
	if err == nil {
		err = h.Agents.AskPerson(r.Context(), c, b)
	}
	if err != nil {
		return nil, err
	}
	n, err := h.Collect.Erase(r.Context(), b.WorkspaceID, who)
	if err != nil {
		return nil, err
	}
	return map[string]int{"erased": n}, h.Agents.NoteErasure(r.Context(), c, b, n)
}

// subject reads a request about a person. Only who may read a workspace may ask.
func (h *Handler) subject(r *http.Request) (state.Bearer, collect.Subject, error) {
	b, err := h.bearer(r)
	if err != nil {
		return b, collect.Subject{}, err
	}
	if _, _, err := h.Agents.ReadWorkspace(r.Context(), b); err != nil {
		return b, collect.Subject{}, err
	}
	var req subjectRequest
	err = reqbody.Object(r, &req)
	return b, collect.Subject(req), err
}
