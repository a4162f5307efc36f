// Package traffic has the types of a workspace's report and its query: agents, missing
// pages, referrals and conversions, with the evidence for each. Package reporter builds
// it.
package traffic

import (
	"context"
	"io"

	"github.com/firstpick/firstpick/server/channel/attribution"
)

// Reports builds reports of workspaces.
type Reports interface {
	Report(ctx context.Context, workspace string, q Query) (*Report, error)
	// Conversions lists conversions from a place on, the newest first.
	Conversions(ctx context.Context, workspace string, q Query, offset, limit int) (*Conversions, error)
	// Conversion traces one conversion by its id. It fails with a 404 for an unknown id.
	Conversion(ctx context.Context, workspace, id string, q Query) (*Conversion, error)
	// Export writes the stored events of a workspace that happened in a query's
	// window, in the order of receipt.
	Export(ctx context.Context, workspace string, q Query, f Format, out io.Writer) error
}

// A Report describes the agents' traffic of a workspace in a window. Its JSON is that
// of GET /api/agent/workspace.
type Report struct {
	Window  Window   `json:"window"`
	Health  Health   `json:"health"`
	Outcome Outcome  `json:"outcome"`
	Source  Source   `json:"source"`
	Changes []Change `json:"changes"`
}

// A Window is the time that the report is about. Later events up to
// CompleteThrough may be missing.
type Window struct {
	From            string `json:"from"`
	To              string `json:"to"`
	TZ              string `json:"tz"`
	CompleteThrough string `json:"completeThrough"`
}

// Health is whether events come in.
type Health struct {
	// FirstEventAt is when the earliest stored event happened; null without events.
	FirstEventAt  *string `json:"firstEventAt"`
	LastEventAt   *string `json:"lastEventAt"`
	EventsLast24h int64   `json:"eventsLast24h"`
	// IdentityLists is how old the lists are by which agents are verified.
	IdentityLists *IdentityLists `json:"identityLists,omitempty"`
}

// IdentityLists is how old the lists of agents' addresses are. While a list is
// old, agents in its last state stay verified, and others are not called spoofed.
type IdentityLists struct {
	Oldest string `json:"oldest"` // the day on which the oldest list was last seen
	Lists  int    `json:"lists"`
	Old    int    `json:"old"` // of these, last seen more than 14 days ago
}

// An Outcome counts conversions. Credits of agents are a lower bound: agents hide many
// of the people whom they send.
type Outcome struct {
	Model        attribution.Model `json:"model"`
	LookbackDays int               `json:"lookbackDays"`
	AtLeast      bool              `json:"atLeast"`
	Conversions  []KindOutcome     `json:"conversions"`
	Revenue      []RevenueOutcome  `json:"revenue"`
	TopAgents    []AgentOutcome    `json:"topAgents"`
	Problems     map[string]int    `json:"problems,omitempty"` // refunds that did not fit
	Truncated    bool              `json:"truncated,omitempty"`
}

// A KindOutcome counts the conversions of a kind. Shares of a conversion are
// thousandths under the models that divide.
type KindOutcome struct {
	Kind        string  `json:"kind"`
	Total       int     `json:"total"`
	AgentDriven float64 `json:"agentDriven"`
	Assisted    int     `json:"assisted"`
	Possible    int     `json:"possible"` // inferred, and in neither of the others
}

// A RevenueOutcome is money of one currency, net of refunds.
type RevenueOutcome struct {
	Currency    string `json:"currency"`
	Total       string `json:"total"`
	AgentDriven string `json:"agentDriven"`
	Refunded    string `json:"refunded"`
}

// An AgentOutcome is the credit of one family of agents.
type AgentOutcome struct {
	Agent       string             `json:"agent"`
	Conversions float64            `json:"conversions"`
	Kinds       map[string]float64 `json:"kinds"` // adds up to Conversions
	Revenue     []Money            `json:"revenue"`
	Evidence    map[string]float64 `json:"evidence"`
}

// Money is an amount of one currency.
type Money struct {
	Currency string `json:"currency"`
	Amount   string `json:"amount"`
}
