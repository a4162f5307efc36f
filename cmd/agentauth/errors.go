package agentauth

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// The error codes that this client itself acts on.
const (
	CodePending     = "authorization_pending"
	CodeSlowDown    = "slow_down"
	CodeExpired     = "expired_token"
	CodeDenied      = "access_denied"
	CodeRateLimited = "rate_limited"
	CodeInteraction = "interaction_required"
)

// An Error is a refusal by the service.
type Error struct {
	// Status is the HTTP status; 0 where the client itself found a code expired.
	Status int
	// Code is the protocol's error code; empty where the answer held none.
	Code string
	// Description is the service's text, Reason its finer code.
	Description, Reason string
	// RetryAfter is how long the service asks to wait; 0 where it does not.
	RetryAfter time.Duration
}

// Error names the code, the status and the description.
func (e *Error) Error() string {
	var b strings.Builder
	switch {
	case e.Code == "":
		fmt.Fprintf(&b, "the service answered %d %s", e.Status, http.StatusText(e.Status))
	case e.Status == 0:
		b.WriteString(e.Code)
	default:
		fmt.Fprintf(&b, "%s (%d)", e.Code, e.Status)
	}
	if e.Description != "" {
		b.WriteString(": " + e.Description)
	}
	if e.Reason != "" {
		b.WriteString(" [" + e.Reason + "]")
	}
	return b.String()
}

const maxText = 300 // letters of a text from the service

// refusal reads the error out of an answer. The secrets of the request are
// taken out of its texts, for a service may echo them.
func refusal(a answer, now time.Time, secrets []string) *Error {
	e := &Error{Status: a.status, RetryAfter: RetryAfter(a.header.Get("Retry-After"), now)}
	var body map[string]json.RawMessage
	if json.Unmarshal(a.body, &body) != nil {
		return e
	}
	text := func(keys ...string) string {
		for _, key := range keys {
			var s string
			if json.Unmarshal(body[key], &s) == nil && s != "" {
				for _, secret := range secrets {
					if secret != "" {
						s = strings.ReplaceAll(s, secret, "***")
					}
				}
				return Printable(s, maxText)
			}
		}
		return ""
	}
	e.Code = text("error")
	e.Description = text("error_description", "message")
	e.Reason = text("reason")
	return e
}

// RetryAfter reads the header of that name: seconds or a date. It is 0 if absent, and
// a day at most.
func RetryAfter(s string, now time.Time) time.Duration {
	if n, err := strconv.Atoi(s); err == nil && n > 0 {
		return time.Duration(min(n, 24*3600)) * time.Second
	}
	if t, err := http.ParseTime(s); err == nil && t.After(now) {
		return min(t.Sub(now), 24*time.Hour)
	}
	return 0
}

// Printable returns s in one line, without letters that steer a terminal, and
// at most limit letters long.
func Printable(s string, limit int) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n == limit {
			b.WriteString("…")
			break
		}
		if r == '\n' || r == '\t' {
			r = ' '
		}
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			n++
		}
	}
	return strings.TrimSpace(b.String())
}

// A transportError is an answer that did not come, or not whole.
type transportError struct{ err error }

// Error returns the cause's text.
func (e *transportError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *transportError) Unwrap() error { return e.err }
