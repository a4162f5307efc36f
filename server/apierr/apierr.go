// Package apierr is the one place where a failure becomes a status and a body.
// The body is the same everywhere:
//
//	{"error": code, "error_description": text, "error_uri": docs, "request_id": id}
//
// with suggestions or retry_after where they help. Descriptions are ASCII
// without quotes or backslashes (RFC 6749, 5.2), so what a caller sent is never
// repeated in them.
package apierr

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/firstpick/firstpick/server/reqctx"
)

// An Error is a failure that the caller is told about.
type Error struct {
	Status      int
	Code        string // stable and documented
	Description string
	Suggestions []string
	RetryAfter  int // seconds; 0 for none
	Cause       error
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Code + ": " + e.Cause.Error()
	}
	return e.Code
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// The failures of the read path.
func InvalidRequest(description string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "invalid_request", Description: description}
}

// ToolNotFound is a 404 for a name that no tool has.
func ToolNotFound(description string, suggestions []string) *Error {
	return &Error{Status: http.StatusNotFound, Code: "tool_not_found", Description: description, Suggestions: suggestions}
}

// CategoryNotFound is a 404 for a category that does not exist.
func CategoryNotFound(suggestions []string) *Error {
	return &Error{Status: http.StatusNotFound, Code: "category_not_found", Description: "No such category is measured.", Suggestions: suggestions}
}

// NotFound is a 404 for a path.
func NotFound() *Error {
	return &Error{Status: http.StatusNotFound, Code: "not_found", Description: "Nothing is served at this path."}
}

// MethodNotAllowed is a 405; the caller sets Allow.
func MethodNotAllowed() *Error {
	return &Error{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Description: "This path answers other methods; see Allow."}
}

// RateLimited is a 429.
func RateLimited(after int) *Error {
	return &Error{
		Status: http.StatusTooManyRequests, Code: "rate_limited", RetryAfter: after,
		Description: "Too many requests from this address. Wait as long as Retry-After says.",
	}
}

// Internal is a 500 that says no more than that.
func Internal(cause error) *Error {
	return &Error{Status: http.StatusInternalServerError, Code: "server_error", Description: "The server failed. The request id finds the cause in its log.", Cause: cause}
}

// Unavailable is a 503 while there is no snapshot.
func Unavailable() *Error {
	return &Error{Status: http.StatusServiceUnavailable, Code: "temporarily_unavailable", Description: "No snapshot is published yet.", RetryAfter: 5}
}

type body struct {
	Error       string   `json:"error"`
	Description string   `json:"error_description"`
	URI         string   `json:"error_uri,omitempty"`
	RequestID   string   `json:"request_id"`
	Suggestions []string `json:"suggestions,omitempty"`
	RetryAfter  int      `json:"retry_after,omitempty"`
}

// A Writer writes errors; Base is the address that error_uri begins with.
type Writer struct{ Base string }

// Write answers with e.
func (ew Writer) Write(w http.ResponseWriter, r *http.Request, e *Error) {
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Cache-Control", "no-store")
	if e.Status == http.StatusNotFound {
		h.Set("Cache-Control", "max-age=30")
	}
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	data, err := json.Marshal(body{
		e.Code, e.Description, ew.Base + "/docs/errors#" + e.Code, reqctx.ID(w), e.Suggestions, e.RetryAfter,
	})
	if err != nil {
		data = []byte(`{"error":"server_error"}`)
	}
	h.Set("Content-Length", strconv.Itoa(len(data)+1))
	w.WriteHeader(e.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(append(data, '\n')) // the client is gone; nothing to do
	}
}
