package evalclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/firstpick/firstpick/cmd/agentauth"
)

// The error codes that callers act on. The server has more.
const (
	CodeInvalidEval   = "invalid_eval"
	CodeInvalidToken  = "invalid_token"
	CodeUnauthorized  = "unauthorized"
	CodePlanRequired  = "plan_required"
	CodeScope         = "insufficient_scope"
	CodeEvalNotFound  = "eval_not_found"
	CodeRunNotFound   = "run_not_found"
	CodeTrialNotFound = "trial_not_found"
	CodeNoResults     = "no_results"
	CodeProviderKey   = "provider_key_missing"
	CodeKeyHosts      = "provider_key_hosts"
	CodeQueueFull     = "queue_full"
	CodeCatalog       = "catalog_changed"
	CodeRateLimited   = "rate_limited"

	CodeEvalVersion      = "eval_version_not_found"
	CodeUploadDigest     = "upload_digest"
	CodeUploadIncomplete = "upload_incomplete"
	CodeUploadOffset     = "upload_offset"
	CodeUploadNotFound   = "upload_not_found"
	CodeUploadConflict   = "upload_conflict"
	CodeTooManyUploads   = "too_many_uploads"
	CodeUploadsDisabled  = "uploads_disabled"
)

const (
	maxRefusal = 1 << 20
	maxText    = 500  // letters of a text from the server
	maxEntries = 1000 // issues, and suggestions
)

// An Error is a refusal by the server.
type Error struct {
	// Status is the HTTP status.
	Status int
	// Code is stable and documented; empty where the answer held none.
	Code string
	// Description is the server's text, Reason its finer code.
	Description, Reason string
	// Issues are the problems of an eval.
	Issues []Issue
	// Suggestions are names that there are, where one was given that there is not.
	Suggestions []string
	// RequestID finds the request in the server's log.
	RequestID string
	// RetryAfter is how long the server asks to wait; 0 where it does not.
	RetryAfter time.Duration
}

// Error names the code, the status and the description.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Code == "" {
		fmt.Fprintf(&b, "the server answered %d %s", e.Status, http.StatusText(e.Status))
	} else {
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

// temporary says that the same request may succeed later.
func (e *Error) temporary() bool {
	return e.Status == http.StatusTooManyRequests || e.Status >= 500 && e.Status != http.StatusNotImplemented
}

// IsCode reports whether err is a refusal with that code.
func IsCode(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// refusal reads the error out of an answer. The secrets of the request are taken out
// of its texts, for a server may echo them.
func refusal(res *http.Response, now time.Time, secrets []string) *Error {
	text := func(s string) string {
		for _, secret := range secrets {
			s = strings.ReplaceAll(s, secret, "***")
		}
		return agentauth.Printable(s, maxText)
	}
	e := &Error{
		Status: res.StatusCode, RetryAfter: agentauth.RetryAfter(res.Header.Get("Retry-After"), now),
		RequestID: text(res.Header.Get("X-Request-Id")),
	}
	var body struct {
		Code        string   `json:"error"`
		Description string   `json:"error_description"`
		Reason      string   `json:"reason"`
		Issues      []Issue  `json:"issues"`
		Suggestions []string `json:"suggestions"`
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
	if err != nil || json.Unmarshal(data, &body) != nil {
		return e
	}
	e.Code, e.Description, e.Reason = text(body.Code), text(body.Description), text(body.Reason)
	for _, issue := range body.Issues[:min(len(body.Issues), maxEntries)] {
		e.Issues = append(e.Issues, Issue{Line: max(0, issue.Line), Message: text(issue.Message)})
	}
	for _, name := range body.Suggestions[:min(len(body.Suggestions), maxEntries)] {
		e.Suggestions = append(e.Suggestions, text(name))
	}
	return e
}
