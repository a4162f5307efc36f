// Package safehttp makes HTTP clients for addresses that others choose: issuers,
// webhooks, the sites of workspaces. It prevents SSRF.
package safehttp

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// The reasons for which a connection is refused.
var (
	ErrPrivate = errors.New("the address is not public") // not of the public internet
	ErrPort    = errors.New("the port is not one of those that are called")
)

// WebPorts returns the ports of HTTP and HTTPS, and further ones.
func WebPorts(further []int) []uint16 {
	ports := []uint16{80, 443}
	for _, p := range further {
		ports = append(ports, uint16(p)) //nolint:gosec // the configuration checks the range
	}
	return ports
}

// Limits bound a client.
type Limits struct {
	Timeout   time.Duration // of a whole request
	Redirects int           // to follow; 0 hands out the redirect itself
	Private   bool          // private addresses may be called, on any port: for operators' own, and tests
	Ports     []uint16      // that may be called; empty for any
}

// NewClient returns a client that connects to public addresses only. The check
// follows name resolution, at each connection, so neither a name nor a redirect can lead
// to a private address. It uses no proxy, which
// would reach addresses that were not checked, and keeps no connection.
func NewClient(l Limits) *http.Client {
	return &http.Client{
		Timeout: l.Timeout,
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) > l.Redirects {
				return http.ErrUseLastResponse
			}
			return nil
		},
		Transport: &http.Transport{
			Proxy:                  nil,
			DialContext:            Dialer(l).DialContext,
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: 32 << 10,
			TLSHandshakeTimeout:    l.Timeout,
		},
	}
}

// Dialer returns a dialer with the same check and the timeout of the limits.
func Dialer(l Limits) *net.Dialer {
	dialer := &net.Dialer{Timeout: l.Timeout}
	if !l.Private {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			ap, err := netip.ParseAddrPort(address)
			switch {
			case err != nil || !public(ap.Addr()):
				return ErrPrivate
			case len(l.Ports) > 0 && !slices.Contains(l.Ports, ap.Port()):
				return ErrPort
			}
			return nil
		}
	}
	return dialer
}

// public reports whether an address belongs to the public internet. IPv4
// addresses inside IPv6 ones are checked as such; addresses that reach IPv4 through
// relays (6to4, Teredo) are refused. The lists are those of the IANA
// special-purpose address registries (RFC 6890).
func public(a netip.Addr) bool {
	a = a.WithZone("").Unmap()
	if within(a, "64:ff9b::/96") { // NAT64, RFC 6052
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	switch {
	case !a.IsValid(), a.IsUnspecified(), a.IsLoopback(), a.IsPrivate(), a.IsMulticast(), a.IsLinkLocalUnicast():
		return false
	case a.Is4():
		return !within(a,
			"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24",
			"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
			"168.63.129.16/32") // not special to IANA: Azure's host answers its machines there
	}
	return within(a, "2000::/3") && !within(a,
		"2001::/23",     // Teredo, ORCHID and other protocol assignments
		"2001:db8::/32", // documentation
		"2002::/16",     // 6to4
		"3fff::/20")     // documentation
}

func within(a netip.Addr, prefixes ...string) bool {
	for _, p := range prefixes {
		if netip.MustParsePrefix(p).Contains(a) {
			return true
		}
	}
	return false
}
