package agentauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	maxBody  = 1 << 20
	maxTries = 3
)

// An answer is a response, read whole.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// decode reads the body into v. The text of the error holds nothing of it.
func (a answer) decode(v any) error {
	if err := json.Unmarshal(a.body, v); err != nil {
		return errors.New("the answer is not the JSON that the protocol asks for")
	}
	return nil
}

// A call is one request. Its secrets are kept out of error texts.
type call struct {
	method, url string
	contentType string
	body        []byte
	bearer      string
	secrets     []string
	// again says that a 5xx may be retried: repeating the request does no harm.
	again bool
}

func getCall(url, bearer string) call {
	return call{method: http.MethodGet, url: url, bearer: bearer, secrets: []string{bearer}, again: true}
}

func jsonCall(url, bearer string, body any, secrets ...string) (call, error) {
	raw, err := json.Marshal(body)
	return call{
		method: http.MethodPost, url: url, contentType: "application/json", body: raw,
		bearer: bearer, secrets: append(secrets, bearer),
	}, err
}

func formCall(address string, form url.Values, secrets ...string) call {
	return call{
		method: http.MethodPost, url: address, contentType: "application/x-www-form-urlencoded",
		body: []byte(form.Encode()), secrets: secrets,
	}
}

// do sends the call and returns the answer to a 2xx, or an *Error.
func (c *Client) do(ctx context.Context, in call) (answer, error) {
	for try := 1; ; try++ {
		a, err := c.send(ctx, in)
		if err != nil {
			return answer{}, err
		}
		if a.status >= 200 && a.status < 300 {
			return a, nil
		}
		refused := refusal(a, c.Now(), in.secrets)
		if a.status < 500 || !in.again || try == maxTries {
			return a, refused
		}
		wait := max(time.Second<<(try-1), min(refused.RetryAfter, time.Minute))
		if err := c.Sleep(ctx, wait); err != nil {
			return answer{}, err
		}
	}
}

// send sends the call once.
func (c *Client) send(ctx context.Context, in call) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, in.method, in.url, bytes.NewReader(in.body))
	if err != nil {
		return answer{}, errors.New("the request has a bad address")
	}
	req.Header.Set("Accept", "application/json")
	if in.contentType != "" {
		req.Header.Set("Content-Type", in.contentType)
	}
	if c.UserAgent != "" {
		req.Header.Set("User-Agent", c.UserAgent)
	}
	if in.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+in.bearer)
	}
	still := *c.HTTP
	still.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := still.Do(req)
	if err != nil {
		return answer{}, lost(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		return answer{}, redirected(req.URL, res)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err != nil {
		return answer{}, lost(ctx, err)
	}
	if len(body) > maxBody {
		return answer{}, fmt.Errorf("%s: the answer is larger than 1 MiB", req.URL.Path)
	}
	return answer{status: res.StatusCode, header: res.Header, body: body}, nil
}

// lost returns the context's own error where it ended, so that an interrupt is
// not taken for a network failure.
func lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &transportError{err}
}

func redirected(from *url.URL, res *http.Response) error {
	where := "elsewhere"
	if to, err := res.Location(); err == nil {
		where = "to " + Printable(origin(to), maxText)
	}
	return fmt.Errorf("%s redirects %s; this client follows no redirect", strings.TrimSuffix(origin(from)+from.Path, "/"), where)
}
