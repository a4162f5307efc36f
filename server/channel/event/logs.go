package event

// jsonLog returns a parser of JSON log entries, as an array or one per line. The
// function entry fills a draft and reports whether the entry is a request.
func (r *reader) jsonLog(entry func(*scanner, *draft) bool) func() *UnreadableError {
	return func() *UnreadableError {
		s := &scanner{b: r.b, texts: &r.texts}
		if s.peek() != '[' {
			r.lines(func(s *scanner) { r.logLine(s, entry) })
			return nil
		}
		s.open('[')
		for s.more(']') && r.room() {
			keep := r.logEntry(s, entry)
			if s.err == nil {
				r.takeLog(keep)
			}
			r.index++
		}
		if !r.tooMany {
			s.end("something follows the array")
		}
		return s.err
	}
}

// logLine reads an entry that must fill its line.
func (r *reader) logLine(s *scanner, entry func(*scanner, *draft) bool) {
	keep := r.logEntry(s, entry)
	if s.end("something follows the JSON value"); s.err != nil {
		r.refuse(r.index, "", unreadable(s.err))
		return
	}
	r.takeLog(keep)
}

func (r *reader) logEntry(s *scanner, entry func(*scanner, *draft) bool) bool {
	r.draft = draft{typ: string(Touch), native: true}
	if s.peek() != '{' {
		s.skip()
		return false
	}
	return entry(s, &r.draft)
}

// takeLog takes the draft as a touch, if it is the request of a page.
func (r *reader) takeLog(keep bool) {
	d := &r.draft
	if !keep || d.url == "" || !page(d.method, d.url) {
		r.batch.Skipped++
		return
	}
	d.mistyped = "" // log senders cannot see warnings
	if !validID(d.id) {
		d.id = ""
	}
	r.take(d)
}

// logged sets the time of a log line.
func (d *draft) logged(text string) {
	var ok bool
	if d.at, ok = logTime(text); !ok {
		d.ts = "?" // is refused
	}
}

// eachField reads an object whose fields are scalars, as logs are. Others are
// read past.
func eachField(s *scanner, field func(name, text string)) {
	s.open('{')
	for s.more('}') {
		name := string(s.name())
		if text, ok := s.scalar(); ok {
			field(name, text)
		}
	}
}
