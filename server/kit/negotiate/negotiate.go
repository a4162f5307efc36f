// Package negotiate chooses the form of a response from the headers of its request:
// content coding, media type, and 304 for a cached one (RFC 9110, 12 and 13).
package negotiate

import (
	"net/http"
	"strconv"
	"strings"
)

// An Encoding is a content coding, in the server's order of preference.
type Encoding int

// The encodings of a response. Encodings is their number.
const (
	Zstd Encoding = iota
	Gzip
	Identity
	Encodings
)

func names() [Encodings]string { return [Encodings]string{"zstd", "gzip", "identity"} }

// ContentEncoding returns the encoding with the highest weight in Accept-Encoding; of
// equals, the first of the server's order (RFC 9110, 12.5.3).
func ContentEncoding(r *http.Request) Encoding {
	accept := r.Header.Get("Accept-Encoding")
	if accept == "" {
		return Identity
	}
	best, most := Identity, 0.0
	for e, q := range weights(accept) {
		if q > most {
			best, most = Encoding(e), q
		}
	}
	return best
}

// AcceptsGzip reports whether the request prefers gzip to identity.
func AcceptsGzip(r *http.Request) bool {
	q := weights(r.Header.Get("Accept-Encoding"))
	return q[Gzip] > 0 && q[Gzip] >= q[Identity]
}

// weights returns the weight of each encoding in an Accept-Encoding header; 0 or less
// is not acceptable.
func weights(accept string) [Encodings]float64 {
	known := names()
	q := [Encodings]float64{-1, -1, -1}
	wildcard := -1.0
	for part := range strings.SplitSeq(accept, ",") {
		name, params, _ := strings.Cut(part, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		w := weight(params)
		if name == "*" {
			wildcard = w
		}
		for e := range known {
			if name == known[e] {
				q[e] = w
			}
		}
	}
	for e := range q {
		if q[e] < 0 && Encoding(e) != Zstd { // many clients that send * cannot decode zstd
			q[e] = wildcard
		}
		if q[e] < 0 && Encoding(e) == Identity {
			q[e] = 0.001 // acceptable unless refused, but last
		}
	}
	return q
}

// PrefersMarkdown reports whether an Accept header names text/markdown with at least
// the weight of HTML. A client that accepts anything gets HTML (RFC 9110, 12.5.1).
func PrefersMarkdown(r *http.Request) bool {
	accept := r.Header["Accept"]
	if len(accept) == 0 {
		return false
	}
	list := strings.Join(accept, ",")
	markdown, named := MediaType(list, "text/markdown")
	html, _ := MediaType(list, "text/html")
	return named && markdown > 0 && markdown >= html
}

// MediaType returns the weight of a media type in an Accept header, and whether the
// header names the type itself rather than a range.
func MediaType(accept, media string) (q float64, named bool) {
	group, _, _ := strings.Cut(media, "/")
	best := 0
	for part := range strings.SplitSeq(accept, ",") {
		name, params, _ := strings.Cut(part, ";")
		precision := 0
		switch strings.ToLower(strings.TrimSpace(name)) {
		case media:
			precision = 3
		case group + "/*":
			precision = 2
		case "*/*":
			precision = 1
		}
		if precision > best {
			best, q = precision, weight(params)
		}
	}
	return q, best == 3
}

// weight returns the q of parameters; 1 where it is missing or malformed.
func weight(params string) float64 {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			if q, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil && q >= 0 && q <= 1 {
				return q
			}
		}
	}
	return 1
}

// NotModified reports whether If-None-Match has an ETag, compared weakly.
func NotModified(r *http.Request, etag string) bool {
	for _, list := range r.Header["If-None-Match"] {
		for tag := range strings.SplitSeq(list, ",") {
			tag = strings.TrimSpace(tag)
			if tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
				return true
			}
		}
	}
	return false
}
