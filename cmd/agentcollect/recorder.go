package agentcollect

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// A recorder notes how a request was answered.
type recorder struct {
	http.ResponseWriter
	status   int // 0 until the answer began
	written  int64
	hijacked bool
}

// WriteHeader implements http.ResponseWriter. Informational statuses precede the final
// one, except 101, which is final.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(p []byte) (int, error) {
	w.begin()
	n, err := w.ResponseWriter.Write(p)
	w.written += int64(n)
	return n, err
}

// WriteString implements io.StringWriter.
func (w *recorder) WriteString(s string) (int, error) {
	w.begin()
	n, err := io.WriteString(w.ResponseWriter, s)
	w.written += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *recorder) begin() {
	if w.status == 0 {
		w.status = http.StatusOK
	}
}

// outcome returns the status of the answer; 0 for a connection that the handler
// took over for something that we do not see.
func (w *recorder) outcome(r *http.Request) int {
	switch {
	case w.status != 0:
		return w.status
	case !w.hijacked:
		return http.StatusOK
	case r.Header.Get("Upgrade") != "":
		return http.StatusSwitchingProtocols
	}
	return 0
}

// Optional interfaces of a ResponseWriter. Handlers test for them by type, so a wrapper
// must implement exactly those of the writer that it wraps.
type (
	flusher  struct{ *recorder }
	hijacker struct{ *recorder }
	reader   struct{ *recorder }
)

func (w flusher) Flush() { _ = w.FlushError() }

// FlushError is the method that http.ResponseController prefers.
func (w flusher) FlushError() error {
	w.begin()
	if f, ok := w.ResponseWriter.(interface{ FlushError() error }); ok {
		return f.FlushError()
	}
	w.ResponseWriter.(http.Flusher).Flush()
	return nil
}

func (w hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := w.ResponseWriter.(http.Hijacker).Hijack()
	w.hijacked = w.hijacked || err == nil
	return conn, rw, err
}

func (w reader) ReadFrom(r io.Reader) (int64, error) {
	w.begin()
	n, err := w.ResponseWriter.(io.ReaderFrom).ReadFrom(r)
	w.written += n
	return n, err
}

// dressed returns the writer for the handler.
func (w *recorder) dressed() http.ResponseWriter {
	_, canFlush := w.ResponseWriter.(http.Flusher)
	_, canHijack := w.ResponseWriter.(http.Hijacker)
	_, canRead := w.ResponseWriter.(io.ReaderFrom)
	f, h, r := flusher{w}, hijacker{w}, reader{w}
	switch {
	case canFlush && canHijack && canRead:
		return struct {
			*recorder
			flusher
			hijacker
			reader
		}{w, f, h, r}
	case canFlush && canHijack:
		return struct {
			*recorder
			flusher
			hijacker
		}{w, f, h}
	case canFlush && canRead:
		return struct {
			*recorder
			flusher
			reader
		}{w, f, r}
	case canHijack && canRead:
		return struct {
			*recorder
			hijacker
			reader
		}{w, h, r}
	case canFlush:
		return f
	case canHijack:
		return h
	case canRead:
		return r
	}
	return w
}
