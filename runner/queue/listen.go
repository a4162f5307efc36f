package queue

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/firstpick/firstpick/runner/limiter"
)

const (
	pollEvery  = 2 * time.Second // for notices that were lost
	quietMost  = 5 * time.Second // without a notice, the connection is tried
	reconnect  = time.Second
	noticeWait = time.Second
)

// A notice announces a result of a trial. PostgreSQL limits it to 8,000 bytes.
type notice struct {
	Run    string          `json:"run"`
	Trial  string          `json:"trial"`
	Signal *limiter.Signal `json:"signal,omitempty"`
}

// listen handles notices until ctx ends; it reconnects after a lost connection.
func (c *Coordinator) listen(ctx context.Context) {
	for lost := false; ctx.Err() == nil; lost = true {
		err := c.hear(ctx, lost)
		if ctx.Err() == nil {
			c.db.log.Warn("queue: connection lost; reconnecting", "err", err)
		}
		pause(ctx, reconnect)
	}
}

func (c *Coordinator) hear(ctx context.Context, again bool) error {
	pooled, err := c.db.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	conn := pooled.Hijack() // LISTEN needs a dedicated connection
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noticeWait)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if _, err := conn.Exec(ctx, "listen "+channelReply+"; listen "+channelSign); err != nil {
		return err
	}
	if again {
		c.db.log.Info("queue: connected again")
	}
	c.wake("") // earlier results are not announced again
	for {
		n, err := c.next(ctx, conn)
		if err != nil {
			return err
		}
		if n != nil {
			c.take(n)
		}
	}
}

// next waits for a notice; it returns without one if none comes and the connection is
// sound.
func (c *Coordinator) next(ctx context.Context, conn interface {
	WaitForNotification(context.Context) (*pgconn.Notification, error)
	Ping(context.Context) error
}) (*pgconn.Notification, error) {
	waiting, cancel := context.WithTimeout(ctx, quietMost)
	defer cancel()
	n, err := conn.WaitForNotification(waiting)
	if err == nil || ctx.Err() != nil || !errors.Is(waiting.Err(), context.DeadlineExceeded) {
		return n, err
	}
	ping, cancelPing := context.WithTimeout(ctx, connectWait)
	defer cancelPing()
	return nil, conn.Ping(ping)
}

func (c *Coordinator) take(n *pgconn.Notification) {
	var msg notice
	if json.Unmarshal([]byte(n.Payload), &msg) != nil || msg.Run != c.run.ID {
		return
	}
	if msg.Signal != nil {
		c.handleSignal(msg.Trial, *msg.Signal)
		return
	}
	c.wake(msg.Trial)
}

// poll wakes the waiters of finished jobs. The end of a job and its result are in one
// transaction, so a pending job has no result.
func (c *Coordinator) poll(ctx context.Context) {
	for pause(ctx, pollEvery) {
		jobs := map[int64]string{}
		c.mu.Lock()
		for trial, w := range c.waiting {
			if w.job != 0 {
				jobs[w.job] = trial
			}
		}
		c.mu.Unlock()
		if len(jobs) == 0 {
			continue
		}
		live, err := c.live(ctx, jobs)
		if err != nil {
			continue // listen logs the failure
		}
		for job, trial := range jobs {
			if !live[job] {
				c.wake(trial)
			}
		}
	}
}

func (c *Coordinator) live(ctx context.Context, jobs map[int64]string) (map[int64]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, queryWait)
	defer cancel()
	ids := make([]int64, 0, len(jobs))
	for id := range jobs {
		ids = append(ids, id)
	}
	rows, err := c.db.pool.Query(ctx, "select id from river_job where id = any($1) and finalized_at is null", ids)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[int64]bool{}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		out[id] = true
	}
	return out, rows.Err()
}

// pause waits, and reports whether ctx is still there.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
