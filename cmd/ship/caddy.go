package ship

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// caddyEntry holds the used fields of a line of Caddy's access log.
type caddyEntry struct {
	TS       json.RawMessage `json:"ts"` // a number, or a text when time_format says so
	Status   int             `json:"status"`
	Size     json.Number     `json:"size"`
	Duration json.RawMessage `json:"duration"` // seconds, or a text such as 1.2ms
	Request  *struct {
		RemoteIP string      `json:"remote_ip"`
		ClientIP string      `json:"client_ip"` // behind trusted proxies, of 2.7 and later
		Method   string      `json:"method"`
		Host     string      `json:"host"`
		URI      string      `json:"uri"`
		Headers  http.Header `json:"headers"`
	} `json:"request"`
	Answer http.Header `json:"resp_headers"`
}

// fromCaddy turns a line of Caddy's access log into one of an nginx log_format,
// which package event reads. ok is false for a line without a request;
// a file with all of Caddy's logs has such lines.
func fromCaddy(text []byte) (_ []byte, ok bool, err error) {
	var e caddyEntry
	if err := json.Unmarshal(text, &e); err != nil {
		return nil, false, err
	}
	if e.Request == nil || e.Request.URI == "" || e.Status == 0 {
		return nil, false, nil
	}
	q := e.Request
	ip := q.ClientIP
	if ip == "" {
		ip = q.RemoteIP
	}
	contentType, _, _ := strings.Cut(e.Answer.Get("Content-Type"), ";")
	out, err := marshal(struct {
		Time           string `json:"time"`
		IP             string `json:"ip,omitempty"`
		Host           string `json:"host,omitempty"`
		Method         string `json:"method"`
		URI            string `json:"uri"`
		Status         int    `json:"status"`
		Bytes          string `json:"bytes,omitempty"`
		Duration       string `json:"duration,omitempty"`
		ContentType    string `json:"contentType,omitempty"`
		UserAgent      string `json:"userAgent,omitempty"`
		Referrer       string `json:"referrer,omitempty"`
		Accept         string `json:"accept,omitempty"`
		Signature      string `json:"signature,omitempty"`
		SignatureInput string `json:"signatureInput,omitempty"`
		SignatureAgent string `json:"signatureAgent,omitempty"`
	}{
		caddyTime(unquoted(e.TS)), ip, q.Host, q.Method, q.URI, e.Status, e.Size.String(), caddySeconds(unquoted(e.Duration)), contentType,
		q.Headers.Get("User-Agent"), q.Headers.Get("Referer"), strings.Join(q.Headers.Values("Accept"), ", "),
		q.Headers.Get("Signature"), q.Headers.Get("Signature-Input"), q.Headers.Get("Signature-Agent"),
	})
	return out, true, err
}

func unquoted(raw json.RawMessage) string { return string(bytes.Trim(raw, `"`)) }

// caddyTime returns a time as package event reads it. The time_format iso8601 has
// no colon in its zone.
func caddyTime(s string) string {
	if t, err := time.Parse("2006-01-02T15:04:05.000Z0700", s); err == nil {
		return t.Format(time.RFC3339Nano)
	}
	return s
}

// caddySeconds returns a duration in seconds; empty if invalid.
func caddySeconds(s string) string {
	if d, err := time.ParseDuration(s); err == nil { // of the duration_format string
		return strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
	}
	if _, err := strconv.ParseFloat(s, 64); err != nil {
		return ""
	}
	return s
}

// marshal is json.Marshal on one line, without escapes for HTML.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}
