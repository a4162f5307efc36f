package event

import "time"

// A Type is the kind of an event.
type Type string

// The types of events.
const (
	Touch    Type = "touch"    // a visit of an agent, or of a person whom an agent referred
	Identify Type = "identify" // a visitor is this person
	Convert  Type = "convert"  // a person converted, such as by a purchase
)

// A Record is the stored form of an event: facts and verdicts, no address of a person
// or machine. The state store holds its JSON, so fields are only added.
type Record struct {
	ID   string    `json:"id"` // unique in its workspace
	Type Type      `json:"type"`
	At   time.Time `json:"at"` // the sender's time, corrected for its clock
	// ReceivedAt is the time of the request.
	ReceivedAt time.Time `json:"received"`
	// Backfill marks past events that were imported; alerts ignore them.
	Backfill bool `json:"backfill,omitempty"`

	// Visitor is a keyed hash of the sender's visitor token, Identity "eh:" and the
	// SHA-256 of an address, or "ref:" and the sender's own name of the person.
	Visitor  string `json:"visitor,omitempty"`
	Identity string `json:"identity,omitempty"`

	// Of a touch. Status 0 is unknown. Query strings are cut to the tags below.
	Host        string `json:"host,omitempty"`
	Path        string `json:"path,omitempty"`
	Method      string `json:"method,omitempty"`
	Status      int    `json:"status,omitempty"`
	ContentType string `json:"contentType,omitempty"`
	DurationMS  int64  `json:"durationMs,omitempty"`
	Bytes       int64  `json:"bytes,omitempty"`
	Markdown    bool   `json:"markdown,omitempty"` // the request preferred text/markdown
	UserAgent   string `json:"userAgent,omitempty"`
	Network     string `json:"network,omitempty"`  // the address cut to /24 or /48
	Referrer    string `json:"referrer,omitempty"` // its host
	Via         string `json:"via,omitempty"`
	UTMSource   string `json:"utmSource,omitempty"`
	Source      string `json:"source,omitempty"`  // the sender's name for its collector
	Claimed     string `json:"claimed,omitempty"` // the agent that the sender claims it was
	SelfReport  string `json:"selfReport,omitempty"`
	MCPMethod   string `json:"mcpMethod,omitempty"`
	MCPTool     string `json:"mcpTool,omitempty"`
	MCPClient   string `json:"mcpClient,omitempty"`
	MCPVersion  string `json:"mcpVersion,omitempty"`

	// Our identification at the time of receipt: agent, class, verdict, and the evidence
	// for crediting an assistant.
	Agent    string `json:"agent,omitempty"`    // GPTBot, ChatGPT-User ...
	Family   string `json:"family,omitempty"`   // ChatGPT: gets the credit
	Operator string `json:"operator,omitempty"` // OpenAI
	Class    string `json:"class,omitempty"`
	Verdict  string `json:"verdict,omitempty"`
	// VerdictReason details the verdict (agentid.Reason), VerdictList is the list
	// that the address is in, and VerdictListDate the day on which the list that
	// decided was last seen, if it was old.
	VerdictReason   string `json:"verdictReason,omitempty"`
	VerdictList     string `json:"verdictList,omitempty"`
	VerdictListDate string `json:"verdictListDate,omitempty"`
	Evidence        string `json:"evidence,omitempty"` // signed_link, signature, tag, referrer, declared; optional

	// Of a conversion. Value counts the currency's minor units; a refund's is
	// negative and RefundOf names the order it takes back.
	Kind     string `json:"kind,omitempty"`
	Value    int64  `json:"value,omitempty"`
	Currency string `json:"currency,omitempty"`
	OrderID  string `json:"orderId,omitempty"`
	RefundOf string `json:"refundOf,omitempty"`
}
