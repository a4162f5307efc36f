package dashboard

import "github.com/firstpick/firstpick/server/download"

// export answers with the stored events as a file.
func (h *Handler) export(v *visit) error {
	files := download.Sender{Reports: h.Reports, Now: h.Sessions.Now}
	return files.Send(v.w, v.r, v.workspace.ID, v.workspace.Slug)
}
