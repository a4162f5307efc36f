package ship

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	batchEvents = 500
	batchBytes  = 900 << 10 // of events; the service takes 1 MiB
	sendTimeout = 30 * time.Second
	maxAnswer   = 4 << 20
)

// An awayError means that the service does not take events now: it is not there,
// or it is busy, or the quota is used up.
type awayError struct {
	why  string
	wait time.Duration // as it asked for; 0 if it did not
}

func (e *awayError) Error() string { return e.why }

// A RefusedError means that the service takes nothing from this client, however
// often it asks: the key or the address is wrong.
type RefusedError struct {
	Status int // of HTTP
	Reason string
}

func (e *RefusedError) Error() string { return e.Reason }

// errTooBig means that a batch is to be sent in parts.
var errTooBig = errors.New("the batch is too large")

// A client talks to the service.
type client struct {
	url, key string
	http     *http.Client
	now      func() time.Time
}

// A receipt is the result of a batch.
type receipt struct {
	Accepted   *int64 `json:"accepted"` // nil if the response has another format
	Duplicates int64  `json:"duplicates"`
	Rejected   int64  `json:"rejected"`
	Errors     []struct {
		Index   int    `json:"index"`
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"errors"`
}

// send sends events, which have one value of Backfill, in one request.
func (c *client) send(ctx context.Context, batch []entry) (*receipt, error) {
	body := struct {
		SentAt   time.Time         `json:"sentAt"`
		Backfill bool              `json:"backfill,omitempty"`
		Events   []json.RawMessage `json:"events"`
	}{SentAt: c.now().UTC(), Backfill: batch[0].Backfill}
	for _, e := range batch {
		body.Events = append(body.Events, e.Event)
	}
	raw, err := marshal(body)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err == nil {
		_, err = z.Write(raw)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return nil, err
	}
	status, answer, err := c.ask(ctx, http.MethodPost, &packed)
	if err != nil {
		return nil, err
	}
	var r receipt
	bad := json.Unmarshal(answer, &r)
	switch {
	case bad == nil && r.Accepted != nil && (status == http.StatusAccepted || status == http.StatusMultiStatus):
		return &r, nil
	case status == http.StatusBadRequest && bad == nil && len(r.Errors) > 0:
		return &r, nil // all were refused, each for a reason of its own
	case status == http.StatusBadRequest, status == http.StatusRequestEntityTooLarge:
		return nil, fmt.Errorf("%w: %s", errTooBig, described(answer))
	}
	return nil, c.refused(status, answer)
}

// probe asks whether the key works, and whose it is.
func (c *client) probe(ctx context.Context) (workspace string, err error) {
	status, answer, err := c.ask(ctx, http.MethodGet, nil)
	if err != nil {
		return "", err
	}
	var body struct {
		Workspace string `json:"workspace"`
	}
	if json.Unmarshal(answer, &body) != nil || status != http.StatusOK || body.Workspace == "" {
		return "", c.refused(status, answer)
	}
	return body.Workspace, nil
}

func (c *client) ask(ctx context.Context, method string, body *bytes.Buffer) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	var r io.Reader
	if body != nil {
		r = body
	}
	req, err := http.NewRequestWithContext(ctx, method, c.url+"/api/collect", r)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Content-Encoding", "gzip")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, nil, &awayError{why: err.Error()}
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch status := resp.StatusCode; {
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests, status >= 500:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return 0, nil, &awayError{
			why:  strings.TrimSuffix(fmt.Sprintf("%s answers %s: %s", c.url, resp.Status, described(answer)), ": "),
			wait: time.Duration(max(seconds, 0)) * time.Second,
		}
	case status/100 == 3:
		return 0, nil, &RefusedError{status, fmt.Sprintf("%s redirects to %q: is that the service's address?", c.url, resp.Header.Get("Location"))}
	case err != nil:
		return 0, nil, &awayError{why: err.Error()}
	}
	return resp.StatusCode, answer, nil
}

// refused explains an answer after which nothing can be sent.
func (c *client) refused(status int, answer []byte) error {
	said := described(answer)
	switch {
	case said != "" && (status == http.StatusUnauthorized || status == http.StatusForbidden):
		return &RefusedError{status, fmt.Sprintf("%s refuses the key: %s", c.url, said)}
	case said != "":
		return &RefusedError{status, fmt.Sprintf("%s answers %d: %s", c.url, status, said)}
	}
	return &RefusedError{status, fmt.Sprintf("%s answers %d, and not as a firstpick service does: is it the root of one?", c.url, status)}
}

// described returns the error description in a response of the service.
func described(answer []byte) string {
	var body struct {
		Description string `json:"error_description"`
	}
	if json.Unmarshal(answer, &body) != nil {
		return ""
	}
	return body.Description
}
