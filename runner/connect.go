package runner

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/firstpick/firstpick/runner/agent"
)

const (
	// connectTimeout limits how long a lane without any connection is tried: nothing
	// listens there, or the address is wrong, and waiting does not help. One dial may
	// hang for longer, so there are at least connectTries.
	connectTimeout = 20 * time.Second
	connectTries   = 3
	// reasonUnreachable is the prefix of the reason of such a lane.
	reasonUnreachable = "unreachable"

	firstReconnect, longestReconnect = 500 * time.Millisecond, 4 * time.Second
)

// A connection is whether a lane's provider was ever reached. Until it was, attempts are
// made one at a time.
type connection struct {
	made  bool
	since time.Time // the first attempt without a connection; zero before one fails
	tries int
	at    time.Time // of the next try
	over  bool      // no further one
}

// note records the response to an attempt.
func (c *connection) note(a *attempt, now time.Time, err error) {
	var infra *agent.InfraError
	switch {
	case c.made || err != nil && !errors.As(err, &infra): // an interrupted run proves nothing
	case infra != nil && infra.Unreached && a.began.Before(c.at): // of the attempts that began together
	case infra == nil || !infra.Unreached:
		*c = connection{made: true}
	default:
		if c.since.IsZero() {
			c.since = a.began
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

// trying reports whether all attempts so far failed to connect.
func (c *connection) trying() bool { return !c.since.IsZero() }

// waits reports whether a lane with attempts in flight must wait before the next try,
// and until when; the zero time: until an attempt ends.
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

// failed returns why the lane is closed, or "" while it is open. Attempts in flight may
// have reached the provider.
func (c *connection) failed(inFlight int, infra *agent.InfraError) string {
	if !c.over || inFlight > 0 {
		return ""
	}
	what, next := infra.Err.Error(), "start the server there (Ollama: `ollama serve`), correct base_url in the eval, or run `firstpick doctor` on it"
	var unknown *net.DNSError
	if errors.As(infra.Err, &unknown) {
		what, next = "no address of "+unknown.Name+" is found", "check network, DNS and proxy of this machine, and base_url in the eval"
	}
	return fmt.Sprintf("%s: no connection in %d tries over %s or longer: %s; %s", reasonUnreachable, c.tries, connectTimeout, what, next)
}
