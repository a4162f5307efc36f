package event

import (
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// An Input is a validated event that still has sensitive data: the visitor's token, the
// address of a machine. It is never stored.
type Input struct {
	Index int    // in the body, from 0
	ID    string // optional: the caller generates a missing one
	Type  Type
	// At is the sender's time, corrected for its clock, in UTC; never more than 5
	// minutes after ReceivedAt.
	At         time.Time
	ReceivedAt time.Time
	Backfill   bool

	VisitorToken string
	Identity     string // "eh:" and 64 hex digits, "ref:" and a name, or empty

	// Where, and how it went. Status 0 is unknown. Duration and Bytes are of the
	// answer, 0 if unknown.
	Host, Path, Method, ContentType string
	Status                          int
	Duration                        time.Duration
	Bytes                           int64

	// Link tags, of the signals or else of the URL. VT is a signed one, not yet
	// verified.
	Via, UTMSource, UTMMedium, UTMCampaign, Ref, VT string

	// The visitor's claims. IP is invalid if unknown.
	UserAgent                                 string
	IP                                        netip.Addr
	ReferrerHost, ReferrerPath                string
	Accept                                    string
	Signature, SignatureInput, SignatureAgent string
	MCPMethod, MCPTool, MCPClient, MCPVersion string

	Claimed    string // the agent that the sender claims it was; proves nothing
	Source     string // the sender's name for its collector
	SelfReport string // a person's answer to how they heard of the site

	// Of a conversion. Value counts minor units.
	Kind              string
	Value             int64
	Currency          string
	OrderID, RefundOf string
}

// Record returns the stored form of an event. The function visitor makes the keyed
// hash of a visitor token. The address is cut to its network. Fields of touches are
// stored for touches only. The fields about the agent stay empty.
func (in *Input) Record(visitor func(token string) string) Record {
	r := Record{
		ID: in.ID, Type: in.Type, At: in.At, ReceivedAt: in.ReceivedAt, Backfill: in.Backfill,
		Identity: in.Identity, Source: in.Source, Claimed: in.Claimed, SelfReport: in.SelfReport,
		Via: in.Via, UTMSource: in.UTMSource,
		Kind: in.Kind, Value: in.Value, Currency: in.Currency, OrderID: in.OrderID, RefundOf: in.RefundOf,
	}
	if in.VisitorToken != "" {
		r.Visitor = visitor(in.VisitorToken)
	}
	if in.Type != Touch {
		return r
	}
	r.Host, r.Path, r.Method, r.Status = in.Host, in.Path, in.Method, in.Status
	r.ContentType, r.DurationMS, r.Bytes = in.ContentType, in.Duration.Milliseconds(), in.Bytes
	r.Markdown, r.UserAgent = in.PrefersMarkdown(), mask(in.UserAgent)
	r.Network, r.Referrer = Network(in.IP), in.ReferrerHost
	r.MCPMethod, r.MCPTool, r.MCPClient, r.MCPVersion = in.MCPMethod, in.MCPTool, in.MCPClient, in.MCPVersion
	return r
}

// Network returns the part of an address that may be kept: its /24, or /48 of
// IPv6; empty for an invalid address.
func Network(ip netip.Addr) string {
	bits := 48
	if ip = ip.Unmap(); ip.Is4() {
		bits = 24
	}
	p, err := ip.Prefix(bits)
	if err != nil || !p.IsValid() {
		return ""
	}
	return p.String()
}

// PrefersMarkdown reports whether the Accept header asks for text/markdown at
// least as much as for text/html. Coding agents do; browsers never name it.
func (in *Input) PrefersMarkdown() bool {
	accept, markdown, html := in.Accept, 0.0, 0.0
	for accept != "" {
		var part string
		part, accept, _ = strings.Cut(accept, ",")
		name, params, _ := strings.Cut(part, ";")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "text/markdown", "text/x-markdown":
			markdown = max(markdown, quality(params))
		case "text/html":
			html = max(html, quality(params))
		}
	}
	return markdown > 0 && markdown >= html
}

// quality returns the weight among the parameters of a media range, 1 by default
// and 0 if it is malformed.
func quality(params string) float64 {
	for params != "" {
		var param string
		param, params, _ = strings.Cut(params, ";")
		if name, value, ok := strings.Cut(strings.TrimSpace(param), "="); ok && strings.EqualFold(name, "q") {
			q, err := strconv.ParseFloat(value, 64)
			if err != nil || !(q >= 0 && q <= 1) {
				return 0
			}
			return q
		}
	}
	return 1
}
