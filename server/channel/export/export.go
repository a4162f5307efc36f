// Package export sends the stored events of a workspace as a file.
package export

import (
	"net/http"
	"time"

	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/deadline"
	"github.com/firstpick/firstpick/server/store/state"
)

// A Sender sends exports. Reports is nil on a server without the read model.
type Sender struct {
	Reports traffic.Reports
	Now     func() time.Time
}

// Send sends the events of a workspace; the file of a sample has made-up in its name. The query parameters are format, and the window
// as in traffic.ParseQuery, by default all. Send returns an error while the response has
// not started. A later failure aborts the connection, so that no client takes half a file
// for a whole one.
func (s *Sender) Send(w http.ResponseWriter, r *http.Request, ws *state.Workspace) error {
	if s.Reports == nil {
		return &apierr.Error{
			Status: http.StatusServiceUnavailable, Code: "temporarily_unavailable", RetryAfter: 60,
			Description: "This server has no copy of the events to export. Try another server, or read its log.",
		}
	}
	values := r.URL.Query()
	f, err := traffic.ParseFormat(values.Get("format"))
	if err != nil {
		return err
	}
	if !values.Has("window") && !values.Has("from") {
		values.Set("window", "400d")
	}
	now := s.Now()
	q, err := traffic.ParseQuery(values, now)
	if err != nil {
		return err
	}
	name := ws.Slug
	if ws.MadeUp() {
		name += "-made-up"
	}
	h := w.Header()
	h.Set("Content-Type", f.MediaType())
	h.Set("Content-Disposition", `attachment; filename="`+name+"-"+now.UTC().Format(time.DateOnly)+"."+string(f)+`"`)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	out := deadline.NewWriter(w)
	err = s.Reports.Export(r.Context(), ws.ID, q, f, out)
	switch {
	case err == nil:
		return nil
	case out.Started:
		panic(http.ErrAbortHandler)
	}
	for _, name := range []string{"Content-Type", "Content-Disposition"} {
		h.Del(name)
	}
	if r.Context().Err() != nil {
		return apierr.Gone(err)
	}
	return &apierr.Error{
		Status: http.StatusServiceUnavailable, Code: "temporarily_unavailable", RetryAfter: 5, Cause: err, Description: "The export cannot be made now. Try again.",
	}
}
