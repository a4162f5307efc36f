// Package sse answers with streams of server-sent events (WHATWG HTML, 9.2), each
// for as long as it takes: it bounds how many are open, gives every write a time
// of its own, and ends them all when the server stops.
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
	stall    = 30 * time.Second // for a reader to take what was written
	farewell = 2 * time.Second  // the same, once the server stops: for the end of the answer
	retry    = 2 * time.Second  // after which a reader that was cut off comes again
)

// A Stream is one answer. Its methods are for one goroutine.
type Stream struct {
	// End gives the place back. It must be called once the answer is written.
	End func()

	ctx     context.Context //nolint:containedctx // of the request and the server together
	w       http.ResponseWriter
	control *http.ResponseController
	begun   bool

	mu      sync.Mutex // of the write deadline
	closing bool       // the deadline is that of the answer's end
}

// Open takes a place for a stream to its owner, a key's or an account's id, or fails
// with ErrTooMany. Nothing is written before Begin or the first event.
func (g *Gate) Open(w http.ResponseWriter, r *http.Request, owner string) (*Stream, error) {
	leave, err := g.Enter(owner)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(r.Context())
	s := &Stream{ctx: ctx, w: w, control: http.NewResponseController(w)}
	unhook := context.AfterFunc(g.open, func() {
		cancel()
		s.deadline(farewell, true)
	})
	s.End = sync.OnceFunc(func() {
		unhook()
		cancel()
		leave()
	})
	return s, nil
}

// deadline gives writes a time from now on. The one of the answer's end is final.
func (s *Stream) deadline(d time.Duration, final bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return
	}
	s.closing = final
	_ = s.control.SetWriteDeadline(time.Now().Add(d)) //nolint:forbidigo // connections go by the machine's clock
}

// Context ends with the request, with the server, and with End.
func (s *Stream) Context() context.Context { return s.ctx }

// Begun says whether a status was sent.
func (s *Stream) Begun() bool { return s.begun }

// Begin sends the head of the answer.
func (s *Stream) Begin() error {
	if s.begun {
		return nil
	}
	s.begun = true
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // proxies that gather answers would gather for ever
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

// Beat sends a comment, so that nobody takes a quiet stream for a dead one.
func (s *Stream) Beat() error {
	if err := s.Begin(); err != nil {
		return err
	}
	return s.write([]byte(": beat\n\n"))
}

func (s *Stream) write(b []byte) error {
	s.deadline(stall, false)
	if _, err := s.w.Write(b); err != nil {
		return err
	}
	return s.control.Flush()
}
