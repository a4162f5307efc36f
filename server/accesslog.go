package server

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/firstpick/firstpick/server/kit/reqctx"
)

const accessBuffer = 64 << 10

// An accessLog writes a line per request: JSON, or text for a person. Lines are gathered in a buffer
// that is flushed when it is full and once a second, so that a request costs no
// system call.
type accessLog struct {
	mu     sync.Mutex
	w      *bufio.Writer
	line   []byte
	second int64  // of stamp
	stamp  []byte // the second, formatted once
	text   bool   // for a person
}

func newAccessLog(w io.Writer, text bool) *accessLog {
	return &accessLog{w: bufio.NewWriterSize(w, accessBuffer), text: text}
}

func (a *accessLog) write(rw *reqctx.Writer, r *http.Request, start, end time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.text {
		a.line = appendText(a.line[:0], rw, r, start, end)
		_, _ = a.w.Write(a.line)
		return
	}
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

// appendText appends a line such as "21:56:25 GET  /leaderboards/orm 200 14.2 kB 1.3ms".
func appendText(b []byte, rw *reqctx.Writer, r *http.Request, start, end time.Time) []byte {
	b = end.AppendFormat(b, "15:04:05 ")
	b = fmt.Appendf(b, "%-4s %s %d %.1f kB %s", escaped(r.Method), escaped(shown(r)), rw.Status, float64(rw.Bytes)/1000, end.Sub(start).Round(10*time.Microsecond))
	return append(b, '\n')
}

// escaped returns s without bytes that would steer a terminal.
func escaped(s string) string {
	q := strconv.QuoteToASCII(s)
	return q[1 : len(q)-1]
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
