package stream

import (
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/runner/agent"
)

// crashed returns the failure of a program that ended for an unknown reason.
func crashed(message string) *Failure {
	return &Failure{Reason: agent.ReasonCrashed, Retry: true, Message: inert.Truncate(message, maxMessage)}
}

// silent returns the failure of a program with a result and no output of the model.
func silent() *Failure {
	return &Failure{Reason: agent.ReasonMalformed, Retry: true, Message: "the program succeeded, but the model wrote nothing and called no tool"}
}

// failed classifies a failure that the CLI reports, by the provider's status or else by
// the message.
func failed(status int, message string) *Failure {
	if f := failure(status, message); f != nil {
		return f
	}
	return crashed(message)
}

// failure is failed for errors that may not be the provider's: nil if it recognises
// nothing.
func failure(status int, message string) *Failure {
	f := &Failure{Message: inert.Truncate(message, maxMessage)}
	low := strings.ToLower(f.Message)
	if status == 0 {
		status = statusIn(low)
	}
	f.Status = status
	f.After = waitIn(low)
	switch {
	case quotaGone(low, f.After) && (status < 404 || status == 429), status == 402:
		f.Reason, f.Lane = agent.ReasonQuota, true
	case status == 401, status == 403, status == 407, status == 400 && has(low, authWords()):
		f.Reason, f.Lane = agent.ReasonAuth, true
	case status == 404:
		f.Reason, f.Lane = agent.ReasonNotFound, true
	case status == 408:
		f.Reason, f.Retry = agent.ReasonTimeout, true
	case status == 409:
		f.Reason, f.Retry = agent.ReasonConflict, true
	case status == 429:
		f.Reason, f.Retry = agent.ReasonRateLimited, true
	case status >= 500:
		f.Reason, f.Retry = agent.ReasonServer, true
	case status >= 400, has(low, []string{"prompt is too long", "context length", "context window", "context limit"}):
		f.Reason = agent.ReasonBadRequest
	case has(low, []string{"timed out", "timeout"}):
		f.Reason, f.Retry = agent.ReasonTimeout, true
	case has(low, networkWords()):
		f.Reason, f.Retry = agent.ReasonNetwork, true
	default:
		return nil
	}
	return f
}

// quotaGone distinguishes used-up credit or allowance from a rate limit. Providers say
// "quota" for both; with a short wait it is the rate.
func quotaGone(low string, after time.Duration) bool {
	if after > 0 && after <= 10*time.Minute {
		return false
	}
	return has(low, []string{
		"insufficient_quota", "insufficient quota", "exceeded your current quota", "credit balance", "insufficient credits",
		"insufficient funds", "credits exhausted", "add credits", "add more credits", "out of credits", "billing", "payment required",
		"spending limit", "spend limit", "usage limit", "hit your limit",
	})
}

func authWords() []string {
	return []string{
		"invalid api key", "invalid_api_key", "incorrect api key", "api key not valid", "api_key_invalid", "authentication", "authenticate",
		"unauthorized", "unauthenticated", "not logged in", "please log in", "/login", "permissiondenied", "no api key", "api key is missing",
	}
}

func networkWords() []string {
	return []string{
		"econnrefused", "econnreset", "enotfound", "eai_again", "etimedout", "socket hang up", "fetch failed", "network error",
		"connection error", "connection refused", "connection reset", "apiconnectionerror", "error sending request", "stream disconnected",
		"could not resolve", "dns error",
	}
}

func has(low string, words []string) bool {
	for _, w := range words {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

var (
	statusPattern = lazyregexp.MustCompile(`(?i)(?:status(?:[ _]?code)?|\bcode|\bhttp|\berror)\W{1,4}([45]\d\d)\b`)
	waitPattern   = lazyregexp.MustCompile(`(?i)(?:try again in|retry(?:ing)? in|retry(?:ing)? after|retry[-_]?(?:after|delay))\W{0,4}(\d{1,9}(?:\.\d{1,9})?)\s*(ms|s|sec|seconds?|m|min|minutes?|h|hours?|days?)\b`)
)

// statusIn returns the HTTP status in a message, in digits or words; 0 if it has none.
func statusIn(message string) int {
	message = inert.Truncate(message, 2*maxMessage)
	if m := statusPattern.FindStringSubmatch(message); m != nil {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	low := strings.ToLower(message)
	switch {
	case has(low, []string{"rate limit", "rate_limit", "ratelimit", "rate limited", "too many requests", "resource has been exhausted", "resource_exhausted"}):
		return 429
	case has(low, authWords()):
		return 401
	case has(low, []string{"model_not_found", "model not found", "notfounderror"}):
		return 404
	case has(low, []string{"badrequesterror", "invalid_request_error", "invalid_argument"}):
		return 400
	case has(low, []string{"overloaded", "service unavailable", "serviceunavailable", "internal server error", "internalservererror", "bad gateway", "badgateway", "servers are down"}):
		return 503
	}
	return 0
}

// waitIn returns the wait that a message asks for; 0 if it has none.
func waitIn(message string) time.Duration {
	m := waitPattern.FindStringSubmatch(inert.Truncate(message, 2*maxMessage))
	if m == nil {
		return 0
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0
	}
	unit := time.Second
	switch strings.ToLower(m[2])[0] {
	case 'm':
		unit = time.Minute
		if strings.EqualFold(m[2], "ms") {
			unit = time.Millisecond
		}
	case 'h':
		unit = time.Hour
	case 'd':
		unit = 24 * time.Hour
	}
	return time.Duration(min(n*float64(unit), float64(366*24*time.Hour)))
}
