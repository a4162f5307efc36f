package ranges

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// Limits of a published list. Values outside of them are damage or an attack: a wider
// range would verify half the internet.
const (
	maxBody     = 4 << 20 // bytes
	maxPrefixes = 50_000
	minBits4    = 12
	minBits6    = 28
)

var (
	errForm  = errors.New("not a list of prefixes")
	errEmpty = errors.New("the list names no prefix")
	errMany  = errors.New("the list names too many prefixes")
)

// Parse parses an operator's list:
//
//	{"creationTime": "...", "prefixes": [{"ipv4Prefix": "192.0.2.0/24"}, {"ipv6Prefix": "2001:db8::/32"}]}
//
// A prefix may also be a string. The result is sorted and has no duplicates. An
// empty list is an error, and so is an invalid or far too wide prefix: the last good
// copy is better than a doubtful new one.
func Parse(raw []byte) ([]netip.Prefix, error) {
	var doc struct {
		Prefixes []json.RawMessage `json:"prefixes"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, errForm
	}
	var all []string
	for _, item := range doc.Prefixes {
		named, err := texts(item)
		if err != nil {
			return nil, err
		}
		all = append(all, named...)
	}
	return parsePrefixes(all)
}

// parsePrefixes reads the prefixes of a list.
func parsePrefixes(texts []string) ([]netip.Prefix, error) {
	if len(texts) == 0 {
		return nil, errEmpty
	}
	if len(texts) > maxPrefixes {
		return nil, errMany
	}
	all := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		p, err := parsePrefix(text)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	slices.SortFunc(all, netip.Prefix.Compare)
	return slices.Compact(all), nil
}

// texts returns the prefixes that one item of the list names.
func texts(item json.RawMessage) ([]string, error) {
	var text string
	if json.Unmarshal(item, &text) == nil {
		return []string{text}, nil
	}
	var pair struct {
		IPv4Prefix, IPv6Prefix string
		IPPrefix               string `json:"ip_prefix"`
	}
	if err := json.Unmarshal(item, &pair); err != nil {
		return nil, errForm
	}
	var all []string
	for _, text := range []string{pair.IPv4Prefix, pair.IPv6Prefix, pair.IPPrefix} {
		if text != "" {
			all = append(all, text)
		}
	}
	return all, nil
}

// parsePrefix reads a prefix or a single address of the public internet.
func parsePrefix(text string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		a, err := netip.ParseAddr(text)
		if err != nil || a.Zone() != "" {
			return p, fmt.Errorf("%.60q is no prefix", text)
		}
		p = netip.PrefixFrom(a, a.BitLen())
	}
	a := p.Addr()
	if a.Is4In6() || a.IsPrivate() || a.IsLoopback() || a.IsMulticast() || a.IsUnspecified() || a.IsLinkLocalUnicast() {
		return p, fmt.Errorf("%s is not of the public internet", p)
	}
	if a.Is4() && p.Bits() < minBits4 || a.Is6() && p.Bits() < minBits6 {
		return p, fmt.Errorf("%s is too wide", p)
	}
	return p.Masked(), nil
}
