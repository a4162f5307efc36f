package event

import "time"

// A draft is an event as it was sent: texts, unchecked. Numbers are as they were
// written.
type draft struct {
	typ, id, ts                  string
	visitorToken, email, userRef string

	url, path, host, method, contentType string
	status, duration, bytes              string

	kind, value, currency, orderID, refundOf string

	tags
	agent, source, selfReport                 string
	userAgent, ip, accept                     string
	referrer, referrerHost                    string
	signature, signatureInput, signatureAgent string
	mcpMethod, mcpTool, mcpClient, mcpVersion string

	mistyped string // the first known field that has a value of the wrong type
	size     int    // bytes
	tooDeep  bool

	// Of log lines only.
	native bool
	at     time.Time     // instead of ts
	took   time.Duration // instead of duration
}

// eventField returns the target of an event's field, or nil. Signals are also accepted
// as fields of the event.
func (d *draft) eventField(name []byte) *string {
	switch string(name) {
	case "type":
		return &d.typ
	case "id":
		return &d.id
	case "ts":
		return &d.ts
	case "visitorToken":
		return &d.visitorToken
	case "email":
		return &d.email
	case "userRef":
		return &d.userRef
	case "url":
		return &d.url
	case "path":
		return &d.path
	case "host":
		return &d.host
	case "method":
		return &d.method
	case "status":
		return &d.status
	case "contentType":
		return &d.contentType
	case "durationMs":
		return &d.duration
	case "bytes":
		return &d.bytes
	case "kind":
		return &d.kind
	case "value":
		return &d.value
	case "currency":
		return &d.currency
	case "orderId":
		return &d.orderID
	case "refundOf":
		return &d.refundOf
	}
	return d.signal(name)
}

// signal returns where the value of a signal goes, or nil.
func (d *draft) signal(name []byte) *string {
	switch string(name) {
	case "agent":
		return &d.agent
	case "source":
		return &d.source
	case "selfReported", "selfReport":
		return &d.selfReport
	case "userAgent":
		return &d.userAgent
	case "ip":
		return &d.ip
	case "referrer":
		return &d.referrer
	case "referrerHost":
		return &d.referrerHost
	case "accept":
		return &d.accept
	case "signature":
		return &d.signature
	case "signatureInput":
		return &d.signatureInput
	case "signatureAgent":
		return &d.signatureAgent
	case "utmSource":
		return &d.utmSource
	case "utmMedium":
		return &d.utmMedium
	case "utmCampaign":
		return &d.utmCampaign
	}
	return d.tag(string(name))
}

// mcpField returns where the value of a field of signals.mcp goes, or nil.
func (d *draft) mcpField(name []byte) *string {
	switch string(name) {
	case "method":
		return &d.mcpMethod
	case "tool":
		return &d.mcpTool
	case "client":
		return &d.mcpClient
	case "clientVersion":
		return &d.mcpVersion
	}
	return nil
}

// member reads the value of one field of an event.
func (r *reader) member(s *scanner, d *draft, name []byte) {
	if to := d.eventField(name); to != nil {
		d.read(s, to, name)
		return
	}
	switch string(name) {
	case "signals":
		r.nested(s, d, "signals", (*draft).signal)
	case "mcp":
		r.mcp(s, d)
	default:
		r.unknown("", name)
		s.skip()
	}
}

// read takes a scalar.
func (d *draft) read(s *scanner, to *string, name []byte) {
	text, ok := s.scalar()
	if !ok && d.mistyped == "" {
		d.mistyped = string(name)
	}
	*to = text
}

// nested reads an object whose fields are scalars, but for the mcp of signals.
func (r *reader) nested(s *scanner, d *draft, of string, target func(*draft, []byte) *string) {
	if s.peek() != '{' {
		d.read(s, new(string), []byte(of))
		return
	}
	s.open('{')
	for s.more('}') {
		name := s.name()
		switch to := target(d, name); {
		case to != nil:
			d.read(s, to, name)
		case of == "signals" && string(name) == "mcp":
			r.mcp(s, d)
		default:
			r.unknown(of+".", name)
			s.skip()
		}
	}
}

func (r *reader) mcp(s *scanner, d *draft) {
	r.nested(s, d, "mcp", (*draft).mcpField)
}

// unknown notes a field that is not known. A name that may hold more than a name
// is not repeated.
func (r *reader) unknown(of string, name []byte) {
	for _, c := range name {
		if !alnum(c) && c != '_' && c != '-' && c != '.' && c != '$' {
			name = nil
			break
		}
	}
	if len(name) == 0 || len(name) > maxName {
		name = []byte("(other)")
	}
	r.notes.add(WarnUnknownFields, of+string(name))
}
