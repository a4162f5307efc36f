package runner

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

const (
	// quickText is the longest answer that is extracted before it is stored if no other
	// waits: that takes milliseconds.
	quickText = 16 << 10
	// defaultWaiting limits the bytes of answers that wait for extraction.
	defaultWaiting = 64 << 20
	// waitingLook is how soon a run looks again whether it may ask.
	waitingLook = 100 * time.Millisecond
)

// An Extraction limits the machine's load by extraction. All runs of a process share
// one.
type Extraction struct {
	slots   chan struct{}
	most    int64
	waiting atomic.Int64 // bytes
}

// NewExtraction returns an Extraction that reads so many answers at a time. While
// answers of more than maxWaiting bytes wait, no run asks further; 0 means 64 MiB.
func NewExtraction(slots int, maxWaiting int64) *Extraction {
	return &Extraction{slots: make(chan struct{}, max(1, slots)), most: cmp.Or(maxWaiting, defaultWaiting)}
}

// full reports whether too many bytes wait for new attempts to start.
func (e *Extraction) full() bool { return e.waiting.Load() > e.most }

// Take waits for a slot, and returns the function that frees it.
func (e *Extraction) Take(ctx context.Context) (give func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case e.slots <- struct{}{}:
		return e.give, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// try acquires a slot if one is free.
func (e *Extraction) try() (give func(), ok bool) {
	select {
	case e.slots <- struct{}{}:
		return e.give, true
	default:
		return nil, false
	}
}

func (e *Extraction) give() { <-e.slots }

// toRead is the number of bytes of a reply to extract: 0 if it has its result.
func toRead(r *agent.Reply) int {
	if r.Result != nil {
		return 0
	}
	return answerSize(&r.Transcript)
}

// answerSize is about how many bytes of an answer are read.
func answerSize(t *transcript.Transcript) int {
	n := len(t.FinalText) + len(t.Structured)
	for _, c := range t.Commands {
		n += len(c.Cmd)
	}
	for _, f := range t.Diff {
		for _, line := range f.Added {
			n += len(line) + 1
		}
	}
	return n
}

// extract extracts the pick of an answer without a result. A long or queued answer is
// stored first: it was paid for, and a killed run must not repeat the attempt.
func (s *scheduler) extract(ctx context.Context, a *attempt, now time.Time, reply *agent.Reply) (*pick.Result, error) {
	if reply.Result != nil {
		return reply.Result, nil
	}
	if toRead(reply) <= quickText {
		if give, ok := s.extraction.try(); ok {
			defer give()
			return s.read(context.WithoutCancel(ctx), reply.Transcript)
		}
	}
	if err := s.hold(context.WithoutCancel(ctx), a, now, reply); err != nil {
		return nil, &journalError{err}
	}
	return s.readInTurn(ctx, reply.Transcript)
}

// readInTurn extracts an answer when there is a slot for it.
func (s *scheduler) readInTurn(ctx context.Context, t transcript.Transcript) (*pick.Result, error) {
	give, err := s.extraction.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer give()
	return s.read(ctx, t)
}

func (s *scheduler) read(ctx context.Context, t transcript.Transcript) (result *pick.Result, err error) {
	defer caught(&err)
	extracted, err := s.Extractor.ExtractContext(ctx, t)
	return &extracted, err
}

// hold stores an answer without its result, which follows in a separate record.
func (s *scheduler) hold(ctx context.Context, a *attempt, now time.Time, reply *agent.Reply) error {
	s.date(a, now, reply)
	r := journal.Record{Kind: journal.KindAnswer, Trial: a.Trial, At: reply.At, Attempt: a.attempts, Answer: &reply.Answer, AtMostUSD: a.atMost(reply.CostUSD)}
	if len(reply.Raw) > 0 {
		ref, err := s.Journal.Put(ctx, reply.Raw)
		if err != nil {
			return err
		}
		r.Raw, a.raw = &ref, &ref
		reply.Raw = nil // it is on disk
	}
	a.held = true
	return s.Journal.Append(ctx, r)
}

// resumeAnswers extracts the stored, unread answers of earlier starts, a few at a time
// to limit memory.
func (s *scheduler) resumeAnswers(ctx context.Context) {
	for len(s.answered) > 0 && s.storing < 2*cap(s.extraction.slots) && ctx.Err() == nil {
		p := s.answered[0]
		s.answered = s.answered[1:]
		of := s.agents[p.Agent]
		of.money.reserve(0)
		s.money.reserve(0)
		s.storing++
		go s.resume(ctx, &attempt{queued: p.queued, agent: of, lane: of.lane, answer: &p.at, held: true, began: s.Now()})
	}
}

// A stored is a trial with an unread answer in the journal.
type stored struct {
	*queued
	at journal.Offset
}

// resume extracts an answer that an earlier start stored and did not extract.
func (s *scheduler) resume(ctx context.Context, a *attempt) {
	var r response
	stored, err := s.Journal.ReadAt(*a.answer)
	switch {
	case err != nil:
		r.err = &journalError{err}
	case ctx.Err() != nil:
		r.err = ctx.Err()
	default:
		a.attempts, a.raw, r.Answer, r.At = stored.Attempt, stored.Raw, *stored.Answer, stored.At
		r.result, r.err = s.readInTurn(ctx, r.Transcript)
	}
	r.at = s.Now()
	o := s.record(ctx, a, r)
	s.post(func() {
		s.storing--
		s.apply(o)
	})
}
