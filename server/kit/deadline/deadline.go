// Package deadline bounds each write of a response rather than the whole: a large
// file may take long, a stalled client may not.
package deadline

import (
	"errors"
	"net/http"
	"time"
)

// writeTimeout is how long a client may take for one write.
const writeTimeout = 30 * time.Second

// A Writer is an http.ResponseWriter that renews the write deadline with each write.
type Writer struct {
	http.ResponseWriter
	Started bool // a write was attempted
	control *http.ResponseController
}

// NewWriter returns a writer to w.
func NewWriter(w http.ResponseWriter) *Writer {
	return &Writer{ResponseWriter: w, control: http.NewResponseController(w)}
}

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	until := time.Now().Add(writeTimeout) //nolint:forbidigo // connections use the system clock
	if err := w.control.SetWriteDeadline(until); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	w.Started = true
	return w.ResponseWriter.Write(p)
}
