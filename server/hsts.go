package server

import (
	"net/netip"
	"net/url"
	"strings"
)

// strictTransport returns the values of Strict-Transport-Security (RFC 6797) for a
// public address: a year for https; no values for http, loopback names and IP
// addresses. It sets neither includeSubDomains, because other hosts of the domain belong
// to others, nor preload, because removal from that list is slow.
func strictTransport(base string) []string {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "https" {
		return nil
	}
	host := u.Hostname()
	if _, err := netip.ParseAddr(host); err == nil || host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return nil
	}
	return []string{"max-age=31536000"}
}
