package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ErrEnded means that the controlled run has ended.
var ErrEnded = errors.New("the run has ended")

// A Control controls a run. Its methods return once the run has applied the change;
// they may be called from any goroutine, and before the run begins.
type Control struct {
	inbox chan func(*scheduler)
	over  chan struct{}
	once  sync.Once
}

// NewControl returns the control of one run.
func NewControl() *Control {
	return &Control{inbox: make(chan func(*scheduler)), over: make(chan struct{})}
}

// Status returns the run's current status.
func (c *Control) Status(ctx context.Context) (st Status, err error) {
	err = c.do(ctx, func(s *scheduler) { st = s.status(s.Now()) })
	return st, err
}

// Pause stops new attempts and lets those in flight finish; Resume continues.
func (c *Control) Pause(ctx context.Context) error {
	return c.do(ctx, func(s *scheduler) { s.paused = true })
}

// Resume ends a pause.
func (c *Control) Resume(ctx context.Context) error {
	return c.do(ctx, func(s *scheduler) { s.paused = false })
}

// SetConcurrency limits the attempts in flight over all lanes. Attempts above a lower
// limit finish.
func (c *Control) SetConcurrency(ctx context.Context, n int) error {
	if n < 1 || n > MaxConcurrency {
		return fmt.Errorf("concurrency %d: want 1 to %d", n, MaxConcurrency)
	}
	return c.do(ctx, func(s *scheduler) {
		s.concurrency = n
		for _, l := range s.lanes {
			most := n
			for _, a := range l.agents {
				if m := a.profile.Lane.Max; m > 0 {
					most = min(most, m)
				}
			}
			l.limits.SetMax(most)
		}
	})
}

// SetMaxCost sets the run's budget in US dollars. It fails if the budget is below the
// amount already spent or reserved, or if an agent's worst case is unknown.
func (c *Control) SetMaxCost(ctx context.Context, usd float64) error {
	var refused error
	err := c.do(ctx, func(s *scheduler) {
		committed := s.money.spent + s.money.lost + s.money.reserved
		switch {
		case !(usd > 0): // 0 means unlimited
			refused = fmt.Errorf("the budget must be above 0 USD (got %g)", usd)
		case usd < committed:
			refused = fmt.Errorf("%.4f USD are already spent or reserved; set at least that", committed)
		default:
			if refused = CheckBudget(s.Eval, s.Agents, usd); refused == nil {
				s.money.limit, s.MaxCostUSD = usd, usd
			}
		}
	})
	return errors.Join(err, refused)
}

// do has the run call a function.
func (c *Control) do(ctx context.Context, f func(*scheduler)) error {
	done := make(chan struct{})
	select {
	case c.inbox <- func(s *scheduler) { f(s); close(done) }:
		<-done
		return nil
	case <-c.over:
		return ErrEnded
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Control) requests() <-chan func(*scheduler) {
	if c == nil {
		return nil
	}
	return c.inbox
}

func (c *Control) end() {
	if c != nil {
		c.once.Do(func() { close(c.over) })
	}
}
