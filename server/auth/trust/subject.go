package trust

import "slices"

// subjects gathers the subjects that an event token names, each once.
type subjects struct {
	subs  []string
	fault *Refusal // the first thing that is wrong with one
}

// claims reads the claims sub and sub_id.
func (s *subjects) claims(iss string, t token) {
	if t.claims.has("sub") {
		sub, r := t.name("sub")
		s.add(sub, r)
	}
	s.member(iss, t.claims, "sub_id")
}

// member reads a subject identifier (RFC 9493). One of the format iss_sub must
// have the token's issuer; of a complex one only the user is read (OpenID Shared
// Signals Framework, 3.2). Other formats match no subject.
func (s *subjects) member(iss string, in object, name string) {
	if !in.has(name) {
		return
	}
	id, ok := in.object(name)
	if !ok {
		s.add("", refuse(reasonMalformed, name+" must be an object"))
		return
	}
	format, _ := id.text("format", maxName)
	if format == "complex" {
		if id, ok = id.object("user"); !ok {
			return
		}
		format, _ = id.text("format", maxName)
	}
	if format != "iss_sub" {
		return
	}
	if got, _ := id.text("iss", maxISS); got != iss {
		s.add("", refuse(reasonMalformed, name+" names another issuer"))
		return
	}
	sub, ok := id.text("sub", maxName)
	if !ok {
		s.add("", refuse(reasonMalformed, "sub in "+name+" must be a string of 1 to 255 bytes"))
		return
	}
	s.add(sub, nil)
}

func (s *subjects) add(sub string, fault *Refusal) {
	switch {
	case fault != nil && s.fault == nil:
		s.fault = fault
	case fault == nil && !slices.Contains(s.subs, sub):
		s.subs = append(s.subs, sub)
	}
}
