package event

import (
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// take checks an event and puts it where it belongs.
func (r *reader) take(d *draft) {
	id := d.id
	if !validID(id) {
		id = ""
	}
	if r.batch.Inputs == nil { // events of a body are much alike
		r.batch.Inputs = make([]Input, 0, min(1+(len(r.b)-1)/max(d.size, 100), r.lim.Events))
	}
	n := len(r.batch.Inputs)
	r.batch.Inputs = append(r.batch.Inputs, Input{ID: d.id, Type: Type(d.typ), ReceivedAt: r.o.ReceivedAt, At: d.at, Index: r.index})
	in := &r.batch.Inputs[n]
	if bad := r.check(d, in); bad != nil {
		*in = Input{}
		r.batch.Inputs = r.batch.Inputs[:n]
		r.refuse(r.index, id, bad)
		return
	}
	if in.ID == "" && r.o.IdempotencyKey != "" {
		in.ID = r.idPrefix + strconv.Itoa(r.index)
	}
}

func (r *reader) refuse(index int, id string, f *fault) {
	r.batch.Refusals = append(r.batch.Refusals, Refusal{Index: index, ID: id, Code: f.code, Field: f.field, Message: f.message})
}

// check holds an event to the rules, but for that of its age.
func (r *reader) check(d *draft, in *Input) *fault {
	if bad := r.shape(d); bad != nil {
		return bad
	}
	if bad := r.allowed(in.Type, d.native); bad != nil {
		return bad
	}
	if d.id != "" && !validID(d.id) {
		return &fault{InvalidID, "id", "id must be 1 to 128 characters of A-Z a-z 0-9 _ . : # -"}
	}
	if d.ts != "" {
		var ok bool
		if in.At, ok = parseTime(d.ts); !ok {
			return &fault{InvalidTS, "ts", "ts must be RFC 3339 (2026-11-20T23:59:58Z) or integer milliseconds since 1970; leave it out for the time of arrival"}
		}
	}
	if bad := r.subject(d, in); bad != nil {
		return bad
	}
	if bad := r.where(d, in); bad != nil {
		return bad
	}
	r.signals(d, in)
	switch in.Type {
	case Touch:
		if d.url == "" && d.path == "" && !hasSignal(d) {
			return &fault{MissingSubject, "url", "a touch needs url or path, or a signal: via, utmSource, vt, referrer, agent or mcp"}
		}
	case Identify:
		if in.VisitorToken == "" {
			return &fault{MissingIdentity, "visitorToken", "an identify needs visitorToken and one of email and userRef"}
		}
		if in.Identity == "" {
			return &fault{MissingIdentity, "email", "an identify needs visitorToken and one of email and userRef"}
		}
	case Convert:
		if in.VisitorToken == "" && in.Identity == "" {
			return &fault{MissingIdentity, "email", "a convert needs one of email, userRef and visitorToken"}
		}
		return r.conversion(d, in)
	}
	if d.kind != "" || d.value != "" || d.currency != "" || d.orderID != "" || d.refundOf != "" {
		r.ignored(d)
	}
	return nil
}

// shape checks the type of an event before its fields.
func (r *reader) shape(d *draft) *fault {
	switch {
	case d.size > r.lim.Event && !d.native:
		return &fault{TooLarge, "", "the event is above the limit of " + strconv.Itoa(r.lim.Event) + " bytes: leave out what is not documented"}
	case d.tooDeep:
		return &fault{TooDeep, "", "the event nests deeper than " + strconv.Itoa(r.lim.Levels) + " levels"}
	case d.mistyped != "":
		return &fault{InvalidField, d.mistyped, d.mistyped + " has a value of the wrong JSON type: see the documentation of /api/collect"}
	case d.typ == "":
		return &fault{MissingType, "type", "type is missing: touch, identify or convert"}
	}
	return nil
}

// allowed checks the type, and whether the key may send it.
func (r *reader) allowed(t Type, native bool) *fault {
	switch t {
	case Touch:
		if native && r.o.Key == KindPublishable {
			return &fault{NotAllowed, "", "logs need a log key or a secret key"}
		}
		return nil
	case Identify:
		if r.o.Key == KindLog {
			return &fault{NotAllowed, "type", "a log key sends touches only: use a secret key, or a publishable one"}
		}
		return nil
	case Convert:
		if r.o.Key != KindSecret {
			return &fault{NotAllowed, "type", "a convert needs a secret key: send it from your server"}
		}
		return nil
	}
	return &fault{UnknownType, "type", "type must be touch, identify or convert"}
}

// where checks the place that an event speaks of, and takes its tags.
func (r *reader) where(d *draft, in *Input) *fault {
	field, raw := "url", d.url
	if raw == "" {
		field, raw = "path", d.path
	}
	if raw != "" {
		p, scheme, ok := split(raw)
		if !ok || scheme != "" && scheme != "http" && scheme != "https" || field == "path" && scheme != "" {
			return &fault{InvalidURL, field, "url must begin with https://, http:// or /, and path with /"}
		}
		if len(p.host)+len(p.path) > r.lim.URL {
			return &fault{TooLarge, field, field + " is above the limit of " + strconv.Itoa(r.lim.URL) + " bytes, its query not counted"}
		}
		in.Host, in.Path = p.host, clean(p.path, r.lim.URL)
		d.fill(p.query)
	}
	if host := d.host; host != "" && in.Host == "" {
		var ok bool
		if in.Host, ok = hostOf(tidy(host)); !ok && !d.native {
			return &fault{InvalidURL, "host", "host must be a host name, without scheme and path"}
		}
	}
	if in.Host == "" && d.native {
		in.Host = r.host
	}
	return r.status(d, in)
}

// status checks the outcome. Collectors that run before the answer send 0.
func (r *reader) status(d *draft, in *Input) *fault {
	if d.status == "" {
		return nil
	}
	n, err := strconv.Atoi(d.status)
	switch {
	case err == nil && n >= 100 && n <= 599:
		in.Status = n
	case err == nil && (n == 0 || n == -1) || d.native:
	default:
		return &fault{InvalidStatus, "status", "status must be 100 to 599; leave it out when it is not known"}
	}
	return nil
}

// signals reads the fields that identify the visitor. Visitors choose them, so long
// values are truncated and never refused.
func (r *reader) signals(d *draft, in *Input) {
	in.Via, in.UTMSource = clean(d.via, maxTag), clean(d.utmSource, maxTag)
	in.UTMMedium, in.UTMCampaign, in.Ref = clean(d.utmMedium, maxTag), clean(d.utmCampaign, maxTag), clean(d.ref, maxTag)
	in.VT = clean(d.vt, maxTag)
	in.Claimed, in.Source, in.SelfReport = clean(d.agent, maxTag), clean(d.source, maxTag), clean(d.selfReport, maxReport)
	in.Method = methodOf(d.method)
	contentType, _, _ := strings.Cut(d.contentType, ";")
	in.ContentType = strings.ToLower(clean(contentType, maxTag))
	in.Accept = clean(d.accept, r.lim.Accept)
	in.ReferrerHost, in.ReferrerPath = referrerOf(d.referrer)
	if in.ReferrerHost == "" {
		in.ReferrerHost, _ = referrerOf(d.referrerHost)
	}
	in.MCPMethod, in.MCPTool = clean(d.mcpMethod, maxTag), clean(d.mcpTool, maxTag)
	in.MCPClient, in.MCPVersion = clean(d.mcpClient, maxTag), clean(d.mcpVersion, maxTag)
	in.Duration, in.Bytes = d.took, 0
	if ms, ok := r.measure(d.duration, "durationMs", d.native); ok {
		in.Duration = time.Duration(ms * float64(time.Millisecond))
	}
	if n, ok := r.measure(d.bytes, "bytes", d.native); ok {
		in.Bytes = int64(n)
	}
	if r.o.Key == KindPublishable { // anybody who reads the page's source can send these
		in.UserAgent, in.IP = cut(tidy(r.o.ClientUserAgent), r.lim.UserAgent), r.o.ClientIP.Unmap().WithZone("")
		return
	}
	in.UserAgent = cut(tidy(d.userAgent), r.lim.UserAgent)
	in.IP = r.address(d)
	in.Signature = header(d.signature)
	in.SignatureInput, in.SignatureAgent = header(d.signatureInput), header(d.signatureAgent)
}

// header returns a header that is of use only whole.
func header(s string) string {
	if s = tidy(s); len(s) > maxSignature {
		return ""
	}
	return s
}

// measure reads a number that is not negative. A malformed one is left out.
func (r *reader) measure(s, field string, native bool) (float64, bool) {
	if s == "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(n >= 0 && n <= maxMeasure) {
		if !native {
			r.notes.add(WarnIgnoredFields, field)
		}
		return 0, false
	}
	return n, true
}

// address reads an IP address, with or without a port.
func (r *reader) address(d *draft) netip.Addr {
	text := strings.TrimSpace(d.ip)
	if text == "" {
		return netip.Addr{}
	}
	ip, err := netip.ParseAddr(text)
	if err != nil {
		var port netip.AddrPort
		if port, err = netip.ParseAddrPort(text); err != nil && !d.native {
			r.notes.add(WarnInvalidIP, "ip")
		}
		ip = port.Addr()
	}
	return ip.Unmap().WithZone("")
}

// methodOf returns a method in upper case, or "" if it is invalid.
func methodOf(s string) string {
	switch s {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return s
	}
	if len(s) > 16 {
		return ""
	}
	for i := range len(s) {
		if !alnum(s[i]) && s[i] != '-' && s[i] != '_' {
			return ""
		}
	}
	return strings.ToUpper(s)
}

func hasSignal(d *draft) bool {
	return d.via != "" || d.utmSource != "" || d.vt != "" || d.referrer != "" || d.referrerHost != "" || d.agent != "" ||
		d.mcpMethod != "" || d.mcpTool != "" || d.mcpClient != ""
}

// ignored notes the fields of a conversion in an event that is not a conversion.
func (r *reader) ignored(d *draft) {
	for _, f := range [][2]string{{"kind", d.kind}, {"value", d.value}, {"currency", d.currency}, {"orderId", d.orderID}, {"refundOf", d.refundOf}} {
		if f[1] != "" {
			r.notes.add(WarnIgnoredFields, f[0])
		}
	}
}
