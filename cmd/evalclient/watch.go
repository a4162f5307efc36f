package evalclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/firstpick/firstpick/server/evals/resource"
)

// The types of event.
const (
	EventStarted  = "started"
	EventProgress = "progress"
	EventEnded    = "ended"
)

// maxLost is how often in a row a stream may break without an event.
const maxLost = 10

// An Event is something that happened in a run.
type Event struct {
	// Seq numbers the events of a run, upwards.
	Seq int64 `json:"-"`
	// Type is started, progress or ended; which of the fields are set follows from it.
	Type string    `json:"type"`
	At   time.Time `json:"at"`
	// Attempt counts how often a worker has taken the run, from 1.
	Attempt int `json:"attempt"`
	resource.Progress
	// Status is how the run ended, Note why.
	Status string `json:"status"`
	Note   string `json:"note"`
	// Body is the event as it came.
	Body json.RawMessage `json:"-"`
}

// Watch returns the events of a run behind the one numbered after, those to come too,
// until the run has ended. A connection that breaks is made again and goes on where
// it was.
func (c *Client) Watch(ctx context.Context, runID string, after int64) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		w := watcher{c: c, run: runID, last: after, yield: yield}
		for failed := 1; ; failed++ {
			before := w.last
			err := w.read(ctx)
			if w.over {
				return
			}
			if w.last > before {
				failed = 1
			}
			if failed == maxLost || ctx.Err() != nil || !temporary(err) {
				yield(nil, err)
				return
			}
			if err := c.Sleep(ctx, min(max(w.retry, pause(failed, err)), longestWait)); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

type watcher struct {
	c     *Client
	run   string
	last  int64
	retry time.Duration
	yield func(*Event, error) bool
	over  bool // the run has ended, or the reader stopped
}

// read reads one connection until it breaks.
func (w *watcher) read(ctx context.Context) error {
	in := call{method: http.MethodGet, path: runPath(w.run) + "/events", header: map[string]string{"Accept": "text/event-stream"}}
	if w.last > 0 {
		in.header["Last-Event-ID"] = strconv.FormatInt(w.last, 10)
	}
	res, err := w.c.open(ctx, in)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode == http.StatusNoContent { // the end was sent before
		w.over = true
		return nil
	}
	s := newStream(res.Body)
	for !w.over {
		m, err := s.next()
		w.retry = s.retry
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: the stream broke off", in.path)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", in.path, err)
		}
		w.take(m)
	}
	return nil
}

// take yields new events. Unknown events are skipped: a
// later version may have such.
func (w *watcher) take(m message) {
	e := &Event{Body: m.data}
	if json.Unmarshal(m.data, e) != nil || e.Type == "" {
		return
	}
	seq, err := strconv.ParseInt(m.id, 10, 64)
	if err != nil || seq <= w.last && e.Type != EventEnded { // a client that missed the end gets it under the number of the last
		return
	}
	e.Seq, w.last = seq, seq
	w.over = !w.yield(e, nil) || e.Type == EventEnded
}
