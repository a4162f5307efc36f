package agentcollect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// maxAnswer bounds what is read of an answer.
const maxAnswer = 1 << 20

var (
	// errAway means that the same batch may succeed later.
	errAway = errors.New("the service does not take events now")
	// errLarge means that parts of the batch may succeed: strangers fill some fields,
	// and theirs must not cost the others.
	errLarge = errors.New("the batch is too large")
)

// run sends what is queued, batch by batch, until the queue is closed and empty
// or the service turns out to be away then.
func (c *Collector) run() {
	defer close(c.done)
	for c.gather() {
		batch := c.queue.take(batchSize)
		c.inFlight.Store(int64(len(batch)))
		if !c.deliver(batch) {
			return
		}
	}
}

// gather waits until there is a batch: a full one, or a part of one that has
// waited long enough, or that is the last. It returns false when none will come.
func (c *Collector) gather() bool {
	var due <-chan time.Time
	for {
		switch waiting, _, closed := c.queue.state(); {
		case waiting >= batchSize, closed && waiting > 0:
			return true
		case closed:
			return false
		case waiting > 0 && due == nil:
			timer := time.NewTimer(batchTime)
			defer timer.Stop()
			due = timer.C
		}
		select {
		case <-c.queue.wake:
		case <-due:
			return true
		}
	}
}

// deliver sends a batch until the service has answered for it. It returns false
// when the batch was given up because the Collector is closing.
func (c *Collector) deliver(batch []Event) bool {
	last := 0 // tries since Close
	for backoff := firstBackoff; ; backoff = min(2*backoff, maxBackoff) {
		sent, refused, wait, err := c.post(batch)
		if errors.Is(err, errLarge) && len(batch) > 1 {
			half := len(batch) / 2
			return c.deliver(batch[:half]) && c.deliver(batch[half:])
		}
		if err == nil {
			c.sent.Add(sent)
			c.failed.Add(refused)
			c.inFlight.Add(-int64(len(batch)))
			return true
		}
		if !errors.Is(err, errAway) { // sending the same again would be refused again
			c.failed.Add(int64(len(batch)))
			c.inFlight.Add(-int64(len(batch)))
			c.tell("events were refused", err)
			return true
		}
		_, _, closed := c.queue.state()
		if closed {
			last++
		}
		if c.ctx.Err() != nil || last >= lastTries {
			return false
		}
		c.tell("the service does not take events; they wait", err)
		c.retries.Add(1)
		pause := max(backoff/2+rand.N(backoff), wait) //nolint:gosec // spreads clients in time
		if closed {
			pause = firstBackoff
		}
		c.pause(pause)
	}
}

// pause waits, but not when the Collector is closing or begins to.
func (c *Collector) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	_, _, before := c.queue.state()
	for {
		select {
		case <-timer.C:
			return
		case <-c.ctx.Done():
			return
		case <-c.queue.wake:
			if _, _, closed := c.queue.state(); closed != before {
				return
			}
		}
	}
}

// tell logs what is wrong when it was not the last thing that was said.
func (c *Collector) tell(what string, err error) {
	if text := what + err.Error(); text != c.trouble {
		c.trouble = text
		c.log.Warn("agentcollect: "+what, "url", c.cfg.URL, "err", err)
	}
}

// post sends a batch once. The error is errAway if it may be sent again, at the
// soonest after wait.
func (c *Collector) post(batch []Event) (sent, refused int64, wait time.Duration, err error) {
	body, err := json.Marshal(struct {
		SentAt time.Time `json:"sentAt"`
		Events []Event   `json:"events"`
	}{c.now().UTC(), batch})
	if err != nil {
		return 0, 0, 0, err
	}
	ctx, cancel := context.WithTimeout(c.ctx, sendTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.cfg.URL+"/api/collect", bytes.NewReader(body))
	if err != nil {
		return 0, 0, 0, err
	}
	req.Header.Set("Authorization", "Bearer "+c.cfg.Key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.client.Do(req)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("%w: %w", errAway, err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch status := resp.StatusCode; {
	case status == http.StatusRequestTimeout, status == http.StatusTooManyRequests, status >= 500:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		wait = min(time.Duration(max(seconds, 0))*time.Second, maxRetry)
		return 0, 0, wait, fmt.Errorf("%w: %s", errAway, resp.Status)
	case err != nil:
		return 0, 0, 0, fmt.Errorf("%w: %w", errAway, err)
	case status == http.StatusRequestEntityTooLarge:
		return 0, 0, 0, fmt.Errorf("%w: %s", errLarge, reason(answer))
	case status == http.StatusAccepted:
		c.trouble = ""
		return int64(len(batch)), 0, 0, nil
	case status == http.StatusMultiStatus:
		return c.partly(batch, answer)
	default:
		return 0, 0, 0, fmt.Errorf("%s: %s", resp.Status, reason(answer))
	}
}

// partly reads the answer to a batch of which some events were refused.
func (c *Collector) partly(batch []Event, answer []byte) (sent, refused int64, wait time.Duration, err error) {
	var receipt struct {
		Rejected int64 `json:"rejected"`
		Errors   []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	if err := json.Unmarshal(answer, &receipt); err != nil || len(receipt.Errors) == 0 {
		return 0, 0, 0, fmt.Errorf("not the answer of a firstpick service: %s", reason(answer))
	}
	c.tell("some events were refused", errors.New(receipt.Errors[0].Message))
	return int64(len(batch)) - receipt.Rejected, receipt.Rejected, 0, nil
}

// reason takes out of an answer what a log can say of it.
func reason(answer []byte) string {
	var body struct {
		Description string `json:"error_description"`
		Errors      []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	if json.Unmarshal(answer, &body) != nil {
		return "is url the root of a firstpick service?"
	}
	if len(body.Errors) > 0 {
		return body.Errors[0].Message
	}
	return body.Description
}
