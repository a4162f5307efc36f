package providertest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A fault is an error response.
type fault struct {
	status int
	header map[string]string
	body   any
}

// faultOf returns the fault that a step wants, if it wants one.
func faultOf(f format, q Request, s Step) (fault, bool) {
	switch s.Do {
	case ErrorIn200, BadRequest, Unsupported, Unauthorized, NoModel, Limited, DayQuota, NoMoney, ServerError, Overloaded:
		status, body := f.fault(q, s)
		return fault{status, waitHeader(s), body}, true
	default:
		return fault{}, false
	}
}

// waitHeader is the headers that ask to wait, in the style of the step.
func waitHeader(s Step) map[string]string {
	if s.Do != Limited {
		return nil
	}
	switch s.Style {
	case Seconds:
		return map[string]string{"Retry-After": seconds(s.Wait)}
	case Millis:
		return map[string]string{"Retry-After": seconds(s.Wait), "Retry-After-Ms": strconv.FormatInt(s.Wait.Milliseconds(), 10)}
	case Date:
		now := time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)
		return map[string]string{"Date": now.Format(http.TimeFormat), "Retry-After": now.Add(s.Wait).Format(http.TimeFormat)}
	default:
		return nil
	}
}

// waitText returns the wait as error messages state it; empty if they do not.
func waitText(s Step, say string) string {
	if s.Style != InText {
		return ""
	}
	return fmt.Sprintf(" Please %s in %s.", say, s.Wait)
}

// key returns the key that a request was sent with.
func (q Request) key() string {
	for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"} {
		if v := q.Header.Get(name); v != "" {
			return strings.TrimPrefix(v, "Bearer ")
		}
	}
	return ""
}

// openAIFault is the errors of both OpenAI formats.
func openAIFault(q Request, s Step) (int, any) {
	const request = "invalid_request_error"
	switch s.Do {
	case BadRequest:
		return 400, openAIError(request, "", "The request could not be understood.", "")
	case Unsupported:
		return 400, openAIError(request, "unsupported_parameter", "Unsupported parameter: 'temperature' is not supported with this model.", "temperature")
	case Unauthorized:
		return 401, openAIError(request, "invalid_api_key", "Incorrect API key provided: "+q.key()+".", "")
	case NoModel:
		return 404, openAIError(request, "model_not_found", "The model '"+q.Model+"' does not exist or you do not have access to it.", "")
	case Limited:
		return 429, openAIError("requests", "rate_limit_exceeded", "Rate limit reached for "+q.Model+" on requests per min."+waitText(s, "try again"), "")
	case DayQuota:
		return 429, openAIError("requests", "rate_limit_exceeded", "Rate limit reached for "+q.Model+" on requests per day (RPD): Limit 200, Used 200. Please try again in 7h12m0s.", "")
	case NoMoney:
		return 429, openAIError("insufficient_quota", "insufficient_quota", "You exceeded your current quota, please check your plan and billing details.", "")
	case Overloaded:
		return 503, openAIError("server_error", "", "The engine is currently overloaded, please try again later.", "")
	case ErrorIn200:
		return 200, openAIError("server_error", "server_error", "The server had an error while processing the request.", "")
	default:
		return 500, openAIError("server_error", "", "The server had an error while processing the request.", "")
	}
}

func openAIError(kind, code, message, param string) any {
	e := map[string]any{"message": message, "type": kind, "param": nil, "code": nil}
	if code != "" {
		e["code"] = code
	}
	if param != "" {
		e["param"] = param
	}
	return map[string]any{"error": e}
}

// openAIWindow is the headers of both OpenAI formats.
func openAIWindow(limit, left int, reset time.Duration) map[string]string {
	return map[string]string{
		"X-Ratelimit-Limit-Requests": strconv.Itoa(limit), "X-Ratelimit-Remaining-Requests": strconv.Itoa(left),
		"X-Ratelimit-Reset-Requests": reset.Round(time.Millisecond).String(),
		"X-Ratelimit-Limit-Tokens":   "2000000", "X-Ratelimit-Remaining-Tokens": "1999000", "X-Ratelimit-Reset-Tokens": "30ms",
	}
}
