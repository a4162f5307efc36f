package runctl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"

	"github.com/firstpick/firstpick/runner"
)

// ErrNotRunning says that no process runs the run.
var ErrNotRunning = errors.New("the run is not under way")

// A Client steers the run of a folder.
type Client struct{ http http.Client }

// Dial finds the process that runs the run whose folder is dir. It fails with
// ErrNotRunning if no process listens.
func Dial(dir string) (*Client, error) {
	path, err := os.ReadFile(filepath.Join(dir, addrFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrNotRunning
	}
	if err != nil {
		return nil, err
	}
	c := &Client{}
	c.http.Timeout = answerWithin
	c.http.Transport = &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, "unix", string(path))
			if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) { // the process was killed
				err = errors.Join(ErrNotRunning, err)
			}
			return conn, err
		},
		DisableKeepAlives: true,
	}
	return c, nil
}

// Status returns the state of the run.
func (c *Client) Status(ctx context.Context) (runner.Status, error) {
	return c.do(ctx, http.MethodGet, nil)
}

// Pause lets requests in flight finish and sends no more.
func (c *Client) Pause(ctx context.Context) (runner.Status, error) {
	paused := true
	return c.do(ctx, http.MethodPatch, &order{Paused: &paused})
}

// Resume ends a pause.
func (c *Client) Resume(ctx context.Context) (runner.Status, error) {
	paused := false
	return c.do(ctx, http.MethodPatch, &order{Paused: &paused})
}

// SetConcurrency bounds the parallel requests.
func (c *Client) SetConcurrency(ctx context.Context, n int) (runner.Status, error) {
	return c.do(ctx, http.MethodPatch, &order{Concurrency: &n})
}

// SetMaxCost sets the budget, in US dollars.
func (c *Client) SetMaxCost(ctx context.Context, usd float64) (runner.Status, error) {
	return c.do(ctx, http.MethodPatch, &order{MaxCostUSD: &usd})
}

func (c *Client) do(ctx context.Context, method string, o *order) (st runner.Status, err error) {
	var body bytes.Buffer
	if o != nil {
		if err := json.NewEncoder(&body).Encode(o); err != nil {
			return st, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://run/status", &body)
	if err != nil {
		return st, err
	}
	resp, err := c.http.Do(req)
	if errors.Is(err, ErrNotRunning) {
		return st, ErrNotRunning
	}
	if err != nil {
		return st, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		var no refusal
		if err := json.NewDecoder(resp.Body).Decode(&no); err != nil || no.Error == "" {
			return st, fmt.Errorf("the run answered %s", resp.Status)
		}
		return st, errors.New(no.Error)
	}
	return st, json.NewDecoder(resp.Body).Decode(&st)
}
