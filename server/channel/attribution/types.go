package attribution

import (
	"fmt"
	"strconv"
	"time"
)

// A Touch is an agent, or somebody an agent sent, meeting the site. Its fields
// are those of the kept event of the same name.
type Touch struct {
	ID                string
	At                time.Time // counts to the microsecond
	Visitor, Identity string    // whom it can be tied to; either or both may be empty
	Family, Agent     string    // ChatGPT, ChatGPT-User
	Class, Evidence   string
	Host, Path        string // of the page, the path as in the URL
	Referrer          string // a host; empty when none was sent
	Spoofed           bool   // it claims to be an agent that it is not
}

// A Binding maps a visitor to a person. It comes from an identify, or any other event
// that has both.
type Binding struct {
	Visitor, Identity string
	At                time.Time
}

// A Conversion is a person's conversion event, or its refund: then Kind is Refund and
// Value is negative.
type Conversion struct {
	ID, Kind          string
	Visitor, Identity string // at least one, unless it is a refund
	At                time.Time
	Value             int64 // minor units of Currency; sums must fit an int64
	Currency          string
	OrderID           string
	// RefundOf is the OrderID of the refunded order. It defaults to the refund's OrderID.
	RefundOf string
}

// The kinds that mean something here; others are free.
const (
	Paid   = "paid"
	Refund = "refund"
)

// The kind and the order of the conversion that checks an installation: it is credited and
// listed, and no total has it.
const (
	TestKind  = "test"
	TestOrder = "firstpick-test"
)

// IsTest reports whether the conversion checks an installation.
func (c *Conversion) IsTest() bool { return c.Kind == TestKind && c.OrderID == TestOrder }

// A Model selects the credited touches before a conversion.
type Model string

// The models. Position gives the first and the last touch 40 % each and shares
// 20 % among those between; of two touches each has half.
const (
	First    Model = "first"
	Last     Model = "last"
	Linear   Model = "linear"
	Position Model = "position"
)

// ParseModel reads a model; an empty string is First.
func ParseModel(s string) (Model, error) {
	switch m := Model(s); m {
	case "":
		return First, nil
	case First, Last, Linear, Position:
		return m, nil
	}
	return "", fmt.Errorf("no model %q: there are first, last, linear and position", s)
}

const (
	// Slack is how long after its conversion a touch may be stamped: senders put
	// both in one request and stamp them with different clocks.
	Slack = 5 * time.Second
	// MinLookback and MaxLookback bound how long before a conversion a touch counts.
	MinLookback = 7 * 24 * time.Hour
	MaxLookback = 90 * 24 * time.Hour
	// MaxTouches is how many touches one conversion considers: of more, the first
	// and the last half of this number. It bounds the cost of a visitor token that
	// a sender gives to everybody.
	MaxTouches = 200
)

// Options are the reader's choices. The zero value is first touch over 90 days.
type Options struct {
	Model    Model         // an unknown one is First; see ParseModel
	Lookback time.Duration // 0 is MaxLookback; others are brought into the bounds
	// IncludeNonAgent lets the touches of people whom no agent sent compete, as
	// the family NoAgent.
	IncludeNonAgent bool
	// From and To bound the conversions that are returned: From <= At < To. Zero
	// leaves that side open. Those outside serve refunds only.
	From, To time.Time
}

// lookback returns the lookback within its bounds, in microseconds.
func (o Options) lookback() int64 {
	if o.Lookback == 0 {
		return MaxLookback.Microseconds()
	}
	return min(max(o.Lookback, MinLookback), MaxLookback).Microseconds()
}

func (o Options) holds(at time.Time) bool {
	return (o.From.IsZero() || !at.Before(o.From)) && (o.To.IsZero() || at.Before(o.To))
}

// The families that no catalogue has.
const (
	NoAgent    = ""      // no agent, or an unknown one
	OtherAgent = "Other" // an agent for certain, but of no known family
)

// A Count counts conversions in thousandths, so that shares of one add up.
type Count int64

// Whole is one conversion.
const Whole Count = 1000

// String returns the count in decimals, without zeros at the end.
func (c Count) String() string { return strconv.FormatFloat(float64(c)/float64(Whole), 'f', -1, 64) }

// A Share is a family's part of a conversion.
type Share struct {
	Family   string
	Evidence string // the strongest of its credited touches; empty for NoAgent
	Count    Count
	Value    int64 // minor units; negative in a refund
}

// A Credited is a conversion and whose it is.
type Credited struct {
	Conversion
	// Touches are those that competed, oldest first; they point into the input.
	// A refund has those of its order.
	Touches   []*Touch
	Truncated bool // there were more than MaxTouches
	// Shares has each credited family once. Values add up to Applied, counts to
	// Whole. There is always at least one.
	Shares   []Share
	Evidence string // the strongest of the shares; empty when no agent is credited
	// Assisted marks that an agent competed and got nothing.
	Assisted bool
	// Possible is a probable but not credited source. It is set only when no agent
	// competed.
	Possible *Inference
	// Applied is the part of Value that counts: all of it, but of a refund no more
	// than was left of its order.
	Applied int64
	Problem Problem // of a refund; optional
	Order   string  // of a refund: the ID of the conversion it takes back
}

// AgentCount returns how much of the conversion agents have, 0 to Whole.
func (c *Credited) AgentCount() Count {
	n := Count(0)
	for _, s := range c.Shares {
		if s.Family != NoAgent {
			n += s.Count
		}
	}
	return n
}

// A Problem is why a refund did not simply take back its order.
type Problem string

// The problems of refunds.
const (
	NoOrder         Problem = "no_order"          // not among the conversions; credited to no agent
	OtherCurrency   Problem = "other_currency"    // than its order's; credited to no agent
	ExceedsOrder    Problem = "exceeds_order"     // more than was left; the excess is not applied
	NotNegative     Problem = "not_negative"      // not applied
	NothingToRefund Problem = "nothing_to_refund" // the order had no value; not applied
)
