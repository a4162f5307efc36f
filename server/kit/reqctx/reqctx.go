// Package reqctx holds the id of a request, the address of its client, and whether an operator
// sent it. The first two are set once, by the outermost middleware, in a response writer that travels with the request, so that a
// request costs no context value.
package reqctx

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
)

// An IDs makes request ids: a random prefix of the process and a counter.
type IDs struct {
	Prefix string
	n      atomic.Uint64
}

// Next returns a new id.
func (i *IDs) Next() string { return i.Prefix + strconv.FormatUint(i.n.Add(1), 36) }

// A Writer is a response writer with the id of its request and the bytes that it sent.
type Writer struct {
	http.ResponseWriter
	ID     string
	Client netip.Addr
	Route  string // the pattern that answers, where it is counted
	// Operator is set where an operator is signed in: pages then link to the operator's.
	Operator bool
	Status   int
	Bytes    int64
}

// WriteHeader notes the status.
func (w *Writer) WriteHeader(status int) {
	if w.Status == 0 {
		w.Status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write counts bytes.
func (w *Writer) Write(p []byte) (int, error) {
	if w.Status == 0 {
		w.Status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.Bytes += int64(n)
	return n, err
}

// Flush implements http.Flusher, which middleware that wraps a Writer looks for.
func (w *Writer) Flush() {
	if w.Status == 0 {
		w.Status = http.StatusOK
	}
	_ = http.NewResponseController(w.ResponseWriter).Flush() // a connection that cannot flush sends at the end
}

// Unwrap lets http.ResponseController reach the connection.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// ID returns the id of the request that w answers, or "".
func ID(w http.ResponseWriter) string {
	if rw := writer(w); rw != nil {
		return rw.ID
	}
	return ""
}

// writer unwraps w to its Writer.
func writer(w http.ResponseWriter) *Writer {
	for {
		switch inner := w.(type) {
		case *Writer:
			return inner
		case interface{ Unwrap() http.ResponseWriter }:
			w = inner.Unwrap()
		default:
			return nil
		}
	}
}

// SetOperator notes that the request that w answers is an operator's.
func SetOperator(w http.ResponseWriter) {
	if rw := writer(w); rw != nil {
		rw.Operator = true
	}
}

// Operator reports whether the request that w answers is an operator's.
func Operator(w http.ResponseWriter) bool {
	rw := writer(w)
	return rw != nil && rw.Operator
}

// Client returns the address of the request that w answers.
func Client(w http.ResponseWriter) netip.Addr {
	if rw := writer(w); rw != nil {
		return rw.Client
	}
	return netip.Addr{}
}

// Original returns the response writer of net/http that w was made of. Limits of bodies
// need it: with it net/http closes the connection of a body that is too large.
func Original(w http.ResponseWriter) http.ResponseWriter {
	for {
		outer, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return w
		}
		w = outer.Unwrap()
	}
}

// Proxies are the networks whose X-Forwarded-For is trusted.
type Proxies []netip.Prefix

// ParseProxies reads networks in CIDR form.
func ParseProxies(cidrs []string) (Proxies, error) {
	var out Proxies
	for _, c := range cidrs {
		p, err := netip.ParsePrefix(c)
		if err != nil {
			return nil, fmt.Errorf("trusted-proxies: %q is not a network such as 10.0.0.0/8 (only the collector's FIRSTPICK_TRUSTED_PROXIES is a count of proxies)", c)
		}
		out = append(out, p)
	}
	return out, nil
}

func (p Proxies) trusts(a netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(a) {
			return true
		}
	}
	return false
}

// Client returns the client's address of a request: the peer, or, if the peer is
// trusted, the last forwarded address that is not trusted.
func (p Proxies) Client(r *http.Request) netip.Addr {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	peer, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Addr{}
	}
	peer = peer.Unmap()
	if len(p) == 0 || !p.trusts(peer) {
		return peer
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		a, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break // a trusted proxy did not write the entries before it
		}
		if peer = a.Unmap(); !p.trusts(peer) {
			break
		}
	}
	return peer
}
