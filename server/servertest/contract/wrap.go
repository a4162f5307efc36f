package contract

import (
	"compress/gzip"
	"io"
	"net/http"

	"github.com/klauspost/compress/zstd"
)

// most is how much of a body is kept to be looked at; of a longer one, as files and
// streams have, only status and headers are.
const most = 2 << 20

// Wrap returns a handler whose answers are held to the contract.
func (c *Contract) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := &http.Request{Method: r.Method, URL: r.URL, Header: r.Header.Clone()} // routers change theirs
		held := &writer{ResponseWriter: w}
		next.ServeHTTP(held, r) // an answer that is broken off by a panic is not looked at
		if held.status == 0 {
			held.note(http.StatusOK)
		}
		body := held.body
		if body == nil {
			body = []byte{}
		}
		if held.long {
			body = nil
		}
		if body != nil {
			body = plain(held.header.Get("Content-Encoding"), body)
		}
		if r.Method == http.MethodHead {
			body = nil
		}
		c.Check(asked, held.status, held.header, body)
	})
}

// A writer keeps what is written.
type writer struct {
	http.ResponseWriter
	status int
	header http.Header
	body   []byte
	long   bool
}

func (w *writer) note(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status, w.header = status, w.Header().Clone()
	}
}

func (w *writer) WriteHeader(status int) {
	w.note(status)
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) Write(p []byte) (int, error) {
	w.note(http.StatusOK)
	if w.long = w.long || len(w.body)+len(p) > most; !w.long {
		w.body = append(w.body, p...)
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func ungzip(r io.Reader) []byte {
	zr, err := gzip.NewReader(r)
	if err != nil {
		return nil
	}
	data, err := io.ReadAll(zr)
	if err != nil {
		return nil
	}
	return data
}

func unzstd(r io.Reader) []byte {
	zr, err := zstd.NewReader(r)
	if err != nil {
		return nil
	}
	defer zr.Close()
	data, err := io.ReadAll(zr)
	if err != nil {
		return nil
	}
	return data
}
