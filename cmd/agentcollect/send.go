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

// maxAnswer limits the response body, in bytes.
const maxAnswer = 1 << 20

var (
	// errAway means that the same batch may succeed later.
	errAway = errors.New("the service does not accept events now")
	// errLarge means that parts of the batch may succeed: strangers fill some fields,
	// and theirs must not cost the others.
	errLarge = errors.New("the batch is too large")
)

// run sends the queue batch by batch until it is closed and empty, or closed while the
// service is unavailable.
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

// gather waits for a batch: a full one, one that has waited long enough, or the last
// one. It returns false when the queue is closed and empty.
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

// deliver sends a batch until the service accepts or refuses it. It returns false if
// the Collector closes before that.
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
			c.warn("events were refused", err)
			return true
		}
		_, _, closed := c.queue.state()
		if closed {
			last++
		}
		if c.ctx.Err() != nil || last >= lastTries {
			return false
		}
		c.warn("the service does not take events; they wait", err)
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

// warn logs a problem, but not the same one twice in a row.
func (c *Collector) warn(problem string, err error) {
	if text := problem + err.Error(); text != c.trouble {
		c.trouble = text
		c.log.Warn("agentcollect: "+problem, "url", c.cfg.URL, "err", err)
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
		return 0, 0, 0, fmt.Errorf("not a response of a firstpick service: %s", reason(answer))
	}
	c.warn("some events were refused", errors.New(receipt.Errors[0].Message))
	return int64(len(batch)) - receipt.Rejected, receipt.Rejected, 0, nil
}

// reason extracts a short reason for the log from a response body.
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
