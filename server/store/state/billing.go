package state

import (
	"cmp"
	"context"
	"time"
)

// AddBillingEvent records a billing system's event and reports whether it is new.
// Apply its changes in the same transaction: if that fails, the event is sent again.
func (tx *Tx) AddBillingEvent(ctx context.Context, id, kind string, at time.Time) (bool, error) {
	n, err := tx.exec(ctx, "insert into billing_event (id, kind, happened_at) values ($1, $2, $3) on conflict do nothing", id, kind, us(at))
	return n == 1, err
}

// A Subscription is the state of a subscription by its last event.
type Subscription struct {
	ID string // the billing system's
	// NamedID is the workspace in its metadata, BoughtID that of its checkout. Both
	// may be empty.
	NamedID, BoughtID string
	Status            string // as in the billing system; empty before its first event
	Pays              bool   // its workspace is paid for
	Latest            StatusEvent
}

// WorkspaceID returns the workspace of a subscription: its own metadata has precedence
// over its checkout's. It is empty while neither is known.
func (s *Subscription) WorkspaceID() string { return cmp.Or(s.NamedID, s.BoughtID) }

// A StatusEvent is an event that set a subscription's status.
type StatusEvent struct {
	At    time.Time // to the second
	Rank  int       // orders events of one second
	Event string    // orders events of one rank
}

// After reports whether t is later than u, in an order without ties.
func (t StatusEvent) After(u StatusEvent) bool {
	return cmp.Or(t.At.Compare(u.At), cmp.Compare(t.Rank, u.Rank), cmp.Compare(t.Event, u.Event)) > 0
}

// Subscription returns a subscription and locks it until commit. It stores a new one
// when the id is unknown. It needs a transaction.
func (tx *Tx) Subscription(ctx context.Context, id string) (*Subscription, error) {
	if _, err := tx.exec(ctx, "insert into billing_subscription (id, named_id, bought_id, status, pays, told_at, told_rank, told_event) values ($1, '', '', '', 0, 0, 0, '') on conflict do nothing", id); err != nil {
		return nil, err
	}
	s := Subscription{ID: id}
	var pays, at int64
	err := tx.one(ctx, []any{&s.NamedID, &s.BoughtID, &s.Status, &pays, &at, &s.Latest.Rank, &s.Latest.Event},
		"select named_id, bought_id, status, pays, told_at, told_rank, told_event from billing_subscription where id = $1"+tx.lock(), id)
	s.Pays, s.Latest.At = pays != 0, fromUS(at)
	return &s, err
}

// SaveSubscription updates a subscription.
func (tx *Tx) SaveSubscription(ctx context.Context, s *Subscription) error {
	_, err := tx.exec(ctx, "update billing_subscription set named_id = $2, bought_id = $3, status = $4, pays = $5, told_at = $6, told_rank = $7, told_event = $8 where id = $1",
		s.ID, s.NamedID, s.BoughtID, s.Status, flag(s.Pays), us(s.Latest.At), s.Latest.Rank, s.Latest.Event)
	return err
}

// A PlanState is the plan of a workspace and its reasons.
type PlanState struct {
	Plan           string    // PlanFree or PlanPaid
	OperatorPlan   string    // the plan that an operator set; empty where billing decides
	OperatorPlanAt time.Time // when the operator set it; zero for never
	Pays           bool      // one of its subscriptions pays
}

// Due returns the plan that a workspace should have: the operator's choice, else
// paid when a subscription pays.
func (s PlanState) Due() string {
	switch {
	case s.OperatorPlan != "":
		return s.OperatorPlan
	case s.Pays:
		return PlanPaid
	default:
		return PlanFree
	}
}

// PlanState returns the plan of a workspace, or ErrNotFound. In a transaction it is
// locked until commit.
func (tx *Tx) PlanState(ctx context.Context, workspace string) (PlanState, error) {
	var s PlanState
	var said int64
	if err := tx.one(ctx, []any{&s.Plan, &s.OperatorPlan, &said}, "select plan, plan_said, plan_said_at from workspace where id = $1"+tx.lock(), workspace); err != nil {
		return s, err
	}
	s.OperatorPlanAt = fromUS(said)
	var paying int
	err := tx.one(ctx, []any{&paying}, `select count(*) from billing_subscription where pays = 1 and
		(named_id = $1 and named_id <> '' or named_id = '' and bought_id = $1 and bought_id <> '')`, workspace)
	s.Pays = paying > 0
	return s, err
}

// SetOperatorPlan stores the operator's choice of a workspace's plan; empty leaves it
// to billing. It does not change the plan: see SetPlanOf. It fails with ErrNotFound.
func (tx *Tx) SetOperatorPlan(ctx context.Context, workspace, plan string, at time.Time) error {
	n, err := tx.exec(ctx, "update workspace set plan_said = $2, plan_said_at = $3 where id = $1", workspace, plan, us(at))
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}

// SetPlanOf sets the plan of a workspace by its id, or reports ErrNotFound.
func (tx *Tx) SetPlanOf(ctx context.Context, workspace, plan string) error {
	n, err := tx.exec(ctx, "update workspace set plan = $2 where id = $1", workspace, plan)
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}
