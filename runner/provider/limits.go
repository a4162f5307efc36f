package provider

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/runner/limiter"
)

// maxWait is the longest wait that a header may ask for. A longer one in a message means
// a daily quota.
const maxWait = time.Hour

// retryAfter parses retry-after-ms, then Retry-After in seconds or as a date. A date is
// compared with the server's Date header, so that clock differences do not matter.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return bounded(ms/1e3, maxWait)
	}
	value := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		return bounded(s, maxWait)
	}
	at, err := http.ParseTime(value)
	now, errNow := http.ParseTime(h.Get("Date"))
	if err != nil || errNow != nil {
		return 0
	}
	return bounded(at.Sub(now).Seconds(), maxWait)
}

// bounded converts seconds to a duration between 0 and most; NaN to 0.
func bounded(seconds float64, most time.Duration) time.Duration {
	if !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, most.Seconds()) * float64(time.Second))
}

// waitText is how messages ask to wait: "Please try again in 6m0s.", "Please retry
// in 10h17m34.07s."
var waitText = lazyregexp.MustCompile(`(?i)\b(?:try again|retry) in ((?:\d+(?:\.\d+)?(?:ms|h|m|s))+)`)

func waitIn(message string) time.Duration {
	found := waitText.FindStringSubmatch(message)
	if found == nil {
		return 0
	}
	d, err := time.ParseDuration(found[1])
	if err != nil {
		return 0
	}
	return d
}

// windowOf parses the limits in headers: those of OpenAI, which many compatible servers
// send, and those of Anthropic. Gemini and Ollama send none.
func windowOf(h http.Header) limiter.Window {
	quota := func(name string) limiter.Quota {
		q := quotaOf(h, "X-Ratelimit-Limit-"+name, "X-Ratelimit-Remaining-"+name, "X-Ratelimit-Reset-"+name)
		if q.Known {
			return q
		}
		prefix := "Anthropic-Ratelimit-" + name
		return quotaOf(h, prefix+"-Limit", prefix+"-Remaining", prefix+"-Reset")
	}
	w := limiter.Window{Requests: quota("Requests"), Tokens: quota("Tokens")}
	if !w.Tokens.Known {
		w.Tokens = quota("Input-Tokens")
	}
	return w
}

func quotaOf(h http.Header, limit, remaining, reset string) limiter.Quota {
	left, err := strconv.ParseInt(h.Get(remaining), 10, 64)
	if err != nil || left < 0 {
		return limiter.Quota{}
	}
	q := limiter.Quota{Remaining: left, Reset: resetIn(h.Get(reset), h.Get("Date")), Known: true}
	if most, err := strconv.ParseInt(h.Get(limit), 10, 64); err == nil {
		q.Limit = max(most, left)
	}
	return q
}

// resetIn parses the time until a limit resets: a duration ("6m0s", "120ms"), seconds,
// or an RFC 3339 time, compared with the server's Date header. It is 0 if malformed,
// and at most a day.
func resetIn(value, date string) time.Duration {
	const day = 24 * time.Hour
	value = strings.TrimSpace(value)
	if d, err := time.ParseDuration(value); err == nil {
		return min(max(0, d), day)
	}
	if s, err := strconv.ParseFloat(value, 64); err == nil && !math.IsInf(s, 0) {
		return bounded(s, day)
	}
	at, err := time.Parse(time.RFC3339, value)
	now, errNow := http.ParseTime(date)
	if err != nil || errNow != nil {
		return 0
	}
	return bounded(at.Sub(now).Seconds(), day)
}
