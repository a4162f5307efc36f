package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/runner/agent"
)

const maxErrorText = 300 // bytes kept of a provider's message

// A failure is a provider's error in any format. Fields that a format lacks are empty.
type failure struct {
	status  int    // in the body; 0 if absent
	code    string // "insufficient_quota"
	kind    string // "rate_limit_error", "RESOURCE_EXHAUSTED"
	param   string // the parameter at fault
	message string
	reasons []string      // Google's, and the ids of its quotas
	after   time.Duration // wait from the body; 0 if absent
}

func (f *failure) Error() string {
	text := f.message
	if f.code != "" && !strings.Contains(text, f.code) {
		text = f.code + " " + text
	} else if f.code == "" && f.kind != "" {
		text = f.kind + " " + text
	}
	return clip(strings.TrimSpace(text))
}

func clip(s string) string {
	if len(s) > maxErrorText {
		return strings.ToValidUTF8(s[:maxErrorText], "") + "…"
	}
	return s
}

// readFailure parses an error response. It accepts the errors of all formats, because a
// proxy may use another format, and any text.
func readFailure(body []byte) *failure {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 { // as Gemini streams
		body = list[0]
	}
	var wire struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &wire) == nil {
		if f := failureIn(wire.Error); f != nil {
			return f
		}
		if f := failureIn(body); f != nil && f.message != "" { // the error without an envelope
			return f
		}
	}
	return &failure{message: clip(strings.ToValidUTF8(strings.TrimSpace(string(body)), ""))}
}

// failureIn parses the value of the key error; nil if it is empty.
func failureIn(raw json.RawMessage) *failure {
	if len(raw) == 0 || string(raw) == "null" || string(raw) == `""` {
		return nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return &failure{message: text, after: waitIn(text)}
	}
	var wire struct {
		Message json.RawMessage `json:"message"`
		Type    json.RawMessage `json:"type"`
		Code    json.RawMessage `json:"code"`
		Param   json.RawMessage `json:"param"`
		Status  json.RawMessage `json:"status"`
		Details json.RawMessage `json:"details"`
	}
	if json.Unmarshal(raw, &wire) != nil {
		return &failure{message: clip(string(raw))}
	}
	f := &failure{message: stringOf(wire.Message), kind: stringOf(wire.Type), param: stringOf(wire.Param)}
	if f.kind == "" {
		f.kind = stringOf(wire.Status)
	}
	if n, err := strconv.Atoi(string(wire.Code)); err == nil {
		f.status = n
	} else {
		f.code = stringOf(wire.Code)
	}
	f.readDetails(wire.Details)
	if f.after == 0 {
		f.after = waitIn(f.message)
	}
	return f
}

// stringOf decodes a JSON string; anything else is empty.
func stringOf(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

// readDetails reads Google's details: reasons, quotas, and the wait.
func (f *failure) readDetails(raw json.RawMessage) {
	var details []struct {
		Reason     string `json:"reason"`
		Delay      string `json:"retryDelay"`
		Violations []struct {
			ID string `json:"quotaId"`
		} `json:"violations"`
	}
	if json.Unmarshal(raw, &details) != nil {
		return
	}
	for _, d := range details {
		f.reasons = append(f.reasons, d.Reason)
		for _, v := range d.Violations {
			f.reasons = append(f.reasons, v.ID)
		}
		if wait, err := time.ParseDuration(d.Delay); err == nil {
			f.after = max(f.after, wait)
		}
	}
}

// exhausted reports whether the credit or the daily quota is used up: a short wait does
// not help.
func (f *failure) exhausted() bool {
	codes := []string{
		"insufficient_quota", "credit_balance_exhausted", "billing_hard_limit_reached", "billing_not_active",
		"enforced_spend_limit_reached", "billing_error",
	}
	if slices.Contains(codes, f.code) || slices.Contains(codes, f.kind) || f.after > maxWait {
		return true
	}
	perDay := func(id string) bool { return strings.Contains(id, "PerDay") }
	return slices.ContainsFunc(f.reasons, perDay) || noQuota.MatchString(f.message) ||
		strings.Contains(strings.ToLower(f.message), "credit balance is too low")
}

// noQuota matches Gemini's message that a plan does not include a model.
var noQuota = lazyregexp.MustCompile(`\blimit: 0\b`)

// state returns the status that classifies a failure: its own for an error inside an
// answer of status 200.
func (f *failure) state(status int) int {
	switch {
	case status != http.StatusOK:
		return status
	case f.status >= 400 && f.status < 600:
		return f.status
	case strings.Contains(f.kind+f.code, "rate_limit"), f.kind == "RESOURCE_EXHAUSTED":
		return http.StatusTooManyRequests
	case strings.HasPrefix(f.kind, "invalid_request"):
		return http.StatusBadRequest
	case strings.HasPrefix(f.kind, "authentication"), strings.HasPrefix(f.kind, "permission"):
		return http.StatusUnauthorized
	default:
		return http.StatusInternalServerError
	}
}

// judge is the retry table. A retry is a new sample, so only attempts that certainly gave
// no answer, and may give one later, are retried. sent are the names of the parameters.
func (f *failure) judge(status int, sent map[string]bool) (reason string, retry bool) {
	status = f.state(status)
	switch {
	case f.exhausted(), status == http.StatusPaymentRequired:
		return agent.ReasonQuota, false
	case status == http.StatusUnauthorized, status == http.StatusForbidden, slices.Contains(f.reasons, "API_KEY_INVALID"):
		return agent.ReasonAuth, false
	case status == http.StatusNotFound, f.code == "model_not_found", status >= 300 && status < 400:
		return agent.ReasonNotFound, false
	case status == http.StatusTooManyRequests:
		return agent.ReasonRateLimited, true
	case status == http.StatusRequestTimeout:
		return agent.ReasonTimeout, true
	case status == http.StatusConflict:
		return agent.ReasonConflict, true
	case status >= 500:
		return agent.ReasonServer, true
	case f.rejects(sent):
		return agent.ReasonUnsupported, false
	default:
		return agent.ReasonBadRequest, false
	}
}

var (
	notWord   = lazyregexp.MustCompile(`[^a-z0-9_]+`)
	rejection = lazyregexp.MustCompile(`support|unknown|unrecognized|deprecated|permitted|not allowed|unexpected|invalid|only|must|cannot|maximum|less than|at most|out of range`)
)

// rejects reports whether a failure is about a parameter that was sent.
func (f *failure) rejects(sent map[string]bool) bool {
	if strings.HasPrefix(f.code, "unsupported_") || f.code == "unknown_parameter" {
		return true
	}
	message := strings.ToLower(f.message)
	if !rejection.MatchString(message) {
		return false
	}
	named := notWord.Split(strings.ToLower(f.param)+" "+message, -1)
	return slices.ContainsFunc(named, func(w string) bool { return sent[w] })
}

// final reports whether every further attempt would fail alike.
func final(reason string) bool {
	switch reason {
	case agent.ReasonAuth, agent.ReasonQuota, agent.ReasonNotFound, agent.ReasonUnsupported:
		return true
	default:
		return false
	}
}

// describe returns an error for people.
func (f *failure) describe(status int) error {
	if status == http.StatusOK {
		return fmt.Errorf("status 200 with an error inside: %w", f)
	}
	return fmt.Errorf("HTTP %d: %w", status, f)
}
