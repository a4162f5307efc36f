// Package sse sends streams of server-sent events (WHATWG HTML, 9.2) of any length. It
// limits the open streams, bounds each write, and ends all streams when the server
// stops.
package sse

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	writeTimeout = 30 * time.Second // of one write
	closeTimeout = 2 * time.Second  // of the last write, once the server stops
	retry        = 2 * time.Second  // after which a disconnected client reconnects
)

// A Stream is one response. Its methods must be called by one goroutine.
type Stream struct {
	// End releases the stream. It must be called when the response is complete.
	End func()

	ctx     context.Context //nolint:containedctx // of the request and the server together
	w       http.ResponseWriter
	control *http.ResponseController
	started bool

	mu      sync.Mutex // of the write deadline
	closing bool       // the deadline is final
}

// Open opens a stream of an owner, the id of a key or an account, or fails with
// ErrTooMany. Nothing is written before Begin or the first event.
func (l *Limiter) Open(w http.ResponseWriter, r *http.Request, owner string) (*Stream, error) {
	leave, err := l.Enter(owner)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(r.Context())
	s := &Stream{ctx: ctx, w: w, control: http.NewResponseController(w)}
	unhook := context.AfterFunc(l.open, func() {
		cancel()
		s.deadline(closeTimeout, true)
	})
	s.End = sync.OnceFunc(func() {
		unhook()
		cancel()
		leave()
	})
	return s, nil
}

// deadline sets the write deadline. A final one is not changed any more.
func (s *Stream) deadline(d time.Duration, final bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return
	}
	s.closing = final
	_ = s.control.SetWriteDeadline(time.Now().Add(d)) //nolint:forbidigo // connections use the system clock
}

// Context ends with the request, with the server, and with End.
func (s *Stream) Context() context.Context { return s.ctx }

// Started reports whether the response has begun.
func (s *Stream) Started() bool { return s.started }

// Begin sends the header of the response.
func (s *Stream) Begin() error {
	if s.started {
		return nil
	}
	s.started = true
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // without it, proxies that buffer responses never send this one
	s.w.WriteHeader(http.StatusOK)
	return s.write([]byte("retry: " + strconv.FormatInt(retry.Milliseconds(), 10) + "\n\n"))
}

// Send sends an event. The type must be one line; data may have several.
func (s *Stream) Send(id int64, kind string, data []byte) error {
	if err := s.Begin(); err != nil {
		return err
	}
	b := []byte("id: " + strconv.FormatInt(id, 10) + "\nevent: " + kind + "\n")
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		b = append(append(append(b, "data: "...), bytes.ReplaceAll(line, []byte("\r"), nil)...), '\n')
	}
	return s.write(append(b, '\n'))
}

// Beat sends a comment as a keep-alive.
func (s *Stream) Beat() error {
	if err := s.Begin(); err != nil {
		return err
	}
	return s.write([]byte(": beat\n\n"))
}

func (s *Stream) write(b []byte) error {
	s.deadline(writeTimeout, false)
	if _, err := s.w.Write(b); err != nil {
		return err
	}
	return s.control.Flush()
}
