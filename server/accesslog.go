package server

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/firstpick/firstpick/server/kit/reqctx"
)

const accessBuffer = 64 << 10

// An accessLog writes a line of JSON per request. Lines are gathered in a buffer
// that is flushed when it is full and once a second, so that a request costs no
// system call.
type accessLog struct {
	mu     sync.Mutex
	w      *bufio.Writer
	line   []byte
	second int64  // of stamp
	stamp  []byte // the second, formatted once
}

func newAccessLog(w io.Writer) *accessLog {
	return &accessLog{w: bufio.NewWriterSize(w, accessBuffer)}
}

func (a *accessLog) write(rw *reqctx.Writer, r *http.Request, start, end time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := append(a.line[:0], `{"time":"`...)
	if unix := end.Unix(); unix != a.second || a.stamp == nil {
		a.second, a.stamp = unix, end.UTC().AppendFormat(a.stamp[:0], "2006-01-02T15:04:05.")
	}
	ms := end.Nanosecond() / 1e6
	b = append(append(b, a.stamp...), byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10))
	b = append(b, `Z","msg":"request","request_id":"`...)
	b = append(b, rw.ID...)
	b = append(b, `","client":"`...)
	b = rw.Client.AppendTo(b)
	b = append(b, `","method":`...)
	b = quote(b, r.Method)
	b = append(b, `,"path":`...)
	b = quote(b, shown(r))
	b = append(b, `,"status":`...)
	b = strconv.AppendInt(b, int64(rw.Status), 10)
	b = append(b, `,"bytes":`...)
	b = strconv.AppendInt(b, rw.Bytes, 10)
	b = append(b, `,"us":`...)
	b = strconv.AppendInt(b, end.Sub(start).Microseconds(), 10)
	a.line = append(b, '}', '\n')
	_, _ = a.w.Write(a.line) // a log that cannot be written must not fail a request
}

// shown is the part of a URL that may be logged. Only queries of the public API are
// free of secrets.
func shown(r *http.Request) string {
	if r.URL.RawQuery == "" || strings.HasPrefix(r.URL.Path, "/api/public/") {
		return r.RequestURI
	}
	return r.URL.Path + "?..."
}

func (a *accessLog) flush() {
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = a.w.Flush()
}

// quote appends s as a JSON string. Most inputs need no escapes.
func quote(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			if data, err := json.Marshal(s); err == nil {
				return append(b, data...)
			}
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
