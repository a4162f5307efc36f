// Package apierr maps errors to HTTP responses, and is the only one that does.
// The body is the same everywhere:
//
//	{"error": code, "error_description": text, "error_uri": docs, "request_id": id}
//
// with suggestions, reason or retry_after where they help. Descriptions are ASCII
// without quotes or backslashes (RFC 6749, 5.2), so they never repeat input. A 401 always names the protected-resource metadata.
package apierr

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/server/kit/reqctx"
)

// An Error is an error response.
type Error struct {
	Status      int
	Code        string // stable and documented
	Description string
	Suggestions []string
	RetryAfter  int    // seconds; 0 omits the header
	Reason      string // machine-readable detail of a broad code
	Scope       string // that the caller lacks
	MaxAge      int    // seconds; how old an authentication may be
	// Extra is a struct whose fields are added to the body; optional.
	Extra any
	Cause error
}

// Of returns the *Error in the chain of err, or an Internal one that hides err.
func Of(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return Internal(err)
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Code + ": " + e.Cause.Error()
	}
	return e.Code
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// InvalidRequest is a 400 for a parameter.
func InvalidRequest(description string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "invalid_request", Description: description}
}

// BadQuery is a 400 for a query string that cannot be parsed.
func BadQuery() *Error {
	return InvalidRequest("The query string is not well-formed: a percent sign must be followed by two hexadecimal digits, and parameters are separated by &.")
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
		Description: "Too many requests from this address. Wait for the time in Retry-After.",
	}
}

// Internal is a 500. The cause is logged, not sent.
func Internal(cause error) *Error {
	return &Error{Status: http.StatusInternalServerError, Code: "server_error", Description: "The server failed. The request id finds the cause in its log.", Cause: cause}
}

// Unavailable is a 503 while there is no snapshot.
func Unavailable() *Error {
	return &Error{Status: http.StatusServiceUnavailable, Code: "temporarily_unavailable", Description: "No snapshot is published yet.", RetryAfter: 5}
}

// Refused is a 400 with a code and a description.
func Refused(code, description string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: code, Description: description}
}

// BadBody is a 400 for a request body, with a machine-readable reason.
func BadBody(reason, description string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "invalid_request", Reason: reason, Description: description}
}

// AccessDenied is a 403: a person or an operator refused.
func AccessDenied(description string) *Error {
	return &Error{Status: http.StatusForbidden, Code: "access_denied", Description: description}
}

// Unauthorized is a 401 for a request without a credential.
func Unauthorized() *Error {
	return &Error{Status: http.StatusUnauthorized, Code: "unauthorized", Description: "This path needs a Bearer access token. Discovery begins at the resource_metadata of WWW-Authenticate."}
}

// InvalidToken is a 401 for a credential that is not, or no longer, valid.
func InvalidToken() *Error {
	return &Error{Status: http.StatusUnauthorized, Code: "invalid_token", Description: "The access token is expired, revoked or unknown. Exchange the identity_assertion again."}
}

// InsufficientScope is a 403 for a token that may not do this.
func InsufficientScope(scope, description string) *Error {
	return &Error{Status: http.StatusForbidden, Code: "insufficient_scope", Scope: scope, Description: description}
}

// StoreDown is a 503 while the state store does not answer.
func StoreDown(cause error) *Error {
	return &Error{
		Status: http.StatusServiceUnavailable, Code: "temporarily_unavailable", RetryAfter: 5, Cause: cause,
		Description: "The state store does not answer. Try again.",
	}
}

// Gone is for a client that disconnected; it is logged as status 499.
func Gone(cause error) *Error {
	return &Error{Status: 499, Code: "client_closed_request", Description: "The client closed the connection.", Cause: cause}
}

// TooLarge is a 413.
func TooLarge() *Error {
	return &Error{Status: http.StatusRequestEntityTooLarge, Code: "request_too_large", Description: "The request body is larger than this path takes."}
}

type body struct {
	Error       string   `json:"error"`
	Description string   `json:"error_description"`
	URI         string   `json:"error_uri,omitempty"`
	RequestID   string   `json:"request_id"`
	Reason      string   `json:"reason,omitempty"`
	Scope       string   `json:"scope,omitempty"`
	MaxAge      int      `json:"max_age,omitempty"`
	Suggestions []string `json:"suggestions,omitempty"`
	RetryAfter  int      `json:"retry_after,omitempty"`
	// Message is a copy of Description, for clients of older versions of the registration
	// protocol.
	Message string `json:"message,omitempty"`
}

// A Writer writes errors; Base is the address that error_uri begins with.
type Writer struct {
	Base string
	// WithMessage repeats the description as message.
	WithMessage bool
	// NoStore keeps caches from remembering a 404 for half a minute.
	NoStore bool
}

// Write answers with e.
func (ew Writer) Write(w http.ResponseWriter, r *http.Request, e *Error) {
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Cache-Control", "no-store")
	if e.Status == http.StatusNotFound && !ew.NoStore {
		h.Set("Cache-Control", "max-age=30")
	}
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	for _, challenge := range ew.challenges(e) {
		h.Add("WWW-Authenticate", challenge)
	}
	data := ew.body(w, e)
	h.Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(e.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(data) // a write error means that the client disconnected
	}
}

func (ew Writer) body(w http.ResponseWriter, e *Error) []byte {
	b := body{
		Error: e.Code, Description: e.Description, URI: ew.Base + "/docs/errors#" + e.Code, RequestID: reqctx.ID(w),
		Reason: e.Reason, Scope: e.Scope, MaxAge: e.MaxAge, Suggestions: e.Suggestions, RetryAfter: e.RetryAfter,
	}
	if ew.WithMessage {
		b.Message = e.Description
	}
	data, err := json.Marshal(b)
	if e.Extra != nil && err == nil {
		var extra []byte
		if extra, err = json.Marshal(e.Extra); len(extra) > 2 {
			data = append(append(data[:len(data)-1], ','), extra[1:]...)
		}
	}
	if err != nil {
		data = []byte(`{"error":"server_error"}`)
	}
	return append(data, '\n')
}

// MetadataPath is the well-known path of the protected-resource metadata. The document
// names the resource BASE/api/, so clients that compare (RFC 9728, 3.3) need it at
// ResourceMetadataPath, where challenges point; at MetadataPath it serves the others.
const (
	MetadataPath         = "/.well-known/oauth-protected-resource"
	ResourceMetadataPath = MetadataPath + "/api/"
)

// challenges returns the WWW-Authenticate lines of a failure (RFC 6750, 3; RFC
// 9728, 5.1). A request without credential gets no error parameter.
func (ew Writer) challenges(e *Error) []string {
	meta := param("resource_metadata", ew.Base+ResourceMetadataPath)
	switch {
	case e.Code == "insufficient_scope":
		return []string{"Bearer " + strings.Join([]string{
			param("error", e.Code), param("error_description", e.Description), param("scope", e.Scope), meta,
		}, ", ")}
	case e.Status != http.StatusUnauthorized:
		return nil
	case e.Code == "invalid_token":
		return []string{"Bearer " + strings.Join([]string{meta, param("error", e.Code), param("error_description", e.Description)}, ", ")}
	case e.Code == "interaction_required":
		return []string{"Bearer " + meta, "AgentAuth " + param("error", e.Code) + ", " + param("error_description", e.Description)}
	case e.Code == "login_required":
		return []string{"Bearer " + meta, "AgentAuth " + strings.Join([]string{
			param("error", e.Code), param("max_age", strconv.Itoa(e.MaxAge)), param("error_description", e.Description),
		}, ", ")}
	case e.Code == "invalid_client": // the client's scheme is first (RFC 6749, 5.2)
		return []string{`Basic realm="firstpick"`, "Bearer " + meta}
	default:
		return []string{"Bearer " + meta}
	}
}

// param is a quoted parameter. Characters that a quoted error_description may
// not hold become blanks (RFC 6749, 5.2).
func param(name, value string) string {
	return name + `="` + strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return ' '
		}
		return c
	}, value) + `"`
}
