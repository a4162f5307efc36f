package server

import (
	"net/netip"
	"net/url"
	"strings"
)

// strictTransport returns the values of Strict-Transport-Security (RFC 6797) for a
// public address: a year where it is https, none for plain HTTP, loopback names and IP
// addresses. Other hosts of the domain are not the server's business, and a preload list
// is left only slowly, so neither is asked for.
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
