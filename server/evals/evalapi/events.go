package evalapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/reqctx"
)

// recheck is how often the key of who watches is looked at again.
const recheck = 15 * time.Second

// events streams the events of a run after a given one, until the run ends. A client
// that has the last event of an ended run gets 204, which stops its reconnects (WHATWG
// HTML, 9.2).
func (h *Handler) events(c *call) error {
	after, err := c.after()
	if err != nil {
		return err
	}
	run, err := h.Evals.Run(c.r.Context(), c.Actor, c.param("runId"))
	if err != nil {
		return err
	}
	if c.r.Method == http.MethodHead {
		c.w.Header().Set("Content-Type", "text/event-stream")
		c.w.WriteHeader(http.StatusOK)
		return nil
	}
	stream, err := h.Streams.Open(c.w, c.r, c.Workspace.ID)
	if err != nil {
		e := apierr.RateLimited(30)
		e.Description = "This workspace, or the server, has as many event streams open as it may. Close one, or ask for the run instead."
		return e
	}
	defer stream.End()
	if run.EndedAt == nil {
		if err := stream.Begin(); err != nil {
			return nil //nolint:nilerr // the client disconnected
		}
	}
	checked := h.Now()
	err = h.Evals.Watch(stream.Context(), c.Actor, run.ID, after, func(e evals.Event) error {
		if now := h.Now(); now.Sub(checked) >= recheck {
			if _, err := h.Evals.Authenticate(stream.Context(), c.token(), reqctx.Client(c.w), c.r.UserAgent()); err != nil {
				return err
			}
			checked = now
		}
		switch {
		case e.Body == nil:
			return stream.Beat()
		case e.Seq <= after && !stream.Started(): // the last event, repeated
			return nil
		}
		kind, data, err := encodeEvent(e)
		if err != nil {
			return err
		}
		return stream.Send(e.Seq, kind, data)
	})
	switch {
	case stream.Started() && err != nil && stream.Context().Err() == nil:
		h.Log.Warn("an event stream was cut off", "request_id", reqctx.ID(c.w), "run", run.ID, "err", err)
	case !stream.Started() && err != nil:
		return err
	case !stream.Started():
		c.w.WriteHeader(http.StatusNoContent)
	}
	return nil
}

// token returns the key of the request, which was found before.
func (c *call) token() string {
	token, _ := bearer(c.r) // it was there a moment ago
	return token
}

// encodeEvent returns an event's type, and its body with the time.
func encodeEvent(e evals.Event) (kind string, data []byte, err error) {
	body := map[string]json.RawMessage{}
	if err := json.Unmarshal(e.Body, &body); err != nil {
		return "", nil, err
	}
	if err := json.Unmarshal(body["type"], &kind); err != nil {
		return "", nil, fmt.Errorf("event %d has no type: %w", e.Seq, err)
	}
	if body["at"], err = json.Marshal(e.At.UTC()); err != nil {
		return "", nil, err
	}
	data, err = json.Marshal(body)
	return kind, data, err
}

// after is the number of the client's last event; 0 without one.
func (c *call) after() (int64, error) {
	values, err := c.query("after")
	if err != nil {
		return 0, err
	}
	text := values.Get("after")
	if last := c.r.Header.Get("Last-Event-ID"); last != "" { // sent by a client that reconnects
		text = last
	}
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, apierr.InvalidRequest("after and Last-Event-ID must be the number of an event, from 0.")
	}
	return n, nil
}
