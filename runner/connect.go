package runner

import (
	"errors"
	"fmt"
	"time"

	"github.com/firstpick/firstpick/runner/agent"
)

const (
	// connectTimeout is how long a lane that was never reached is tried: nobody listens
	// there, or the address is wrong, and waiting helps neither. A dial may hang for
	// longer than that, so there are connectTries at least.
	connectTimeout = 20 * time.Second
	connectTries   = 3
	// reasonUnreachable begins the reason of such a lane.
	reasonUnreachable = "unreachable"

	firstReconnect, longestReconnect = 500 * time.Millisecond, 4 * time.Second
)

// A connection is whether anything of a lane's provider was ever heard. While nothing
// was, one question at a time tries.
type connection struct {
	made  bool
	since time.Time // the first question that found nobody; zero for none
	tries int
	at    time.Time // of the next try
	over  bool      // no further one
}

// note takes in what came of a question.
func (c *connection) note(q *question, now time.Time, err error) {
	var infra *agent.InfraError
	switch {
	case c.made || err != nil && !errors.As(err, &infra): // the run's own end tells nothing
	case infra != nil && infra.Unreached && q.began.Before(c.at): // of the questions that began together
	case infra == nil || !infra.Unreached:
		*c = connection{made: true}
	default:
		if c.since.IsZero() {
			c.since = q.began
		}
		wait := min(firstReconnect<<min(c.tries, 10), longestReconnect)
		c.tries++
		c.at = now.Add(wait)
		end := c.since.Add(connectTimeout)
		c.over = c.tries >= connectTries && !now.Before(end)
		if now.Before(end) && c.at.After(end) {
			c.at = end
		}
	}
}

// trying reports whether nobody was reached so far.
func (c *connection) trying() bool { return !c.since.IsZero() }

// waits reports whether a lane with questions under way must wait before the next try,
// and until when; the zero time: until a question ends.
func (c *connection) waits(now time.Time, inFlight int) (bool, time.Time) {
	switch {
	case !c.trying():
		return false, time.Time{}
	case inFlight > 0, c.over:
		return true, time.Time{}
	default:
		return c.at.After(now), c.at
	}
}

// failed returns why the lane is given up, or "" while it is not. Questions under way
// may have reached somebody.
func (c *connection) failed(inFlight int, infra *agent.InfraError) string {
	if !c.over || inFlight > 0 {
		return ""
	}
	return fmt.Sprintf("%s: no connection in %d tries over %s or longer: %v; start the server there (Ollama: `ollama serve`), correct base_url in the eval, or run `firstpick doctor` on it",
		reasonUnreachable, c.tries, connectTimeout, infra.Err)
}
