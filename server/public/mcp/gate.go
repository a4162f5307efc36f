package mcp

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/firstpick/firstpick/server/kit/apierr"
)

// maxBody is the largest request, in bytes: names and short arguments.
const maxBody = 64 << 10

// hosts are the names under which requests may come. A browser that was led to us
// under another name (DNS rebinding) sends that name.
type hosts struct {
	public   string // name of the public address, without its port
	loopback bool   // whether that is this machine
}

func hostsOf(base string) hosts {
	u, err := url.Parse(base)
	if err != nil {
		return hosts{}
	}
	return hosts{u.Hostname(), isLoopback(u.Host)}
}

func isLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// allow reports whether a Host header is ours. Loopback names and plain addresses are no
// names that anybody can point here: proxies that do not pass the name on send them. A
// port tells nothing: proxies leave it out, and some clients add the scheme's own.
func (h hosts) allow(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	return strings.EqualFold(name, h.public) || isLoopback(host) || !h.loopback && isAddress(host)
}

func isAddress(hostport string) bool {
	_, err := netip.ParseAddrPort(hostport)
	if err != nil {
		_, err = netip.ParseAddr(strings.Trim(hostport, "[]"))
	}
	return err == nil
}

// allowOrigin reports whether a page of an origin may call. The tools are public and
// no cookie counts, so any page of the web may; but on a machine of one's own only
// pages of this machine may.
func (h hosts) allowOrigin(origin string) bool {
	if origin == "" || !h.loopback {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && isLoopback(u.Host)
}

// pass reports whether a request belongs to the protocol, and answers it otherwise.
func (h *Handler) pass(w http.ResponseWriter, r *http.Request) bool {
	head := w.Header()
	head.Set("Access-Control-Allow-Origin", "*")
	head.Set("Access-Control-Expose-Headers", "Link, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id, Mcp-Protocol-Version")
	head.Set("Cache-Control", "no-store")
	switch {
	case !h.hosts.allow(r.Host):
		h.Errors.Write(w, r, &apierr.Error{Status: http.StatusForbidden, Code: "invalid_host", Description: "This host name is not the service's. Use the address in its documentation."})
	case !h.hosts.allowOrigin(r.Header.Get("Origin")):
		h.Errors.Write(w, r, &apierr.Error{Status: http.StatusForbidden, Code: "invalid_origin", Description: "Pages of this origin may not call a server that listens on this machine only."})
	case r.Method == http.MethodOptions:
		head.Set("Access-Control-Allow-Methods", "POST, OPTIONS")
		head.Set("Access-Control-Allow-Headers", "Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id")
		head.Set("Access-Control-Max-Age", "86400")
		w.WriteHeader(http.StatusNoContent)
	case r.Method != http.MethodPost:
		head.Set("Allow", "POST, OPTIONS")
		h.Errors.Write(w, r, &apierr.Error{
			Status: http.StatusMethodNotAllowed, Code: "method_not_allowed",
			Description: "The Model Context Protocol is served here: POST JSON-RPC messages. There are no sessions and no streams to GET.",
		})
	default:
		return true
	}
	return false
}
