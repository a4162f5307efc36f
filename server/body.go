package server

import (
	"errors"
	"io"
	"net/http"

	"github.com/firstpick/firstpick/server/kit/reqctx"
)

// maxLinger bounds how much of an unread body is read and discarded, in bytes.
const maxLinger = 8 << 20

// A body is the body of a request as handlers read it: up to the limit of its route.
type body struct {
	io.ReadCloser // bounded
	all           io.Reader
	began, ended  bool
	expects       bool // that the server asks for it (Expect: 100-continue)
}

// limitBody bounds the body of a request, in bytes.
func limitBody(w http.ResponseWriter, r *http.Request, limit int64) *body {
	b := &body{
		ReadCloser: http.MaxBytesReader(reqctx.Original(w), r.Body, limit), all: r.Body, expects: r.Header.Get("Expect") != "",
	}
	r.Body = b
	return b
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.began = true
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || errors.Is(err, io.EOF)
	return n, err
}

// linger sends the response and discards the unread body. Closing a connection with
// unread bytes resets it, and the reset may reach a client that is still sending before
// the response does. The server's read timeout limits the time.
func (b *body) linger(w *reqctx.Writer) {
	if b.ended || b.expects && !b.began { // a client that expects 100-continue has not sent its body
		return
	}
	_ = http.NewResponseController(w).Flush()   // a client that is gone needs no answer
	_, err := io.Copy(io.Discard, b.ReadCloser) // beyond the limit net/http waits before it closes
	if err != nil {
		_, _ = io.CopyN(io.Discard, b.all, maxLinger)
	}
}
