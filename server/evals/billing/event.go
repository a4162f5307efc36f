package billing

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/server/store/state"
)

// The kinds of events that change something. All others are acknowledged.
const checkoutCompleted = "checkout.session.completed"

// subscriptionKinds are the events that hold a subscription, with the order of events
// in the same second.
func subscriptionKinds(kind string) (rank int, ok bool) {
	switch kind {
	case "customer.subscription.created":
		return 0, true
	case "customer.subscription.updated", "customer.subscription.paused", "customer.subscription.resumed":
		return 1, true
	case "customer.subscription.deleted":
		return 2, true
	default:
		return 0, false
	}
}

// life is the order of a subscription's states, for events of one kind and second.
var life = []string{"incomplete", "trialing", "active", "past_due", "unpaid", "paused", "incomplete_expired", "canceled"}

// pays reports whether a subscription with a status keeps a workspace paid. It does
// while past_due: the payment is retried, and the status changes when retries fail.
func pays(status string) bool {
	return status == "trialing" || status == "active" || status == "past_due"
}

// An event holds the fields of a billing system's event that are the same in all
// versions of its API.
type event struct {
	id, kind     string
	at           time.Time // when it happened, to the second
	subscription string    // empty when the event is about another object, which is ignored
	// names is the slug or id of a workspace in the metadata of the subscription or
	// the checkout. It is optional and not validated.
	names  string
	status string // of the subscription; empty for a checkout
	rank   int    // of events of one second
}

// The fields of events, as Stripe writes them.
type (
	envelope struct {
		ID   string `json:"id"`
		Type string `json:"type"`
	}
	content[T any] struct {
		Created int64 `json:"created"` // seconds since 1970
		Data    struct {
			Object T `json:"object"`
		} `json:"data"`
	}
	metadata struct {
		Workspace string `json:"workspace"`
	}
	subscription struct {
		ID       string   `json:"id"`
		Status   string   `json:"status"`
		Metadata metadata `json:"metadata"`
	}
	checkout struct {
		Subscription      *string  `json:"subscription"` // null when something else was bought
		ClientReferenceID string   `json:"client_reference_id"`
		Metadata          metadata `json:"metadata"`
	}
)

var (
	word       = lazyregexp.MustCompile(`^[A-Za-z0-9_]{1,200}$`) // of ids and states; a store takes it
	errNoEvent = errors.New("no event")
)

// parse reads an event. Of kinds that change nothing it reads id and kind.
func parse(body []byte) (event, error) {
	var head envelope
	if err := json.Unmarshal(body, &head); err != nil {
		return event{}, fmt.Errorf("%w: %w", errNoEvent, err)
	}
	if !word.MatchString(head.ID) || head.Type == "" {
		return event{}, fmt.Errorf("%w: id or type is missing", errNoEvent)
	}
	e := event{id: head.ID, kind: head.Type}
	rank, about := subscriptionKinds(e.kind)
	switch {
	case about:
		s, err := object[subscription](body, &e)
		if err != nil {
			return event{}, err
		}
		if !word.MatchString(s.ID) || !word.MatchString(s.Status) {
			return event{}, fmt.Errorf("%w: the subscription has no id or no status", errNoEvent)
		}
		e.subscription, e.names, e.status = s.ID, s.Metadata.Workspace, s.Status
		e.rank = rank*(len(life)+1) + slices.Index(life, s.Status) + 1
	case e.kind == checkoutCompleted:
		c, err := object[checkout](body, &e)
		if err != nil {
			return event{}, err
		}
		if c.Subscription == nil {
			return e, nil
		}
		if !word.MatchString(*c.Subscription) {
			return event{}, fmt.Errorf("%w: the subscription of the checkout has no id", errNoEvent)
		}
		e.subscription, e.names = *c.Subscription, cmp.Or(c.Metadata.Workspace, c.ClientReferenceID)
	}
	return e, nil
}

// object decodes the object of an event, and sets the event's time.
func object[T any](body []byte, e *event) (T, error) {
	var c content[T]
	if err := json.Unmarshal(body, &c); err != nil {
		return c.Data.Object, fmt.Errorf("%w: %w", errNoEvent, err)
	}
	if c.Created <= 0 || c.Created >= 1<<40 {
		return c.Data.Object, fmt.Errorf("%w: created is not a valid time", errNoEvent)
	}
	e.at = time.Unix(c.Created, 0)
	return c.Data.Object, nil
}

// change applies the event to its subscription and reports whether anything changed.
// The workspace is the id of e.names.
func (e *event) change(s *state.Subscription, workspace string) bool {
	if e.status == "" {
		changed := workspace != "" && s.BoughtID == ""
		if changed {
			s.BoughtID = workspace
		}
		return changed
	}
	latest := state.StatusEvent{At: e.at, Rank: e.rank, Event: e.id}
	if !latest.After(s.Latest) {
		return false
	}
	s.NamedID, s.Status, s.Pays, s.Latest = workspace, e.status, pays(e.status), latest
	return true
}
