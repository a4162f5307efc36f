package evalwork

import (
	"maps"
	"sync"

	"github.com/firstpick/firstpick/runner"
)

// What Done calls the end of work on a run that goes on elsewhere.
const (
	givenBack = "given_back"
	lost      = "lost" // the lease ended first
)

// Done is what a worker did since it started.
type Done struct {
	Taken    uint64            // runs, each time one was taken
	Ended    map[string]uint64 // runs, by status, given_back, or lost
	Trials   uint64            // that came to an end
	SpentUSD float64           // what answers cost, as far as providers said
}

// Counts are kept by a worker. The zero value is ready; those of nil are not kept.
type Counts struct {
	mu   sync.Mutex
	done Done
}

// Read returns what was done until now.
func (c *Counts) Read() Done {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.done
	d.Ended = maps.Clone(d.Ended)
	return d
}

func (c *Counts) took() {
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

// went counts how far a run came between two looks at it.
func (c *Counts) went(was, is runner.Status) {
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
