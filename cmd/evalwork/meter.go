package evalwork

import (
	"context"
	"encoding/json"
	"math"
	"sync"

	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/server/evals/resource"
	"github.com/firstpick/firstpick/server/store/state"
)

// A meter is a sink that stores the latest status of a run.
type meter struct {
	mu     sync.Mutex
	latest runner.Status
	counts *Counts // of the worker
}

// Event implements runner.Sink.
func (m *meter) Event(_ context.Context, e runner.Event) error {
	if e.Status != nil {
		m.mu.Lock()
		m.counts.advance(m.latest, *e.Status)
		m.latest = *e.Status
		m.mu.Unlock()
	}
	return nil
}

// Close implements runner.Sink.
func (*meter) Close() error { return nil }

// begin sets the status from the run's journal.
func (m *meter) begin(planned int, p runner.Progress) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.latest = runner.Status{Planned: planned, Valid: len(p.Valid), Excluded: len(p.Excluded), SpentUSD: p.SpentUSD, ReservedUSD: p.LostUSD}
}

func (m *meter) read() runner.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.latest
}

// mostUSD is the largest amount that the store accepts, far above any bill: prices and
// tokens come from evals and model servers.
const mostUSD = 1e12

// micros are millionths of a dollar.
func micros(usd float64) int64 { return int64(math.Round(min(usd, mostUSD) * 1e6)) }

// progress converts a status to the row's progress columns.
func (j *job) progress(s runner.Status) state.RunProgress {
	p := progressOf(s)
	p.Worked = j.row.Worked + j.w.Now().Sub(j.began)
	return p
}

func progressOf(s runner.Status) state.RunProgress {
	return state.RunProgress{
		Planned: s.Planned, Valid: s.Valid, Excluded: s.Excluded, SpentMicros: micros(s.SpentUSD), AtMostMicros: micros(s.SpentUSD + s.ReservedUSD),
	}
}

// The bodies of events.
type (
	startedEvent struct {
		Type    string `json:"type"`
		Attempt int    `json:"attempt"`
	}
	progressEvent struct {
		Type string `json:"type"`
		resource.Progress
	}
)

// body encodes an event.
func body(event any) []byte {
	data, err := json.Marshal(event)
	if err != nil {
		panic(err) // texts and finite numbers always encode
	}
	return data
}

func dollars(micros int64) float64 { return float64(micros) / 1e6 }

// newProgressEvent converts a status to a progress event. Amounts are rounded as in the row.
func newProgressEvent(s runner.Status) progressEvent {
	p := progressOf(s)
	e := progressEvent{"progress", resource.Progress{
		Planned: s.Planned, Valid: s.Valid, Excluded: s.Excluded, InFlight: s.InFlight,
		SpentUSD: dollars(p.SpentMicros), AtMostUSD: dollars(p.AtMostMicros), Lanes: []resource.Lane{},
	}}
	for _, l := range s.Lanes {
		e.Lanes = append(e.Lanes, resource.Lane{Name: l.Name, Agents: l.Agents, Phase: l.Phase, Reason: l.Reason})
	}
	return e
}
