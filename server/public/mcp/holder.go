package mcp

import (
	"bytes"
	"net/http"
)

// A holder holds an answer back, unless it is a stream of events.
type holder struct {
	to      http.ResponseWriter
	header  http.Header
	status  int
	wrote   bool
	streams bool
	body    bytes.Buffer
}

// Header implements http.ResponseWriter.
func (h *holder) Header() http.Header { return h.header }

// WriteHeader implements http.ResponseWriter.
func (h *holder) WriteHeader(status int) {
	if h.wrote {
		return
	}
	h.status, h.wrote = status, true
	if h.streams = mediaType(h.header.Get("Content-Type")) == "text/event-stream"; h.streams {
		h.pass(h.to.Header())
		h.to.Header().Set("X-Accel-Buffering", "no") // proxies, too, pass it as it comes
		h.to.WriteHeader(status)
	}
}

// pass copies headers. Headers set by the gate stay.
func (h *holder) pass(head http.Header) {
	for name, values := range h.header {
		if head[name] == nil {
			head[name] = values
		}
	}
}

// Write implements http.ResponseWriter.
func (h *holder) Write(b []byte) (int, error) {
	h.WriteHeader(http.StatusOK)
	if h.streams {
		return h.to.Write(b)
	}
	return h.body.Write(b)
}

// Flush implements http.Flusher, which the SDK asks for.
func (h *holder) Flush() {
	if h.streams {
		_ = http.NewResponseController(h.to).Flush() // an error means that the client disconnected
	}
}
