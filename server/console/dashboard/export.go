package dashboard

import "github.com/firstpick/firstpick/server/channel/download"

// export answers with the stored events as a file.
func (h *Handler) export(v *visit) error {
	files := download.Sender{Reports: h.Reports, Now: h.Sessions.Now}
	return files.Send(v.W, v.R, v.Workspace.ID, v.Workspace.Slug)
}
