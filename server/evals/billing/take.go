package billing

import (
	"context"
	"errors"
	"slices"

	"github.com/firstpick/firstpick/server/store/state"
)

// A change is the effect of an event, for the log.
type change struct {
	repeated     bool               // the event was processed before
	changed      bool               // its subscription changed
	unknown      bool               // it names an unknown workspace
	subscription state.Subscription // after the event
	plans        map[string]string  // new plans, by workspace
	overridden   []string           // workspaces whose plan an operator set
}

// take stores an event, its subscription, the changed plans and the audit log entries
// in one transaction.
func (h *Handler) take(ctx context.Context, e *event) error {
	var c change
	err := h.DB.Write(ctx, func(tx *state.Tx) (err error) {
		c, err = h.apply(ctx, tx, e)
		return err
	})
	if err == nil {
		h.log(e, &c)
	}
	return err
}

func (h *Handler) apply(ctx context.Context, tx *state.Tx, e *event) (change, error) {
	c := change{plans: map[string]string{}}
	fresh, err := tx.AddBillingEvent(ctx, e.id, e.kind, e.at)
	if err != nil || !fresh {
		c.repeated = true
		return c, err
	}
	workspace, err := find(ctx, tx, e.names)
	if err != nil {
		return c, err
	}
	s, err := tx.Subscription(ctx, e.subscription)
	if err != nil {
		return c, err
	}
	was := *s
	c.changed = e.change(s, workspace)
	c.unknown = e.names != "" && workspace == "" && (c.changed || e.status == "")
	c.subscription = *s
	if c.changed {
		if err := h.settle(ctx, tx, e, &was, s, &c); err != nil {
			return c, err
		}
	}
	if c.changed || c.unknown {
		err = h.audit(ctx, tx, e, &c)
	}
	return c, err
}

// settle stores a subscription and updates the plans of its former and present
// workspace.
func (h *Handler) settle(ctx context.Context, tx *state.Tx, e *event, was, s *state.Subscription, c *change) error {
	workspaces := slices.Compact(slices.Sorted(slices.Values([]string{was.WorkspaceID(), s.WorkspaceID()}))) // locked in one order
	before := map[string]state.PlanState{}
	for _, id := range workspaces {
		st, err := tx.PlanState(ctx, id)
		if errors.Is(err, state.ErrNotFound) {
			continue // no workspace, or a deleted one
		}
		if err != nil {
			return err
		}
		before[id] = st
	}
	if err := tx.SaveSubscription(ctx, s); err != nil {
		return err
	}
	for id, b := range before {
		now, err := tx.PlanState(ctx, id)
		if err != nil {
			return err
		}
		if began := now.Pays && !b.Pays; began && now.OperatorPlan == state.PlanFree && !e.at.Before(now.OperatorPlanAt) {
			now.OperatorPlan = ""
			if err := tx.SetOperatorPlan(ctx, id, now.OperatorPlan, h.Now()); err != nil {
				return err
			}
		}
		if due := now.Due(); due != now.Plan {
			if err := tx.SetPlanOf(ctx, id, due); err != nil {
				return err
			}
			c.plans[id] = due
		} else if now.Pays != b.Pays && now.Pays != (due == state.PlanPaid) {
			c.overridden = append(c.overridden, id)
		}
	}
	return nil
}

// find returns the id of the workspace with a slug or id, or "".
func find(ctx context.Context, tx *state.Tx, name string) (string, error) {
	if !isName(name) {
		return "", nil
	}
	for _, by := range []func(context.Context, string) (*state.Workspace, error){tx.WorkspaceBySlug, tx.Workspace} {
		w, err := by(ctx, name)
		if err == nil {
			return w.ID, nil
		}
		if !errors.Is(err, state.ErrNotFound) {
			return "", err
		}
	}
	return "", nil
}

// isName reports whether a text has the form of a workspace's slug or id. Other texts
// in a billing system may be a person's address, so they are not logged.
func isName(s string) bool {
	for _, r := range s {
		if r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// audit writes a line for the subscription, and one for each further workspace
// whose plan changed.
func (h *Handler) audit(ctx context.Context, tx *state.Tx, e *event, c *change) error {
	about := []string{c.subscription.WorkspaceID()}
	for id := range c.plans {
		if id != about[0] {
			about = append(about, id)
		}
	}
	for _, id := range about {
		detail := map[string]string{"subscription": e.subscription, "billing_event": e.id, "kind": e.kind}
		if c.subscription.Status != "" {
			detail["status"] = c.subscription.Status
		}
		if plan := c.plans[id]; plan != "" {
			detail["plan"] = plan
		}
		if slices.Contains(c.overridden, id) {
			detail["kept"] = "an operator set the plan"
		}
		if c.unknown {
			detail["unmatched"] = "it names an unknown workspace"
		}
		if err := tx.Audit(ctx, state.AuditEntry{ID: h.Secrets.ID("aud_"), At: h.Now(), Event: "billing.subscription", WorkspaceID: id, Detail: detail}); err != nil {
			return err
		}
	}
	return nil
}

// log logs the effect of an event; problems for the operator are warnings.
func (h *Handler) log(e *event, c *change) {
	log := h.Log.With("billing_event", e.id, "kind", e.kind, "subscription", e.subscription)
	switch {
	case c.repeated:
		log.Debug("repeated billing event ignored")
	case c.unknown:
		log.Warn("a subscription names an unknown workspace: put its slug into the subscription's metadata, as workspace", "names", shown(e.names))
	case !c.changed:
		log.Debug("billing event without changes")
	case c.subscription.WorkspaceID() == "":
		log.Info("a subscription names no workspace; its checkout may name it")
	}
	for _, id := range c.overridden {
		log.Warn("billing and plan differ: the plan that an operator set remains; admin plan WORKSPACE billed returns it to billing", "workspace", id)
	}
	for id, plan := range c.plans {
		log.Info("plan changed by billing", "workspace", id, "plan", plan)
	}
}

// shown is the part of a name that may be logged.
func shown(name string) string {
	if isName(name) {
		return name
	}
	return "(not a slug)"
}
