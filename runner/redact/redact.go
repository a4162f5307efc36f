// Package redact removes secrets and e-mail addresses from the output of agents before
// it is stored or shown: known values, keys recognised by their shape, and addresses.
//
// Valid JSON stays valid. A text without hits costs one pass and no copy.
package redact

import "bytes"

// leastSecret is the minimum length of a known secret: shorter values occur by chance.
const leastSecret = 8

// A Redactor removes secrets from texts. It is safe for concurrent use.
type Redactor struct {
	// seen is a set of hashes of the three bytes that a finding begins with; rules
	// has the findings by those bytes. Most positions of a text need only the set.
	seen  [1 << 10]uint64
	rules map[uint32][]rule
}

// A rule reports whether a finding begins at i, and its span. The span must not begin
// before from: that text is replaced already.
type rule func(text []byte, from, i int) (span, bool)

// A span is a part of a text to replace, with its kind.
type span struct {
	start, end int
	kind       string
}

// New returns a redactor of known secrets in all likely forms: verbatim, in JSON, in
// URLs and in base64, also inside longer base64 as in basic authentication. Values
// shorter than 8 bytes and numbers are ignored.
func New(secrets ...string) *Redactor {
	r := &Redactor{rules: map[uint32][]rule{}}
	for _, f := range forms(secrets) {
		r.add(f.text[:3], f.rule())
	}
	for _, s := range shapes() {
		for _, a := range s.anchors {
			r.add(a, s.rule)
		}
	}
	return r
}

// add appends a rule to those of the same anchor.
func (r *Redactor) add(anchor string, f rule) {
	k := key(anchor[0], anchor[1], anchor[2])
	r.rules[k] = append(r.rules[k], f)
	h := hash(k)
	r.seen[h>>6] |= 1 << (h & 63)
}

func key(a, b, c byte) uint32 { return uint32(a) | uint32(b)<<8 | uint32(c)<<16 }

func hash(k uint32) uint32 { return k * 0x9e3779b1 >> 16 }

// Text returns a text without secrets and addresses.
func (r *Redactor) Text(s string) string {
	in := []byte(s)
	if out := r.redacted(in); out != nil {
		return string(out)
	}
	return s
}

// Bytes returns a text without secrets and addresses: the same slice if there are no
// findings, otherwise a new one.
func (r *Redactor) Bytes(b []byte) []byte {
	if out := r.redacted(b); out != nil {
		return out
	}
	return b
}

// redacted returns nil without findings.
func (r *Redactor) redacted(text []byte) []byte {
	var out []byte
	from, at := 0, nextAt(text, 0)
	for i := 0; ; {
		if at >= 0 && at < i {
			at = nextAt(text, i)
		}
		s, ok := r.next(text, from, i, &at)
		if !ok {
			break
		}
		out = append(out, text[from:s.start]...)
		out = append(out, "[redacted:"...)
		out = append(out, s.kind...)
		out = append(out, ']')
		from, i = s.end, s.end
	}
	if out == nil {
		return nil
	}
	return append(out, text[from:]...)
}

// next finds the first span from i on; at is the position of the next @.
func (r *Redactor) next(text []byte, from, i int, at *int) (span, bool) {
	if len(text)-i < 3 {
		return span{}, false
	}
	k := key(0, text[i], text[i+1])
	for ; i+2 < len(text); i++ {
		k = k>>8 | uint32(text[i+2])<<16
		if i == *at {
			if s, ok := address(text, from, i); ok {
				return s, true
			}
			*at = nextAt(text, i+1)
		}
		if h := hash(k); r.seen[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		for _, f := range r.rules[k] {
			if s, ok := f(text, from, i); ok {
				return s, true
			}
		}
	}
	return span{}, false
}

// nextAt returns the position of the next @ from i on; -1 if there is no further one.
func nextAt(text []byte, i int) int {
	if n := bytes.IndexByte(text[i:], '@'); n >= 0 {
		return i + n
	}
	return -1
}
