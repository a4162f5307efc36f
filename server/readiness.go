package server

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/console/operator"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/store/state"
)

// The states of the store, as /readyz names them.
const (
	storeOK       = "ok"
	storeReadOnly = "read-only" // it answers, and does not take writes: its disk is full, for example
	storeDown     = "down"
)

const (
	// writeCheckTTL is how long the result of a write check is cached, so that frequent
	// probes add no load.
	writeCheckTTL     = 5 * time.Second
	writeCheckTimeout = 2 * time.Second
	// troubleAge is how old a failed commit may be that counts.
	troubleAge = time.Minute
)

// A storeCheck finds out whether the store takes writes.
type storeCheck struct {
	db  *state.DB
	now func() time.Time

	mu       sync.Mutex
	at       time.Time // of the last check
	state    string
	troubles int64       // the store's count as of the last check
	running  atomic.Bool // a write did not return yet
}

// look returns the state of the store. A read is made each time, a write once in
// writeCheckTTL. A commit that failed since the last check counts as well: a small
// write may pass where the writes of clients do not.
func (c *storeCheck) look(ctx context.Context) string {
	if c.db.Ping(ctx) != nil {
		return storeDown
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if c.state != "" && now.Sub(c.at) < writeCheckTTL && !now.Before(c.at) {
		return c.state
	}
	if c.running.Load() {
		return storeReadOnly
	}
	troubles, recent := c.db.Troubles(), now.Sub(c.at) < troubleAge
	state := storeOK
	if c.write(ctx) != nil || recent && troubles > c.troubles {
		state = storeReadOnly
	}
	c.at, c.state, c.troubles = now, state, c.db.Troubles()
	return state
}

// write makes one small write and waits for it, two seconds at most: a store that
// hangs must not hold the prober.
func (c *storeCheck) write(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeCheckTimeout)
	defer cancel() // not by the goroutine: a good write must not look like one that was cut off
	done := make(chan error, 1)
	c.running.Store(true)
	go func() {
		err := c.db.CheckWrite(ctx)
		c.running.Store(false)
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// probes are the routes of process supervisors.
type probes struct{ *Server }

// Mount registers the routes.
func (p probes) Mount(r chi.Router) {
	r.Get("/healthz", p.alive)
	r.Get("/readyz", p.ready)
}

// Limits implements route.Limited: probes come often, and from one address.
func (p probes) Limits() map[string]route.Limits {
	return map[string]route.Limits{"/healthz": {Unmetered: true}, "/readyz": {Unmetered: true}}
}

// ready reports on the read path: it serves while the state store is away.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	body := map[string]string{"status": "no snapshot", "snapshot": "", "limits": "on", "state": s.store.look(r.Context())}
	if s.cfg.LimitsOff {
		body["limits"] = "off"
	}
	status := http.StatusServiceUnavailable
	if current := s.cfg.Source.Current(); current != nil {
		status, body["status"], body["snapshot"] = http.StatusOK, "ready", current.ID
	}
	probe(w, status, body)
}

func (s *Server) alive(w http.ResponseWriter, _ *http.Request) {
	probe(w, http.StatusOK, map[string]string{"status": "ok", "version": s.cfg.Version})
}

// health is the state of this server for the pages of operators.
func (s *Server) health(ctx context.Context) operator.Health {
	h := operator.Health{
		Version: s.cfg.Version, Store: s.store.look(ctx), Engine: s.cfg.Agents.DB.Engine(), LimitsOff: s.cfg.LimitsOff, Evals: s.cfg.Evals != nil, FreeDisk: -1,
	}
	if site := s.cfg.Source.Current(); site != nil {
		h.Snapshot, h.AsOf, h.Synthetic, h.Retracted, h.Boards = site.ID, site.AsOf(), site.Synthetic, site.Retracted, len(site.Boards)+len(site.Observed)
	}
	if s.cfg.FreeDisk != nil {
		if free, err := s.cfg.FreeDisk(); err == nil {
			h.FreeDisk = free
		}
	}
	return h
}

func probe(w http.ResponseWriter, status int, body map[string]string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a write error means that the prober disconnected
}
