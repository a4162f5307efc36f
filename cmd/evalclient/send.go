package evalclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/firstpick/firstpick/cmd/agentauth"
)

const (
	maxBody     = 64 << 20
	maxTries    = 4
	longestWait = time.Minute // between tries
	// readTimeout is how long a server may stay silent. In a stream of events it beats four
	// times as often.
	readTimeout = time.Minute
)

var errSilent = fmt.Errorf("the server was silent for %s", readTimeout)

// A call is one request.
type call struct {
	method, path string
	query        url.Values
	contentType  string
	body         []byte
	header       map[string]string
	// again says that repeating the request does no harm.
	again bool
	// secret is in the body, besides the client's key; may be empty.
	secret string
}

// get reads one JSON document.
func get[T any](ctx context.Context, c *Client, path string, query url.Values) (*T, error) {
	return ask[T](ctx, c, call{method: http.MethodGet, path: path, query: query, again: true})
}

// ask makes a call that is answered by a JSON document.
func ask[T any](ctx context.Context, c *Client, in call) (*T, error) {
	var v *T
	err := c.retry(ctx, in, func() error {
		res, err := c.once(ctx, in)
		if err != nil {
			return err
		}
		defer func() { _ = res.Body.Close() }()
		data, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
		v = new(T)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", in.path, err)
		case len(data) > maxBody:
			return &finalError{fmt.Errorf("%s: the answer is larger than %d MiB", in.path, maxBody>>20)}
		case json.Unmarshal(data, v) != nil: // its text may hold what was sent
			return &finalError{fmt.Errorf("%s: the answer is not the JSON that the eval API has; is %s the address of a firstpick server?", in.path, c.Base)}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return v, nil
}

// open makes a call and returns the answer if it is a 2xx, or an *Error. The caller
// closes the body.
func (c *Client) open(ctx context.Context, in call) (*http.Response, error) {
	var res *http.Response
	err := c.retry(ctx, in, func() (err error) {
		res, err = c.once(ctx, in) //nolint:bodyclose // the caller of open does
		return err
	})
	return res, err
}

// retry does something until it succeeds, or may not be done again, or would fail in
// the same way.
func (c *Client) retry(ctx context.Context, in call, do func() error) error {
	for try := 1; ; try++ {
		err := do()
		if err == nil || !in.again || try == maxTries || ctx.Err() != nil || !temporary(err) {
			return err
		}
		wait := pause(try, err)
		if wait > longestWait {
			return err
		}
		if err := c.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// temporary says that the error may not occur again.
func temporary(err error) bool {
	var refused *Error
	if errors.As(err, &refused) {
		return refused.temporary()
	}
	var final *finalError
	return !errors.As(err, &final)
}

// pause is how long to wait after the n-th failure in a row: twice as long each time,
// or as long as the server asks.
func pause(n int, err error) time.Duration {
	wait := time.Second << (n - 1)
	if refused := (*Error)(nil); errors.As(err, &refused) {
		wait = max(wait, refused.RetryAfter)
	}
	return wait
}

func (c *Client) secrets(in call) []string {
	var out []string
	for _, s := range []string{c.Key, in.secret} {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// once makes a call once and returns the answer if it is a 2xx, or an *Error.
func (c *Client) once(ctx context.Context, in call) (*http.Response, error) {
	req, err := c.request(ctx, in)
	if err != nil {
		return nil, &finalError{err}
	}
	still := *c.HTTP
	still.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	watched, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(readTimeout, func() { cancel(errSilent) })
	res, err := still.Do(req.WithContext(watched))
	timer.Stop()
	if err != nil {
		err = lost(ctx, watched, err)
		cancel(nil)
		return nil, err
	}
	res.Body = &guarded{res.Body, ctx, watched, cancel, timer}
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		return res, nil
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode < 400 {
		return nil, &finalError{fmt.Errorf("%s redirects; this client follows no redirect, so that the key stays with one server: give the address that it redirects to", c.Base)}
	}
	return nil, refusal(res, c.Now(), c.secrets(in))
}

func (c *Client) request(ctx context.Context, in call) (*http.Request, error) {
	base, err := agentauth.CheckBase(c.Base)
	if err != nil {
		return nil, fmt.Errorf("the server's address: %w", err)
	}
	address := base + in.path
	if len(in.query) > 0 {
		address += "?" + in.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, in.method, address, bytes.NewReader(in.body))
	if err != nil {
		return nil, errors.New("the request has a bad address")
	}
	req.Header.Set("Accept", "application/json")
	if in.contentType != "" {
		req.Header.Set("Content-Type", in.contentType)
	}
	for name, value := range in.header {
		req.Header.Set(name, value)
	}
	if c.UserAgent != "" {
		req.Header.Set("User-Agent", c.UserAgent)
	}
	req.Header.Set("Authorization", "Bearer "+c.Key)
	return req, nil
}

// A finalError would be the same at the next try.
type finalError struct{ error }

// Unwrap returns the cause.
func (e *finalError) Unwrap() error { return e.error }

// lost says why an answer did not come: because the caller ended it, because the
// server fell silent, or the error itself.
func lost(ctx, watched context.Context, err error) error {
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(context.Cause(watched), errSilent):
		return errSilent
	default:
		return err
	}
}

// guarded is a body that ends when the server falls silent.
type guarded struct {
	io.ReadCloser
	ctx, watched context.Context //nolint:containedctx // a body has the life of its request
	cancel       context.CancelCauseFunc
	timer        *time.Timer
}

// Read implements io.Reader. Time that the caller takes between reads does not count.
func (g *guarded) Read(p []byte) (int, error) {
	g.timer.Reset(readTimeout)
	n, err := g.ReadCloser.Read(p)
	g.timer.Stop()
	return n, lost(g.ctx, g.watched, err)
}

// Close implements io.Closer.
func (g *guarded) Close() error {
	g.timer.Stop()
	err := g.ReadCloser.Close()
	g.cancel(nil)
	return err
}
