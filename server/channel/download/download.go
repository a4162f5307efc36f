// Package download answers with the events of a workspace as a file, however
// long that takes.
package download

import (
	"errors"
	"net/http"
	"time"

	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/kit/apierr"
)

// stall is how long a client may take for a piece of the file.
const stall = 30 * time.Second

// A Sender answers with files. Reports is nil where this server has no read model.
type Sender struct {
	Reports traffic.Reports
	Now     func() time.Time
}

// Send answers with the events of a workspace that the request's query asks for:
// format, and the window as in traffic.ParseQuery, by default all. It returns what
// is wrong when nothing was sent yet. When it fails later, the connection is cut,
// so that half a file is not taken for a whole one.
func (s *Sender) Send(w http.ResponseWriter, r *http.Request, workspace, slug string) error {
	if s.Reports == nil {
		return &apierr.Error{
			Status: http.StatusServiceUnavailable, Code: "temporarily_unavailable", RetryAfter: 60,
			Description: "This server has no copy of the events to export. Ask another one, or look into its log.",
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
	h := w.Header()
	h.Set("Content-Type", f.MediaType())
	h.Set("Content-Disposition", `attachment; filename="`+slug+"-"+now.UTC().Format(time.DateOnly)+"."+string(f)+`"`)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	out := NewPatient(w)
	err = s.Reports.Export(r.Context(), workspace, q, f, out)
	switch {
	case err == nil:
		return nil
	case out.Begun:
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

// A Patient gives a client time for each piece of an answer rather than for the
// whole.
type Patient struct {
	http.ResponseWriter
	Begun   bool // something was written
	control *http.ResponseController
}

// NewPatient returns a writer of w's answer.
func NewPatient(w http.ResponseWriter) *Patient {
	return &Patient{ResponseWriter: w, control: http.NewResponseController(w)}
}

// Write implements io.Writer.
func (p *Patient) Write(b []byte) (int, error) {
	until := time.Now().Add(stall) //nolint:forbidigo // connections go by the machine's clock
	if err := p.control.SetWriteDeadline(until); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	p.Begun = true
	return p.ResponseWriter.Write(b)
}
