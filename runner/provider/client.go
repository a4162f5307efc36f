package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/limiter"
	"github.com/firstpick/firstpick/runner/transcript"
)

// maxPauses is how often a paused answer is continued.
const maxPauses = 4

// A client calls one model in one format.
type client struct {
	eval.Agent
	kind    kind
	base    string
	home    bool // the address is the provider's own
	key     string
	secret  secret
	http    *http.Client
	timeout time.Duration
	price   *prices.Price   // nil if unknown
	sent    map[string]bool // names of the parameters, in lower case
	profile agent.Profile
}

func (c *client) Profile() agent.Profile { return c.profile }

func firstRequest(a eval.Agent, prompt, system string) request {
	return request{prompt: prompt, system: system, maxTokens: a.MaxTokens, searches: maxSearches}
}

// Ask makes one attempt. It continues an answer that the provider pauses: all rounds are
// one answer, under one timeout.
func (c *client) Ask(ctx context.Context, t agent.Task) (agent.Reply, error) {
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	reply, err := c.converse(limited, t)
	if err != nil && ctx.Err() != nil {
		return agent.Reply{}, ctx.Err()
	}
	return reply, err
}

func (c *client) converse(ctx context.Context, t agent.Task) (agent.Reply, error) {
	q := firstRequest(c.Agent, t.Prompt, t.System)
	var texts []string
	var raw []byte
	var used *prices.Usage
	for pauses := 0; ; pauses++ {
		got, err := c.exchange(ctx, q)
		raw = join(raw, got.raw)
		if err != nil {
			return agent.Reply{}, c.afterPauses(err, pauses, used, raw)
		}
		texts, used = append(texts, got.text), plus(used, got.usage, pauses)
		if len(got.paused) == 0 {
			return c.reply(got, paragraphs(texts), used, raw), nil
		}
		if pauses == maxPauses {
			return agent.Reply{}, &agent.InfraError{
				Reason: agent.ReasonServer, Billed: true, CostUSD: c.cost(used), Raw: raw, Window: got.window,
				Err: fmt.Errorf("the provider paused the answer more than %d times", maxPauses),
			}
		}
		q.paused = append(q.paused, got.paused...)
		if used != nil {
			q.maxTokens, q.searches = c.MaxTokens-used.Output, max(1, maxSearches-used.Searches)
		}
		if q.maxTokens <= 0 { // the limit is reached
			got.stop = transcript.StopLength
			return c.reply(got, paragraphs(texts), used, raw), nil
		}
	}
}

// afterPauses adds the cost of earlier rounds of the same answer to an error. If the last
// round may be charged too, the sum is unknown.
func (c *client) afterPauses(err error, pauses int, used *prices.Usage, raw []byte) error {
	var infra *agent.InfraError
	if pauses == 0 || !errors.As(err, &infra) {
		return err
	}
	infra.Raw = raw
	if !infra.Billed {
		infra.CostUSD = c.cost(used)
		infra.Billed = infra.CostUSD == nil
	}
	return infra
}

func (c *client) reply(got exchanged, text string, used *prices.Usage, raw []byte) agent.Reply {
	a := journal.Answer{
		Transcript: transcript.Transcript{FinalText: text, Stop: got.stop}, Model: got.model, Usage: used, CostUSD: c.cost(used),
	}
	if used != nil {
		a.InTokens, a.OutTokens = used.In(), used.Output
	}
	return agent.Reply{Answer: a, Raw: raw, Window: got.window}
}

// plus adds the usage of a round; nil means unknown, as does any sum with it.
func plus(sum, round *prices.Usage, pauses int) *prices.Usage {
	if pauses == 0 || round == nil {
		return round
	}
	if sum == nil {
		return nil
	}
	all := sum.Plus(*round)
	return &all
}

// join joins the bodies of all rounds with newlines.
func join(a, b []byte) []byte {
	if len(a) == 0 || len(b) == 0 {
		return append(a, b...)
	}
	return append(append(a, '\n'), b...)
}

// exchanged is an answer with its HTTP context.
type exchanged struct {
	answer
	raw    []byte
	window limiter.Window
}

// exchange sends one request and reads its answer.
func (c *client) exchange(ctx context.Context, q request) (exchanged, error) {
	// A provider charges only for requests that reached it.
	var written atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(info httptrace.WroteRequestInfo) { written.Store(info.Err == nil) },
	})
	req, err := c.newRequest(traced, q)
	if err != nil {
		return exchanged{}, &agent.InfraError{Reason: agent.ReasonBadRequest, Lane: true, Err: errors.New(c.secret.text(err.Error()))}
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return exchanged{}, c.connectionError(ctx, err, written.Load(), "")
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	body = c.secret.bytes(body)
	got := exchanged{raw: body, window: windowOf(resp.Header)}
	switch {
	case resp.StatusCode != http.StatusOK:
		return got, c.failed(resp, c.failureOf(body), got)
	case err != nil:
		return got, c.withRaw(c.connectionError(ctx, err, true, "the answer was cut off: "), got)
	case len(body) > maxBody:
		got.raw = nil
		return got, &agent.InfraError{Reason: agent.ReasonServer, Billed: true, Window: got.window, Err: fmt.Errorf("the answer is longer than %d MiB", maxBody>>20)}
	}
	got.answer, err = c.kind.codec.decode(body)
	var inside *failure
	switch {
	case errors.As(err, &inside):
		inside.message = c.secret.text(inside.message)
		return got, c.failed(resp, inside, got)
	case err != nil:
		return got, &agent.InfraError{
			Reason: agent.ReasonMalformed, Retry: true, Billed: true, Raw: body, Window: got.window,
			Err: fmt.Errorf("the answer is not valid %s: %w", c.Kind, err),
		}
	}
	got.text, got.model = c.secret.text(got.text), c.secret.text(got.model)
	return got, nil
}

// failureOf parses an error response. JSON can escape a key in too many ways to find it
// in the body, so the message is redacted as well.
func (c *client) failureOf(body []byte) *failure {
	f := readFailure(body)
	f.message = c.secret.text(f.message)
	return f
}

func (c *client) newRequest(ctx context.Context, q request) (*http.Request, error) {
	body, err := json.Marshal(c.kind.codec.encode(c.Agent, q))
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+c.kind.codec.path(c.Model), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	// A transport may retry a request if it can rewind the body. A second attempt is a
	// new sample, so the runner must count it.
	req.GetBody = nil
	req.Header.Set("Content-Type", "application/json")
	c.setHeaders(req)
	return req, nil
}

// setHeaders sets the headers of every request to the provider.
func (c *client) setHeaders(req *http.Request) {
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "firstpick")
	if c.key != "" {
		c.kind.codec.sign(req.Header, c.key)
	}
}

// connectionError returns the error of a connection without a complete answer.
func (c *client) connectionError(ctx context.Context, err error, written bool, what string) *agent.InfraError {
	if ctx.Err() != nil {
		return &agent.InfraError{Reason: agent.ReasonTimeout, Retry: true, Billed: written, Err: fmt.Errorf("no whole answer within %s", c.timeout)}
	}
	var op *net.OpError
	unreached := !written && errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect")
	return &agent.InfraError{Reason: agent.ReasonNetwork, Retry: true, Billed: written, Unreached: unreached, Err: redacted(what+c.secret.text(err.Error()), err)}
}

// redacted returns an error with a text that holds no secret. Of the error behind it, it unwraps to
// the failed lookup of a name only.
func redacted(text string, err error) error {
	var name *net.DNSError
	if errors.As(err, &name) {
		return unresolved{text, name}
	}
	return errors.New(text)
}

// An unresolved is a connection that failed because a name has no address.
type unresolved struct {
	text string
	name *net.DNSError
}

// Error implements error.
func (u unresolved) Error() string { return u.text }

// Unwrap returns the failed lookup.
func (u unresolved) Unwrap() error { return u.name }

func (c *client) withRaw(e *agent.InfraError, got exchanged) error {
	e.Raw, e.Window = got.raw, got.window
	return e
}

// failed returns the error of an error response.
func (c *client) failed(resp *http.Response, f *failure, got exchanged) error {
	if to := resp.Header.Get("Location"); to != "" {
		f.message = "the address has moved to " + c.secret.text(clip(to)) + "; put the new one into base_url"
	}
	reason, retry := f.judge(resp.StatusCode, c.sent)
	e := &agent.InfraError{
		Reason: reason, Retry: retry && resp.Header.Get("X-Should-Retry") != "false", Lane: final(reason),
		// An error inside an answer may come after the model was at work.
		Billed: resp.StatusCode == http.StatusOK && !final(reason),
		Raw:    got.raw, Window: got.window, Err: f.describe(resp.StatusCode),
	}
	if e.Retry {
		e.After = max(retryAfter(resp.Header), f.after)
	}
	return e
}
