package event

import (
	"bytes"
	"strconv"
)

// json reads an object with events, an array of events, or one event.
func (r *reader) json() *UnreadableError {
	s := &scanner{b: r.b, texts: &r.texts}
	switch s.peek() {
	case '{':
		r.envelope(s)
	case '[':
		r.list(s)
	default:
		s.fail("the body must be a JSON object or array")
	}
	if !r.tooMany {
		s.end("something follows the JSON value: for one object per line send application/x-ndjson")
	}
	return s.err
}

// envelope reads an object that holds events, or is one: which, is known at its
// end only.
func (r *reader) envelope(s *scanner) {
	d, start, events := draft{}, s.i, false
	s.open('{')
	for s.more('}') && !r.tooMany {
		switch name := s.name(); string(name) {
		case "events":
			r.startOver()
			r.events(s)
			events = true
		case "sentAt":
			r.readSentAt(s)
		case "dryRun":
			r.batch.DryRun = r.flag(s, "dryRun") || r.o.DryRun
		case "backfill":
			r.backfill = r.flag(s, "backfill") || r.o.Backfill
		case "key":
			r.batch.Key, _ = s.scalar()
		default:
			r.member(s, &d, name)
		}
	}
	if !events && s.err == nil {
		d.size, d.tooDeep = s.i-start, s.deepest > r.lim.Levels
		r.take(&d)
	}
}

// startOver forgets the events of an earlier member of the same name.
func (r *reader) startOver() {
	r.batch.Inputs, r.batch.Refusals, r.index = r.batch.Inputs[:0], r.batch.Refusals[:0], 0
}

// events reads the member of that name. One event need not be in an array.
func (r *reader) events(s *scanner) {
	switch s.peek() {
	case '[':
		r.list(s)
	case '{':
		r.put(s, r.element(s))
	default:
		s.fail("events must be an array")
	}
}

// list reads an array of events.
func (r *reader) list(s *scanner) {
	s.open('[')
	for s.more(']') && r.room() {
		r.put(s, r.element(s))
		r.index++
	}
}

// room reports whether another event may come.
func (r *reader) room() bool {
	r.tooMany = r.tooMany || r.index >= r.lim.Events
	return !r.tooMany
}

// element reads one event into the draft.
func (r *reader) element(s *scanner) *fault {
	d := &r.draft
	*d = draft{}
	if s.peek() != '{' {
		s.skip()
		return &fault{InvalidEvent, "", "an event must be a JSON object"}
	}
	start := s.i
	s.deepest = s.depth
	s.open('{')
	for s.more('}') {
		r.member(s, d, s.name())
	}
	d.size, d.tooDeep = s.i-start, s.deepest > r.lim.Levels
	return nil
}

// put adds the event that element read, or its refusal. After an error of the body it
// does nothing.
func (r *reader) put(s *scanner, bad *fault) {
	switch {
	case s.err != nil:
	case bad != nil:
		r.refuse(r.index, "", bad)
	default:
		r.take(&r.draft)
	}
}

// ndjson reads one event per line. A line that is broken costs that line only.
func (r *reader) ndjson() *UnreadableError {
	r.lines(func(s *scanner) {
		bad := r.element(s)
		if s.end("something follows the JSON value"); s.err != nil {
			r.refuse(r.index, "", unreadable(s.err))
			return
		}
		r.put(s, bad)
	})
	return nil
}

func unreadable(err *UnreadableError) *fault {
	return &fault{UnreadableLine, "", "the line is not JSON: at byte " + strconv.Itoa(err.Offset) + " of the body: " + err.Reason}
}

// lines calls each with every line that is not blank.
func (r *reader) lines(each func(*scanner)) {
	for start := 0; start < len(r.b); {
		end := len(r.b)
		if n := bytes.IndexByte(r.b[start:], '\n'); n >= 0 {
			end = start + n
		}
		s := scanner{b: r.b[:end], i: start, texts: &r.texts}
		if s.peek() != 0 || s.i < end {
			if !r.room() {
				return
			}
			each(&s)
			r.index++
		}
		start = end + 1
	}
}

func (r *reader) readSentAt(s *scanner) {
	text, ok := s.scalar()
	if text == "" && ok {
		return
	}
	if r.sentAt, ok = parseTime(text); !ok {
		r.notes.add(WarnSentAt, "sentAt")
	}
}

func (r *reader) flag(s *scanner, name string) bool {
	value, ok := s.flag()
	if !ok {
		r.notes.add(WarnIgnoredFields, name)
	}
	return value
}
