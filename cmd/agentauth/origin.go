package agentauth

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// CheckBase returns the root URL of a service without trailing slash. It must
// be an https address; http is allowed to this machine alone.
func CheckBase(base string) (string, error) {
	u, err := parse(base)
	if err != nil {
		if i := strings.LastIndexByte(base, '@'); i >= 0 { // before it there may be a password
			base = "..." + base[i:]
		}
		return "", fmt.Errorf("%q is %w", Printable(base, maxText), err)
	}
	if u.RawQuery != "" || u.ForceQuery {
		return "", fmt.Errorf("%q has a query", Printable(base, maxText))
	}
	return strings.TrimRight(base, "/"), nil
}

// parse reads an absolute address that a secret may be sent to.
func parse(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "" || u.Opaque != "":
		return nil, errors.New("not an absolute address")
	case u.User != nil:
		return nil, errors.New("an address with a user name")
	case u.Fragment != "" || strings.HasSuffix(address, "#"):
		return nil, errors.New("an address with a fragment")
	case u.Scheme == "https", u.Scheme == "http" && loopback(u.Hostname()):
		return u, nil
	default:
		return nil, errors.New("not an https address")
	}
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// origin returns scheme, host and port, the last only where it is not usual.
func origin(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "443" && u.Scheme == "https" || port == "80" && u.Scheme == "http" {
		port = ""
	}
	if port != "" {
		return u.Scheme + "://" + net.JoinHostPort(host, port)
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return u.Scheme + "://" + host
}

// onOrigin checks that the named address is on the origin of another.
func onOrigin(name, address, other string) error {
	if address == "" {
		return fmt.Errorf("%s is missing", name)
	}
	u, err := parse(address)
	if err != nil {
		return fmt.Errorf("%s is %w", name, err)
	}
	o, err := parse(other)
	if err != nil {
		return err
	}
	if origin(u) != origin(o) {
		return fmt.Errorf("%s is on %s, not on %s", name, Printable(origin(u), maxText), origin(o))
	}
	return nil
}
