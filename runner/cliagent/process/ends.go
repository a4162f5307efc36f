package process

import "slices"

// An ends stores the first head and the last tail bytes of a stream.
type ends struct {
	head, tail  int
	first, last []byte
	oldest      int // where last begins, once it is full
	total       int64
}

func (e *ends) write(p []byte) {
	e.total += int64(len(p))
	if room := e.head - len(e.first); room > 0 {
		n := min(room, len(p))
		e.first, p = append(e.first, p[:n]...), p[n:]
	}
	if len(p) > e.tail {
		p = p[len(p)-e.tail:]
	}
	if room := e.tail - len(e.last); room > 0 {
		n := min(room, len(p))
		e.last, p = append(e.last, p[:n]...), p[n:]
	}
	for len(p) > 0 {
		n := copy(e.last[e.oldest:], p)
		e.oldest, p = (e.oldest+n)%e.tail, p[n:]
	}
}

// bytes returns the kept bytes, and position and size of the gap.
func (e *ends) bytes() (data []byte, at, cut int64) {
	data = slices.Concat(e.first, e.last[e.oldest:], e.last[:e.oldest])
	if cut = e.total - int64(len(data)); cut > 0 {
		at = int64(len(e.first))
	}
	return data, at, cut
}
