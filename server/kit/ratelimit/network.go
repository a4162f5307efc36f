package ratelimit

import "net/netip"

// The prefix lengths of networks, in bits. An IPv6 customer has a /64 at least, and
// may have a /48; the owner of an IPv4 address often has its neighbours.
const (
	customer6 = 64
	block6    = 48
	block4    = 24
)

// customer folds an IPv6 address to its /64: one customer has that many addresses.
func customer(a netip.Addr) netip.Addr {
	if a.Is6() {
		if p, err := a.Prefix(customer6); err == nil {
			return p.Addr()
		}
	}
	return a
}

// Address returns the key of limits by address: the IPv4 address, or the /64 of an
// IPv6 one.
func Address(a netip.Addr) string {
	if a.Is6() {
		return prefix(a, customer6)
	}
	return a.String()
}

// Block returns the key of limits by address block: the /24 of an IPv4 address, the
// /48 of an IPv6 one.
func Block(a netip.Addr) string {
	if a.Is6() {
		return prefix(a, block6)
	}
	return prefix(a, block4)
}

func prefix(a netip.Addr, bits int) string {
	p, err := a.Prefix(bits)
	if err != nil || !a.IsValid() {
		return a.String()
	}
	return p.String()
}
