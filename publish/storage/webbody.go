package storage

import (
	"context"
	"errors"
	"io"
	"time"
)

// A webBody is the body of a response. A wait for more of it has an end.
type webBody struct {
	ctx    context.Context //nolint:containedctx // that of the request
	body   io.ReadCloser   // nil without a response
	idle   *time.Timer
	cancel func()
}

// Read implements io.Reader.
func (b *webBody) Read(p []byte) (int, error) {
	b.idle.Reset(idleTimeout)
	defer b.idle.Stop()
	n, err := b.body.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.cause(err)
	}
	return n, err
}

// cause returns why the request was given up, or the error.
func (b *webBody) cause(err error) error {
	if cause := context.Cause(b.ctx); cause != nil {
		return cause
	}
	return err
}

// Close implements io.Closer. It ends the request.
func (b *webBody) Close() error {
	b.idle.Stop()
	b.cancel()
	if b.body == nil {
		return nil
	}
	return b.body.Close()
}

// A statusError is an answer with a status that is not the wanted one.
type statusError struct {
	code  int
	text  string
	after time.Duration // when the server wants to be asked again
}

// Error implements error.
func (e statusError) Error() string { return "status " + e.text }

// A refusal is an answer that this program does not accept.
type refusal string

// Error implements error.
func (e refusal) Error() string { return string(e) }
