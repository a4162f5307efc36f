package queue

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/limiter"
)

// maxUnpacked limits the decompressed size of a result.
const maxUnpacked = 512 << 20

// Failure reasons of remote attempts.
const (
	ReasonLost = "worker_lost"    // the worker died, lost the database, or had to stop
	ReasonNone = "no_worker_able" // no worker can be this agent

	reasonPanic = "panic"
)

// An outcome is the result of an attempt: a reply, or a failure.
type outcome struct {
	reply agent.Reply
	err   *agent.InfraError
}

// A message is an encoded outcome. The raw answer is a separate column.
type message struct {
	Reply   *agent.Reply `json:"reply,omitempty"`
	Failure *failure     `json:"failure,omitempty"`
}

type failure struct {
	Reason string        `json:"reason"`
	Text   string        `json:"text,omitempty"`
	Retry  bool          `json:"retry,omitempty"`
	After  time.Duration `json:"after,omitempty"`
	Billed bool          `json:"billed,omitempty"`
	Lane   bool          `json:"lane,omitempty"`
	// Unreached: see agent.InfraError.
	Unreached bool           `json:"unreached,omitempty"`
	CostUSD   *float64       `json:"cost_usd,omitempty"`
	Window    limiter.Window `json:"window,omitzero"`
}

// A codec packs outcomes. It may be used by many goroutines.
type codec struct {
	pack *zstd.Encoder
	open *zstd.Decoder
}

func newCodec() (*codec, error) {
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	open, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxUnpacked))
	return &codec{pack, open}, err
}

// encode packs an outcome.
func (c *codec) encode(o outcome) (payload, raw []byte, err error) {
	m := message{}
	if o.err == nil {
		reply := o.reply
		raw, reply.Raw = reply.Raw, nil
		m.Reply = &reply
	} else {
		e := o.err
		raw = e.Raw
		m.Failure = &failure{Reason: e.Reason, Retry: e.Retry, After: e.After, Billed: e.Billed, Lane: e.Lane, Unreached: e.Unreached, CostUSD: e.CostUSD, Window: e.Window}
		if e.Err != nil {
			m.Failure.Text = e.Err.Error()
		}
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil, nil, fmt.Errorf("encode a result: %w", err)
	}
	if len(text) > maxUnpacked || len(raw) > maxUnpacked {
		return nil, nil, fmt.Errorf("a result of %d bytes exceeds the limit of %d", max(len(text), len(raw)), maxUnpacked)
	}
	if len(raw) > 0 {
		raw = c.pack.EncodeAll(raw, nil)
	}
	return c.pack.EncodeAll(text, nil), raw, nil
}

// decode is the inverse of encode.
func (c *codec) decode(payload, raw []byte) (outcome, error) {
	text, err := c.open.DecodeAll(payload, nil)
	if err != nil {
		return outcome{}, fmt.Errorf("decompress a result in the queue: %w", err)
	}
	var m message
	if err := json.Unmarshal(text, &m); err != nil {
		return outcome{}, fmt.Errorf("decode a result in the queue: %w", err)
	}
	if (m.Reply == nil) == (m.Failure == nil) {
		return outcome{}, errors.New("malformed result in the queue: neither a reply nor a failure")
	}
	if len(raw) > 0 {
		if raw, err = c.open.DecodeAll(raw, nil); err != nil {
			return outcome{}, fmt.Errorf("decompress a raw answer in the queue: %w", err)
		}
	}
	if m.Reply != nil {
		m.Reply.Raw = raw
		return outcome{reply: *m.Reply}, nil
	}
	f := m.Failure
	e := &agent.InfraError{Reason: f.Reason, Retry: f.Retry, After: f.After, Billed: f.Billed, Lane: f.Lane, Unreached: f.Unreached, CostUSD: f.CostUSD, Raw: raw, Window: f.Window}
	if f.Text != "" {
		e.Err = errors.New(f.Text)
	}
	return outcome{err: e}, nil
}
