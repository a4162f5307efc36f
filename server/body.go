package server

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/evals/billing"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/reqctx"
)

// The largest request bodies that are read, in bytes.
const (
	maxBody   = 64 << 10
	maxEvents = event.MaxLogBody + 64<<10 // compressed or not; decoded it is bounded again, by its form
	maxLinger = 8 << 20                   // read and thrown away of a body that no handler wanted
)

func bodyLimit(path string) int64 {
	switch path {
	case "/api/collect":
		return maxEvents
	case billing.Path:
		return billing.MaxBody
	case "/api/v1/evals", "/api/v1/evals/check":
		return evals.MaxSource + 1 // so that the route reports what is too large
	}
	if strings.HasPrefix(path, "/workspaces/") && strings.Contains(path, "/evals/") {
		return 3*evals.MaxSource + maxBody // in a form each byte may take three
	}
	return maxBody
}

// A body is the body of a request as handlers read it: up to the limit of its path.
type body struct {
	io.ReadCloser // bounded
	all           io.Reader
	began, ended  bool
	expects       bool // that the server asks for it (Expect: 100-continue)
}

// limitBody bounds the body of a request.
func limitBody(w http.ResponseWriter, r *http.Request, path string) *body {
	b := &body{
		ReadCloser: http.MaxBytesReader(reqctx.Original(w), r.Body, bodyLimit(path)), all: r.Body, expects: r.Header.Get("Expect") != "",
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

// linger sends the answer and throws away what no handler read. A connection that is
// closed over unread bytes is reset, and the reset may reach a client that is still
// sending before the answer does. The server's read timeout bounds how long this takes.
func (b *body) linger(w *reqctx.Writer) {
	if b.ended || b.expects && !b.began { // a client that was not asked for its body sends none
		return
	}
	_ = http.NewResponseController(w).Flush()   // a client that is gone needs no answer
	_, err := io.Copy(io.Discard, b.ReadCloser) // beyond the limit net/http waits before it closes
	if err != nil {
		_, _ = io.CopyN(io.Discard, b.all, maxLinger)
	}
}
