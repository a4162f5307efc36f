package cliagent

import (
	"context"
	"fmt"
	"time"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/cliagent/process"
	"github.com/firstpick/firstpick/runner/cliagent/stream"
	"github.com/firstpick/firstpick/runner/limiter"
	"github.com/firstpick/firstpick/runner/transcript"
)

// maxWait is the longest wait for the provider that a program may spend in its slot; the
// runner handles longer ones. Quotas per minute need a little more than a minute.
const maxWait = 90 * time.Second

// A watch monitors a running program: it reports limits to the limiter, and ends a
// program that cannot answer or costs too much. Its methods are not safe for concurrent
// use.
type watch struct {
	p      *program
	parser stream.Parser
	signal func(limiter.Signal)
	end    context.CancelFunc
	began  time.Time
	now    time.Time // of the current line

	fatal  *agent.InfraError // the reason for ending the program
	costly bool              // ended because of its cost
	usage  prices.Usage
	usd    float64
	// refused is the last rejection by the provider, until the agent acts again.
	refused *stream.Retry
}

func (p *program) watch(t agent.Task, end context.CancelFunc) (*watch, error) {
	began := p.deps.Clock.Now()
	w := &watch{p: p, signal: t.Signal, end: end, began: began, now: began}
	if w.signal == nil {
		w.signal = func(limiter.Signal) {}
	}
	var err error
	w.parser, err = NewParser(p.format, w.event)
	return w, err
}

func (w *watch) stdout(at time.Duration, off int64, line []byte) {
	w.now = w.began.Add(at)
	// In text a key may span lines: it is redacted as a whole at the end.
	if !w.p.text {
		line = w.p.redact.Bytes(line)
	}
	w.parser.Line(at, off, line)
}

func (w *watch) stderr(at time.Duration, _ int64, line []byte) {
	w.now = w.began.Add(at)
	w.parser.Stderr(at, w.p.redact.Bytes(line))
}

func (w *watch) event(e stream.Event) {
	switch e.Kind {
	case stream.KindRetry:
		w.retry(e.Retry)
	case stream.KindText, stream.KindReasoning, stream.KindToolCall, stream.KindToolResult, stream.KindFileChange, stream.KindWeb:
		w.refused = nil
	case stream.KindUsage:
		w.spend(e)
	default: // the outcome has the rest
	}
}

// Messages of errors without a status: waiting does not help, and waiting helps.
var (
	noMoney = lazyregexp.MustCompile(`(?i)insufficient[_ ]quota|exceeded your current quota|credit balance|billing|spend(?:ing)?[_ ]limit|payment required`)
	tooFast = lazyregexp.MustCompile(`(?i)quota|rate[_ ]?limit|too many requests|exhausted`)
	// Codex tries a web socket first, and works without it if a proxy rejects it.
	socket = lazyregexp.MustCompile(`\bwss?://`)
)

func (w *watch) retry(r *stream.Retry) {
	if r == nil {
		return
	}
	w.refused = r
	s := signalOf(r, w.now)
	if s.Verdict != limiter.Neutral {
		w.signal(s)
	}
	infra := &agent.InfraError{Err: fmt.Errorf("status %d: %s", r.Status, r.Message)}
	switch {
	// Providers also say "quota" of a rate limit; then they state a wait.
	case r.Status == 402, noMoney.MatchString(r.Message) && s.After == 0:
		infra.Reason, infra.Lane = agent.ReasonQuota, true
	case r.Status == 401, r.Status == 403 && !socket.MatchString(r.Message):
		infra.Reason, infra.Lane = agent.ReasonAuth, true
	case s.After > maxWait:
		infra.Reason, infra.Retry, infra.After = reasonOf(s), true, s.After
	default:
		return
	}
	w.stop(infra)
}

// signalOf converts a retry for the limiter.
func signalOf(r *stream.Retry, now time.Time) limiter.Signal {
	s := r.Signal(now)
	if r.Status == 0 && tooFast.MatchString(r.Message) {
		s.Verdict = limiter.Limited
	}
	return s
}

func reasonOf(s limiter.Signal) string {
	if s.Verdict == limiter.Limited {
		return agent.ReasonRateLimited
	}
	return agent.ReasonServer
}

// runs reports whether the watch has not ended the program.
func (w *watch) runs() bool { return w.fatal == nil && !w.costly }

// stop ends the program: it would only repeat the failure.
func (w *watch) stop(infra *agent.InfraError) {
	if w.runs() {
		w.fatal = infra
		w.end()
	}
}

// spend adds up the reported usage, and ends a program above the cost limit of the
// trial.
func (w *watch) spend(e stream.Event) {
	limit := w.p.CLI.TrialCostUSD
	if e.CostUSD != nil {
		w.usd += *e.CostUSD
	}
	if e.Usage != nil {
		w.usage = w.usage.Plus(*e.Usage)
	}
	usd := w.p.cost(stream.Outcome{Usage: &w.usage, CostUSD: &w.usd})
	if limit <= 0 || w.p.caps || usd == nil || *usd <= limit || w.parser.Ended() || !w.runs() {
		return
	}
	w.costly = true
	w.end()
}

// verdict returns nil for a finished program that answered, with the stop reason in the
// outcome; otherwise the failure.
func (w *watch) verdict(exit process.Exit, o *stream.Outcome) *agent.InfraError {
	switch {
	case w.fatal != nil:
		w.fatal.Billed = o.Answered
		return w.fatal
	case w.costly:
		o.Stop = transcript.StopCost
		return nil
	case o.Fail == nil && w.parser.Ended(): // however it ended then
		return nil
	case exit.Excess != "":
		return w.excess(exit, o)
	case exit.Why == process.Wall || exit.Why == process.Stall: // some report a failure when interrupted
		return w.late(exit, o)
	case o.Fail == nil:
		return nil
	case o.Fail.Reason == agent.ReasonCrashed && o.Answered:
		o.Stop = transcript.StopIncomplete // see unfinished
		return nil
	}
	infra := &agent.InfraError{
		Reason: o.Fail.Reason, Retry: o.Fail.Retry, Lane: o.Fail.Lane, After: o.Fail.After, Billed: o.Answered || unknown(o.Fail.Reason),
		Err: fmt.Errorf("%s, status %d", message(o.Fail), exit.Code),
	}
	if !o.Fail.Until.IsZero() {
		infra.After = max(infra.After, o.Fail.Until.Sub(w.now))
	}
	if w.refused != nil && o.Fail.Reason == agent.ReasonQuota {
		if s := signalOf(w.refused, w.now); s.Verdict == limiter.Limited && s.After > 0 { // it had to wait
			infra.Reason, infra.Retry, infra.Lane, infra.After = agent.ReasonRateLimited, true, false, max(infra.After, s.After)
		}
	}
	return infra
}

// unfinished classifies a program that ended before its result although its agent had
// acted. It returns nil if the changes of the work folder are its truncated answer.
// Without changes there is no answer, and the attempt is retried within the budget.
// Text output may be complete with any exit status.
func (w *watch) unfinished(exit process.Exit, o *stream.Outcome, changed bool) *agent.InfraError {
	if o.Stop != transcript.StopIncomplete || changed || w.p.format == FormatText && exit.Code > 0 {
		return nil
	}
	return &agent.InfraError{Reason: agent.ReasonCrashed, Retry: true, Billed: true, Err: fmt.Errorf("%s, status %d", message(o.Fail), exit.Code)}
}

// late classifies a program that exceeded the wall or stall time: its actions so far are
// its answer, unless it was waiting for the provider.
func (w *watch) late(exit process.Exit, o *stream.Outcome) *agent.InfraError {
	infra := &agent.InfraError{Retry: true, Billed: true}
	switch {
	case w.refused != nil:
		s := signalOf(w.refused, w.now)
		infra.Reason, infra.After = reasonOf(s), s.After
		infra.Err = fmt.Errorf("ended after %s while it waited for its provider: %s", exit.Wall.Round(time.Second), w.refused.Message)
	case o.Answered:
		o.Stop = transcript.StopTime
		return nil
	case exit.Why == process.Stall:
		infra.Reason, infra.Err = agent.ReasonStalled, fmt.Errorf("no output for %s", w.p.stall())
	default:
		infra.Reason, infra.Err = agent.ReasonTimeout, fmt.Errorf("no answer within %s", w.p.wall())
	}
	return infra
}

// excess classifies a program that exceeded a resource limit. A retry would exceed it
// again.
func (w *watch) excess(exit process.Exit, o *stream.Outcome) *agent.InfraError {
	if o.Answered {
		o.Stop = transcript.StopLimit
		return nil
	}
	return &agent.InfraError{Reason: agent.ReasonOverLimit, Billed: true, Err: fmt.Errorf("ended after %s: %s", exit.Wall.Round(time.Second/10), exit.Excess)}
}

// unknown reports whether a failure leaves open if the provider was called.
func unknown(reason string) bool {
	switch reason {
	case agent.ReasonCrashed, agent.ReasonMalformed, agent.ReasonTimeout, agent.ReasonNetwork:
		return true
	}
	return false
}

func message(f *stream.Failure) string {
	if f.Message == "" {
		return "the program ended without a result"
	}
	return f.Message
}
