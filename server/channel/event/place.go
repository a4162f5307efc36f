package event

import (
	"net/url"
	"strings"

	"golang.org/x/net/idna"
)

// maxTag bounds the value of a link tag, in bytes.
const maxTag = 128

// A place is where a URL points to. Credentials and fragments are dropped.
type place struct{ host, path, query string }

// split takes apart an absolute URL, or a path that begins with a slash. The
// path keeps its escapes, because scanners send paths that parsers refuse, and they
// count too. scheme is empty for a path.
func split(raw string) (p place, scheme string, ok bool) {
	raw, _, _ = strings.Cut(tidy(raw), "#")
	if !strings.HasPrefix(raw, "/") {
		var rest string
		scheme, rest, ok = strings.Cut(raw, "://")
		if !ok {
			return place{}, "", false
		}
		scheme = strings.ToLower(scheme)
		end := strings.IndexAny(rest, "/?")
		if end < 0 {
			end = len(rest)
		}
		if p.host, ok = hostOf(rest[:end]); !ok {
			return place{}, "", false
		}
		raw = rest[end:]
	}
	p.path, p.query, _ = strings.Cut(raw, "?")
	if p.path == "" {
		p.path = "/"
	}
	return p, scheme, true
}

// hostOf returns the host of an authority in lower case, with its port if that is
// not the usual one.
func hostOf(authority string) (string, bool) {
	host := strings.ToLower(authority[strings.LastIndexByte(authority, '@')+1:])
	host = strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":80")
	for i := range len(host) {
		if c := host[i]; c >= 0x80 {
			ascii, err := idna.Lookup.ToASCII(host)
			return ascii, err == nil && ascii != "" && len(ascii) <= maxHost
		} else if !alnum(c) && strings.IndexByte("-._:[]", c) < 0 {
			return "", false
		}
	}
	return host, host != "" && len(host) <= maxHost
}

// tags are the only parts of a query string that are kept.
type tags struct{ via, utmSource, utmMedium, utmCampaign, ref, vt string }

// tag returns where the value of a query key goes, or nil.
func (t *tags) tag(key string) *string {
	switch key {
	case "via":
		return &t.via
	case "utm_source":
		return &t.utmSource
	case "utm_medium":
		return &t.utmMedium
	case "utm_campaign":
		return &t.utmCampaign
	case "ref":
		return &t.ref
	case "vt":
		return &t.vt
	}
	return nil
}

// fill takes the tags that are not set from a query string. Of a key given twice
// the first counts.
func (t *tags) fill(query string) {
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		key, value, _ := strings.Cut(pair, "=")
		to := t.tag(key)
		if to == nil || *to != "" {
			continue
		}
		if text, err := url.QueryUnescape(value); err == nil {
			*to = clean(text, maxTag)
		}
	}
}

// referrerOf returns host and path of a referrer. A bare host is one too, and so
// is an app (android-app://com.openai.chatgpt). A text without a host has no owner.
func referrerOf(raw string) (host, path string) {
	raw = strings.TrimSpace(raw)
	if raw == "" || raw == "-" || raw[0] == '/' {
		return "", ""
	}
	if !strings.Contains(raw, "://") {
		raw = "https://" + raw
	}
	p, _, ok := split(raw)
	if !ok || !strings.Contains(p.host, ".") {
		return "", ""
	}
	return p.host, clean(p.path, MaxURL)
}
