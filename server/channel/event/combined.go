package event

import (
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// combined reads access logs, each line a request:
//
//	203.0.113.7 - - [20/Nov/2026:23:59:58 +0000] "GET /docs HTTP/1.1" 200 5120 "https://chatgpt.com/" "GPTBot/1.3"
//
// A virtual host may precede the address, or follow the rest in quotes, and so may
// fields of the form name=value: host, accept, type, rt (seconds), signature,
// signature_input, signature_agent. A line that begins with a brace is JSON, of
// nginx.
func (r *reader) combined() *UnreadableError {
	r.lines(func(s *scanner) {
		if s.peek() == '{' {
			r.logLine(s, r.nginx)
			return
		}
		line := string(s.b[s.i:])
		if len(line) > r.lim.Event {
			r.refuse(r.index, "", &fault{TooLarge, "", "the line is above the limit of " + strconv.Itoa(r.lim.Event) + " bytes"})
			return
		}
		r.draft = draft{typ: string(Touch), native: true, source: "log"}
		if !r.draft.clf(strings.TrimRight(line, "\r ")) {
			r.refuse(r.index, "", &fault{UnreadableLine, "", "the line is not of the combined log format"})
			return
		}
		r.takeLog(true)
	})
	return nil
}

// clf reads a line in the common or the combined log format.
func (d *draft) clf(line string) bool {
	head, rest, ok := strings.Cut(line, " [")
	stamp, rest, closed := strings.Cut(rest, "] ")
	if !ok || !closed {
		return false
	}
	names := strings.Fields(head)
	if len(names) > 1 && !isIP(names[0]) && isIP(names[1]) {
		d.host, names = names[0], names[1:]
	}
	if len(names) == 0 {
		return false
	}
	d.ip = names[0]
	d.logged(stamp)
	request, rest, ok := field(rest)
	if !ok {
		return false
	}
	d.request(request)
	for _, to := range []*string{&d.status, &d.bytes, &d.referrer, &d.userAgent} {
		if rest == "" {
			break
		}
		if *to, rest, ok = field(rest); !ok {
			return false
		}
		if *to == "-" {
			*to = ""
		}
	}
	for rest != "" {
		var name, value string
		name, value, rest = pair(rest)
		if name == "" && d.host == "" && isDomain(value) {
			name = "host"
		}
		d.logField(name, value)
	}
	return true
}

// isDomain reports whether s is a domain name of two labels or more. Addresses,
// times and ratios, which such logs hold too, are not.
func isDomain(s string) bool {
	for i := range len(s) {
		if !alnum(s[i]) && s[i] != '-' && s[i] != '.' {
			return false
		}
	}
	dot := strings.LastIndexByte(s, '.')
	return dot > 0 && dot+2 < len(s) && s[dot+1] > '9'
}

// isIP reports whether s is an IP address.
func isIP(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

// request reads a request line. A malformed one, such as the bytes of TLS, leaves
// the draft without a URL.
func (d *draft) request(line string) {
	method, target, ok := strings.Cut(line, " ")
	if !ok {
		return
	}
	if end := strings.LastIndex(target, " HTTP/"); end >= 0 {
		target = target[:end]
	}
	d.method, d.url = method, target
}

// field reads a field of a log line, in quotes or not, and the space after it.
func field(s string) (value, rest string, ok bool) {
	if s == "" || s[0] != '"' {
		value, rest, _ = strings.Cut(s, " ")
		return value, rest, true
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return unescape(s[1:i]), strings.TrimPrefix(s[i+1:], " "), true
		}
	}
	return "", "", false
}

// pair reads name=value, or a field that has no name.
func pair(s string) (name, value, rest string) {
	if i := strings.IndexAny(s, "= \""); i > 0 && s[i] == '=' {
		name, s = s[:i], s[i+1:]
	}
	value, rest, ok := field(s)
	if !ok {
		return "", "", ""
	}
	return name, value, rest
}

// unescape decodes the escapes of Apache and nginx for quotes and control characters.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out.WriteByte(s[i])
			continue
		}
		i++
		if s[i] == 'x' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				out.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		switch s[i] {
		case 'n', 'r', 't', 'b', 'v':
			out.WriteByte(' ')
		default:
			out.WriteByte(s[i])
		}
	}
	return out.String()
}

// nginx reads a line of a log_format with escape=json. Fields have the names of
// nginx's variables, or those of our events.
func (r *reader) nginx(s *scanner, d *draft) bool {
	d.source = "log"
	eachField(s, func(name, text string) {
		if text != "-" {
			d.logField(name, text)
		}
	})
	if d.at.IsZero() && d.ts == "" {
		d.ts = "?"
	}
	return true
}

// logField takes a named field of a log line. Unknown names are many, and not
// worth a warning.
func (d *draft) logField(name, text string) {
	switch name {
	case "time_iso8601", "time_local", "time", "ts", "timestamp", "msec":
		d.ts = ""
		d.logged(text)
	case "remote_addr", "ip", "client_ip":
		d.ip = text
	case "host", "http_host", "server_name", "vhost":
		d.host = text
	case "request":
		d.request(text)
	case "request_method", "method":
		d.method = text
	case "request_uri", "uri", "url", "path":
		d.url = text
	case "status":
		d.status = text
	case "body_bytes_sent", "bytes_sent", "bytes":
		d.bytes = text
	case "http_referer", "referer", "referrer":
		d.referrer = text
	case "http_user_agent", "user_agent", "userAgent", "ua":
		d.userAgent = text
	case "http_accept", "accept":
		d.accept = text
	case "sent_http_content_type", "content_type", "contentType", "type":
		d.contentType = text
	case "request_time", "rt", "duration":
		if t, err := strconv.ParseFloat(text, 64); err == nil && t >= 0 && t < 1e6 {
			d.took = time.Duration(t * float64(time.Second))
		}
	case "request_id", "id":
		d.id = text
	case "http_signature", "signature":
		d.signature = text
	case "http_signature_input", "signature_input", "signatureInput":
		d.signatureInput = text
	case "http_signature_agent", "signature_agent", "signatureAgent":
		d.signatureAgent = text
	}
}
