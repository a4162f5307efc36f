package stream

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/inert"
)

// A trouble is the most recent error, for a program that ends without reporting one.
type trouble struct {
	reported bool // by an error event
	pending  bool // since the model's last response
	status   int
	message  string
	until    time.Time
	lines    []string // the end of standard error
	bytes    int
}

// clear is called when the model acts again.
func (t *trouble) clear() { t.pending, t.reported, t.status, t.message = false, false, 0, "" }

func (t *trouble) set(status int, message string) {
	t.pending, t.status, t.message = true, status, inert.Truncate(message, maxMessage)
}

// stderr stores the last lines of standard error.
func (t *trouble) stderr(line []byte) {
	text := strings.TrimSpace(strings.ToValidUTF8(inert.Truncate(string(line[:min(len(line), maxMessage)]), maxMessage/2), ""))
	if text == "" {
		return
	}
	t.lines = append(t.lines, text)
	for t.bytes += len(text); t.bytes > 2*maxMessage; t.lines = t.lines[1:] {
		t.bytes -= len(t.lines[0])
	}
}

// gist returns the most informative line of standard error: the first with an error, or
// else the last.
func (t *trouble) gist() string {
	for _, l := range t.lines {
		if strings.Contains(strings.ToLower(l), "error") {
			return l
		}
	}
	if len(t.lines) == 0 {
		return ""
	}
	return t.lines[len(t.lines)-1]
}

// retry records a retry by the CLI.
func (r *recorder) retry(t Retry) {
	t.Message = inert.Truncate(t.Message, maxMessage)
	t.AfterMS = min(max(t.AfterMS, 0), int64(366*24*time.Hour/time.Millisecond))
	if t.Status == 0 {
		t.Status = statusIn(t.Message)
	}
	r.trouble.set(t.Status, t.Message)
	if t.Until.After(r.trouble.until) {
		r.trouble.until = t.Until
	}
	r.event(Event{Kind: KindRetry, Text: t.Message, Retry: &t})
}

// wrong records an error, and keeps it as the reason if the program ends now.
func (r *recorder) wrong(status int, message string) {
	r.trouble.set(status, message)
	r.trouble.reported = true
	r.event(Event{Kind: KindError, Text: inert.Truncate(message, maxMessage)})
}

// noResult returns the failure of a program that ended without its result.
func (r *recorder) noResult(exit int) *Failure {
	if r.trouble.pending {
		if f := failure(r.trouble.status, r.trouble.message); f != nil {
			return f
		}
	}
	// Output of its tools may look like a provider's error, so standard error counts
	// only if the model has not responded.
	if !r.out.Answered {
		if f := failure(0, strings.Join(r.trouble.lines, "\n")); f != nil {
			f.Message = inert.Truncate(cmp.Or(r.trouble.gist(), f.Message), maxMessage)
			return f
		}
	}
	how := fmt.Sprintf("ended with status %d", exit)
	if exit < 0 {
		how = "was killed"
	}
	message := "the program " + how + " before it reported a result"
	if why := cmp.Or(r.trouble.message, r.trouble.gist()); why != "" {
		message += ": " + why
	}
	return crashed(message)
}
