package evals

import (
	"context"
	"encoding/json"
	"time"

	"github.com/firstpick/firstpick/server/store/state"
)

// The types of events.
const (
	EventStarted  = "started"
	EventProgress = "progress"
	EventEnded    = "ended"
)

// An EndedEvent is the body of a run's last event.
type EndedEvent struct {
	Type   string `json:"type"`
	Status string `json:"status"`
	Note   string `json:"note"`
}

func ended(r *state.EvalRun) []byte {
	data, err := json.Marshal(EndedEvent{EventEnded, r.Status, r.Failure})
	if err != nil {
		panic(err) // texts always encode
	}
	return data
}

const (
	pollEvery  = time.Second // for new events
	keepAlive  = 15 * time.Second
	eventBatch = 500
)

// Watch calls send with the events of a run after a given one, as they happen, and
// returns nil after the last. For an ended run it sends the last event again. After
// 15 s without events it sends an event of number 0 without body, so that the caller
// notices closed connections. An error of send ends it.
func (s *Service) Watch(ctx context.Context, a Actor, id string, after int64, send func(Event) error) error {
	if err := a.may(ScopeRead); err != nil {
		return err
	}
	tx := s.DB.Read()
	lastSent := s.Now()
	for {
		// The run is read first: when it had ended then, all its events are there.
		row, err := tx.Run(ctx, a.Workspace.ID, id)
		if err != nil {
			return s.fail(noRun(err))
		}
		events, err := tx.RunEventsAfter(ctx, row.ID, after, eventBatch)
		if err != nil {
			return s.fail(err)
		}
		for _, e := range events {
			if err := send(Event{e.Seq, e.At, e.Body}); err != nil {
				return err
			}
			after, lastSent = e.Seq, s.Now()
		}
		switch {
		case len(events) == eventBatch:
			continue
		case !row.EndedAt.IsZero():
			if len(events) == 0 {
				return send(Event{row.LastEvent, row.EndedAt, ended(row)})
			}
			return nil
		case s.Now().Sub(lastSent) >= keepAlive:
			if err := send(Event{}); err != nil {
				return err
			}
			lastSent = s.Now()
		}
		if err := s.Sleep(ctx, pollEvery); err != nil {
			return err
		}
	}
}
