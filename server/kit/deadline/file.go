package deadline

import (
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/kit/apierr"
)

// ServeFile answers with a file or the parts of it that the request asks for. The headers,
// also ETag and Content-Type, are set before. The error is one of our form for a part that
// the file does not have.
func ServeFile(w http.ResponseWriter, r *http.Request, file io.ReadSeeker) error {
	if unit := r.Header.Get("Range"); unit != "" && !strings.HasPrefix(unit, "bytes=") { // unknown units are ignored (RFC 9110, 14.2)
		r = r.Clone(r.Context())
		r.Header.Del("Range")
	}
	out := &ranges{Writer: NewWriter(w)}
	http.ServeContent(out, r, "", time.Time{}, file)
	if out.refused {
		return &apierr.Error{
			Status: http.StatusRequestedRangeNotSatisfiable, Code: "range_not_satisfiable", Description: "The file has no such part. Content-Range says how long it is.",
		}
	}
	return nil
}

// A ranges replaces net/http's error text for an unsatisfiable range.
type ranges struct {
	*Writer
	refused bool
}

// WriteHeader implements http.ResponseWriter.
func (w *ranges) WriteHeader(status int) {
	if status == http.StatusRequestedRangeNotSatisfiable {
		w.refused = true
		return
	}
	w.Writer.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *ranges) Write(b []byte) (int, error) {
	if w.refused {
		return len(b), nil
	}
	return w.Writer.Write(b)
}
