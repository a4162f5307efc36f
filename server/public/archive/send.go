package archive

import (
	"net/http"

	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// send answers with a value as JSON. Characters that could act in a page or a terminal are
// escaped, also in text that is quoted from agents.
func (h *Handler) send(w http.ResponseWriter, r *http.Request, v any) error {
	body, err := snapshotview.EncodeJSON(v)
	if err != nil {
		return err
	}
	h.sendBytes(w, r, snapshotview.JSONType, body)
	return nil
}

// sendTable answers with a table as a file of comma-separated values.
func (h *Handler) sendTable(w http.ResponseWriter, r *http.Request, name string, table [][]any) error {
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.sendBytes(w, r, render.CSVType, render.CSV(table))
	return nil
}

func (h *Handler) sendBytes(w http.ResponseWriter, r *http.Request, kind string, body []byte) {
	links := w.Header()["Link"] // such as the next page
	h.Sender.Send(w, r, snapshotview.Unpacked(kind, body).WithLink(links))
}
