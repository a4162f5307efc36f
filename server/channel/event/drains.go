package event

import "strings"

// vercel reads an entry of a Vercel log drain. Only entries of requests have proxy, not
// those of builds and of the code's output. It skips previews, which only the owner
// visits.
func (r *reader) vercel(s *scanner, d *draft) bool {
	d.source = string(FormatVercel)
	var host, stamp, preview string
	var request bool
	s.open('{')
	for s.more('}') {
		switch name := s.name(); string(name) {
		case "requestId":
			d.read(s, &d.id, name)
		case "host":
			d.read(s, &host, name)
		case "timestamp":
			d.read(s, &stamp, name)
		case "environment":
			d.read(s, &preview, name)
		case "statusCode":
			d.read(s, &d.status, name)
		case "proxy":
			if request = s.peek() == '{'; request {
				d.proxy(s)
				continue
			}
			s.skip()
		default:
			s.skip()
		}
	}
	if d.host == "" {
		d.host = host
	}
	if d.ts == "" {
		d.ts = stamp
	}
	stamp, d.ts = d.ts, ""
	d.logged(stamp)
	return request && preview != "preview"
}

// proxy reads the fields of Vercel's proxy about a request.
func (d *draft) proxy(s *scanner) {
	var status string
	s.open('{')
	for s.more('}') {
		switch name := s.name(); string(name) {
		case "timestamp":
			d.read(s, &d.ts, name)
		case "method":
			d.read(s, &d.method, name)
		case "host":
			d.read(s, &d.host, name)
		case "path":
			d.read(s, &d.url, name)
		case "referer":
			d.read(s, &d.referrer, name)
		case "clientIp":
			d.read(s, &d.ip, name)
		case "responseByteSize":
			d.read(s, &d.bytes, name)
		case "statusCode":
			d.read(s, &status, name)
		case "userAgent": // an array, of one
			if s.peek() != '[' {
				d.read(s, &d.userAgent, name)
				continue
			}
			s.open('[')
			for s.more(']') {
				d.read(s, &d.userAgent, name)
			}
		default:
			s.skip()
		}
	}
	if status != "" && status != "-1" {
		d.status = status
	}
}

// cloudflare reads a line of Logpush, of the dataset of HTTP requests. A Worker's
// subrequest is not a visit.
func (r *reader) cloudflare(s *scanner, d *draft) bool {
	d.source = string(FormatCloudflare)
	var path, uri, stamp string
	worker := false
	s.open('{')
	for s.more('}') {
		name := s.name()
		switch string(name) {
		case "WorkerSubrequest":
			worker, _ = s.flag()
			continue
		case "RequestHeaders":
			if s.peek() == '{' {
				eachField(s, d.requestHeader)
				continue
			}
		}
		text, _ := s.scalar()
		switch string(name) {
		case "RayID":
			d.id = text
		case "EdgeStartTimestamp":
			stamp = text
		case "ClientIP":
			d.ip = text
		case "ClientRequestHost":
			d.host = text
		case "ClientRequestMethod":
			d.method = text
		case "ClientRequestURI":
			uri = text
		case "ClientRequestPath":
			path = text
		case "ClientRequestReferer":
			d.referrer = text
		case "ClientRequestUserAgent":
			d.userAgent = text
		case "EdgeResponseStatus":
			d.status = text
		case "EdgeResponseContentType":
			d.contentType = text
		case "EdgeResponseBytes":
			d.bytes = text
		case "EdgeTimeToFirstByteMs":
			d.duration = text
		}
	}
	if d.url = uri; uri == "" {
		d.url = path
	}
	d.logged(stamp)
	return !worker
}

// requestHeader reads a header that Logpush was configured to add.
func (d *draft) requestHeader(name, text string) {
	switch strings.ToLower(name) {
	case "accept":
		d.accept = text
	case "signature":
		d.signature = text
	case "signature-input":
		d.signatureInput = text
	case "signature-agent":
		d.signatureAgent = text
	}
}
