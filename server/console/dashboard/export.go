package dashboard

import "github.com/firstpick/firstpick/server/channel/export"

// export answers with the stored events as a file.
func (h *Handler) export(v *visit) error {
	files := export.Sender{Reports: h.Reports, Now: h.Sessions.Now}
	return files.Send(v.W, v.R, v.Workspace)
}
