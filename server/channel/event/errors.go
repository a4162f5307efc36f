package event

import (
	"errors"
	"fmt"
	"slices"
)

// The ways in which a whole body is refused. Compare with errors.Is; the detail
// of the first two is in [TooLargeError] and [UnreadableError].
var (
	ErrTooLarge         = errors.New("the body is too large")
	ErrUnreadable       = errors.New("the body is unreadable")
	ErrUnsupportedMedia = errors.New("unsupported media type: send application/json, application/x-ndjson or text/plain")
	ErrUnknownFormat    = errors.New("unknown format: vercel, cloudflare and combined are known")
	ErrEncoding         = errors.New("unsupported content encoding: send gzip, or none")
)

// A TooLargeError names the limit that a body is above.
type TooLargeError struct {
	What  string // "bytes", counted after decompression, or "events"
	Limit int
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the body is above the limit of %d %s: split it", e.Limit, e.What)
}

// Is reports whether target is ErrTooLarge.
func (e *TooLargeError) Is(target error) bool { return target == ErrTooLarge }

// An UnreadableError locates where a body is malformed.
type UnreadableError struct {
	Offset int // bytes of the decoded body before the fault
	Reason string
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("the body is unreadable at byte %d: %s", e.Offset, e.Reason)
}

// Is reports whether target is ErrUnreadable.
func (e *UnreadableError) Is(target error) bool { return target == ErrUnreadable }

// A Code is why an event was refused. Codes are part of the interface: they
// are added, never changed.
type Code string

// The codes of refusals.
const (
	InvalidEvent    Code = "invalid_event"    // not a JSON object
	UnreadableLine  Code = "unreadable"       // a line that is not of its format
	TooLarge        Code = "too_large"        // above a limit; Field is empty for the whole event
	TooDeep         Code = "too_deep"         // nested above the limit
	InvalidField    Code = "invalid_field"    // a known field with a value of the wrong JSON type
	MissingType     Code = "missing_type"     //
	UnknownType     Code = "unknown_type"     //
	NotAllowed      Code = "not_allowed"      // the key may not send this type
	InvalidID       Code = "invalid_id"       //
	InvalidTS       Code = "invalid_ts"       //
	TSTooOld        Code = "ts_too_old"       //
	InvalidVisitor  Code = "invalid_visitor"  // visitorToken
	InvalidEmail    Code = "invalid_email"    //
	InvalidUserRef  Code = "invalid_user_ref" //
	MissingIdentity Code = "missing_identity" // an identify or a convert without a person
	MissingSubject  Code = "missing_subject"  // a touch of nothing
	InvalidURL      Code = "invalid_url"      //
	InvalidStatus   Code = "invalid_status"   //
	MissingKind     Code = "missing_kind"     //
	InvalidKind     Code = "invalid_kind"     //
	InvalidValue    Code = "invalid_value"    //
	MissingCurrency Code = "missing_currency" //
	UnknownCurrency Code = "unknown_currency" //
	InvalidOrderID  Code = "invalid_order_id" // orderId or refundOf
)

// A Refusal is an event that was refused. Sending the same again is refused
// again. Nothing in it repeats an address or a token.
type Refusal struct {
	Index   int    // of the event in the body, or of the line, from 0
	ID      string // given by the sender, if it is fit to be one
	Code    Code
	Field   string // as it is written in JSON, or empty
	Message string // the error and its fix
}

// A fault is a refusal whose event is not known yet.
type fault struct {
	code    Code
	field   string
	message string
}

// The codes of warnings. A warning costs no event.
const (
	WarnUnknownFields = "unknown_fields"
	WarnIgnoredFields = "ignored_fields" // known, but of no meaning here
	WarnClockAhead    = "clock_ahead"
	WarnSentAt        = "invalid_sent_at"
	WarnBackfill      = "backfill_not_allowed"
	WarnInvalidIP     = "invalid_ip"
	WarnRefundSign    = "refund_sign"
	WarnTwoIdentities = "two_identities"
)

// maxNames bounds the fields that one warning lists.
const maxNames = 20

// A Warning reports once, for all events of a body, what was ignored or changed.
type Warning struct {
	Code    string
	Message string
	Count   int      // how often
	Fields  []string // at most 20 names
}

// notes gathers warnings by code.
type notes []Warning

func (n *notes) add(code, field string) {
	i := slices.IndexFunc(*n, func(w Warning) bool { return w.Code == code })
	if i < 0 {
		*n = append(*n, Warning{Code: code, Message: warning(code)})
		i = len(*n) - 1
	}
	w := &(*n)[i]
	w.Count++
	if field != "" && len(w.Fields) < maxNames && !slices.Contains(w.Fields, field) {
		w.Fields = append(w.Fields, field)
	}
}

func warning(code string) string {
	switch code {
	case WarnUnknownFields:
		return "unknown fields were ignored: check their spelling"
	case WarnIgnoredFields:
		return "fields that do not apply here, or are malformed, were ignored"
	case WarnClockAhead:
		return "ts is in the future and was set to the time of arrival: set the clock, or send sentAt"
	case WarnSentAt:
		return "sentAt is not RFC 3339 or integer milliseconds, so clocks were not corrected"
	case WarnBackfill:
		return "only a secret key may backfill: events older than 30 days are refused"
	case WarnInvalidIP:
		return "ip is not an IP address, so these touches cannot be verified by it"
	case WarnRefundSign:
		return "the value of a refund was made negative"
	case WarnTwoIdentities:
		return "email and userRef were both sent: email was used; send one identify for each"
	}
	return code
}
