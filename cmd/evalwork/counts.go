package evalwork

import (
	"maps"
	"sync"

	"github.com/firstpick/firstpick/runner"
)

// Keys of Done.Runs for runs that continue elsewhere.
const (
	givenBack = "given_back"
	lost      = "lost" // the lease ended first
)

// Done are a worker's totals since its start.
type Done struct {
	Taken    uint64            // runs, each time one was taken
	Ended    map[string]uint64 // runs, by status, given_back, or lost
	Trials   uint64            // finished trials
	SpentUSD float64           // cost of answers, as far as providers reported it
}

// Counts are a worker's counters. The zero value is ready; a nil *Counts counts nothing.
type Counts struct {
	mu   sync.Mutex
	done Done
}

// Read returns the current totals.
func (c *Counts) Read() Done {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.done
	d.Ended = maps.Clone(d.Ended)
	return d
}

func (c *Counts) started() {
	c.change(func(d *Done) { d.Taken++ })
}

func (c *Counts) ended(status string) {
	c.change(func(d *Done) {
		if d.Ended == nil {
			d.Ended = map[string]uint64{}
		}
		d.Ended[status]++
	})
}

// advance adds the progress of a run between two statuses.
func (c *Counts) advance(was, is runner.Status) {
	c.change(func(d *Done) {
		d.Trials += uint64(max(0, is.Valid+is.Excluded-was.Valid-was.Excluded))
		d.SpentUSD += max(0, is.SpentUSD-was.SpentUSD)
	})
}

func (c *Counts) change(f func(*Done)) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.done)
}
