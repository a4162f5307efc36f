package agentcollect

import (
	"crypto/rand"
	"strings"
	"time"
)

// The types of events.
const (
	Touch    = "touch"    // visit of an agent, or of a person whom an agent referred
	Identify = "identify" // a visitor turned out to be a person that the site knows
	Convert  = "convert"  // conversion of a person
)

// The lengths that fields are cut to, in bytes. A signature is of use only whole,
// and left out instead.
const (
	maxPath      = 2048
	maxUserAgent = 512
	maxAccept    = 256
	maxReferrer  = 1024
	maxSignature = 2048
	maxHost      = 253
	maxTag       = 128
)

// An Event has the JSON names of POST /api/collect. Empty fields are omitted.
type Event struct {
	Type string    `json:"type"`
	ID   string    `json:"id"` // the same id counts once; Report makes one
	TS   time.Time `json:"ts"`

	// Who: a name of the visitor or of the person that means nothing elsewhere. The
	// service keeps an e-mail address as its hash.
	VisitorToken string `json:"visitorToken,omitempty"`
	Email        string `json:"email,omitempty"`
	UserRef      string `json:"userRef,omitempty"`

	// Of a touch: where, and how it was answered. Status 0 is not known.
	Host        string  `json:"host,omitempty"`
	Path        string  `json:"path,omitempty"`
	Method      string  `json:"method,omitempty"`
	Status      int     `json:"status,omitempty"`
	ContentType string  `json:"contentType,omitempty"`
	DurationMS  float64 `json:"durationMs,omitempty"`
	Bytes       int64   `json:"bytes,omitempty"`

	// Conversion fields. Value is a decimal, such as "49.00".
	Kind     string `json:"kind,omitempty"`
	Value    string `json:"value,omitempty"`
	Currency string `json:"currency,omitempty"`
	OrderID  string `json:"orderId,omitempty"`
	RefundOf string `json:"refundOf,omitempty"`

	Signals Signals `json:"signals,omitzero"`
}

// Signals say who it was, as far as the request does.
type Signals struct {
	Via            string `json:"via,omitempty"`
	UTMSource      string `json:"utmSource,omitempty"`
	UTMMedium      string `json:"utmMedium,omitempty"`
	UTMCampaign    string `json:"utmCampaign,omitempty"`
	Ref            string `json:"ref,omitempty"`
	VT             string `json:"vt,omitempty"` // a signed tag
	Agent          string `json:"agent,omitempty"`
	Source         string `json:"source,omitempty"` // the collector
	UserAgent      string `json:"userAgent,omitempty"`
	IP             string `json:"ip,omitempty"`
	Referrer       string `json:"referrer,omitempty"`
	Accept         string `json:"accept,omitempty"`
	Signature      string `json:"signature,omitempty"`
	SignatureInput string `json:"signatureInput,omitempty"`
	SignatureAgent string `json:"signatureAgent,omitempty"`
	SelfReported   string `json:"selfReported,omitempty"`
	MCP            MCP    `json:"mcp,omitzero"`
}

// An MCP is a tool call on the site's own MCP server.
type MCP struct {
	Method        string `json:"method,omitempty"`
	Tool          string `json:"tool,omitempty"`
	Client        string `json:"client,omitempty"`
	ClientVersion string `json:"clientVersion,omitempty"`
}

// A Person identifies a customer of the site. One of the two fields is enough.
type Person struct {
	Email   string
	UserRef string // opaque id, such as the account number
}

// A Conversion is a business event of a person. Kind is required: signup, trial, paid,
// refund, or a word of the site's own (a-z, 0-9, _). So is one of Email, UserRef and
// VisitorToken.
type Conversion struct {
	Kind         string
	Email        string
	UserRef      string
	VisitorToken string
	Value        string // a decimal, such as "49.00"; empty for a conversion without revenue
	Currency     string // ISO 4217, such as USD; needed with Value
	OrderID      string // conversions of one kind and one OrderID count once
	RefundOf     string // for a refund: the OrderID of the payment
}

// Report queues an event. An event without ID gets one; one without TS is of now.
func (c *Collector) Report(e Event) {
	if c.off {
		return
	}
	if e.ID == "" {
		e.ID = rand.Text()
	}
	if e.TS.IsZero() {
		e.TS = c.now()
	}
	c.queue.put(e)
}

// Identify reports that a visitor is a person: call it where people sign in.
func (c *Collector) Identify(visitorToken string, p Person) {
	c.Report(Event{Type: Identify, VisitorToken: visitorToken, Email: p.Email, UserRef: p.UserRef})
}

// Convert reports a conversion: call it where a sign-up is stored, or in the payment
// webhook.
func (c *Collector) Convert(v Conversion) {
	c.Report(Event{
		Type: Convert, Kind: v.Kind, Email: v.Email, UserRef: v.UserRef, VisitorToken: v.VisitorToken,
		Value: v.Value, Currency: v.Currency, OrderID: v.OrderID, RefundOf: v.RefundOf,
	})
}

// cut shortens s to n bytes. The rest is not kept in memory: strangers write these
// texts.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(strings.Clone(s[:n]), "")
}

// whole returns s, or "" if it is longer than n bytes.
func whole(s string, n int) string {
	if len(s) > n {
		return ""
	}
	return s
}
