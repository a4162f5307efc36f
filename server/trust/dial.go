package trust

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"syscall"
)

var errBlocked = errors.New("address is not public")

// newClient returns a client for fetching key sets. It follows no redirects and
// uses no proxy: both would reach addresses that were not checked. Unless
// private, it connects to public addresses only; the check sits behind name
// resolution, so a name that resolves to a private address does not help.
func newClient(private bool) *http.Client {
	dialer := &net.Dialer{Timeout: fetchTime}
	if !private {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			ap, err := netip.ParseAddrPort(address)
			if err != nil || !public(ap.Addr()) {
				return errBlocked
			}
			return nil
		}
	}
	return &http.Client{
		Timeout:       fetchTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:                  nil,
			DialContext:            dialer.DialContext,
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: 32 << 10,
			TLSHandshakeTimeout:    fetchTime,
		},
	}
}

// public reports whether an address belongs to the public internet. IPv4
// addresses inside IPv6 ones are judged as such; what can reach IPv4 through
// relays of old (6to4, Teredo) is refused. The lists are those of the IANA
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
			"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4")
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
