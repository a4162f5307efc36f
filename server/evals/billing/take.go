package billing

import (
	"context"
	"errors"
	"slices"

	"github.com/firstpick/firstpick/server/store/state"
)

// A change is what an event did, for the log.
type change struct {
	repeated     bool               // it came before
	changed      bool               // it told something of its subscription
	unknown      bool               // it names a workspace that is not there
	subscription state.Subscription // as it is now
	plans        map[string]string  // that were set, by workspace
	kept         []string           // workspaces whose plan is an operator's, not this
}

// take stores what an event tells, in one transaction with the note that it came,
// the plans that it changes, and the lines of the audit log.
func (h *Handler) take(ctx context.Context, e *event) error {
	var c change
	err := h.DB.Write(ctx, func(tx *state.Tx) (err error) {
		c, err = h.apply(ctx, tx, e)
		return err
	})
	if err == nil {
		h.tell(e, &c)
	}
	return err
}

func (h *Handler) apply(ctx context.Context, tx *state.Tx, e *event) (change, error) {
	c := change{plans: map[string]string{}}
	fresh, err := tx.TakeBillingEvent(ctx, e.id, e.kind, e.at)
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

// settle stores a subscription and gives the workspaces whose it was and is the plan
// that is due.
func (h *Handler) settle(ctx context.Context, tx *state.Tx, e *event, was, s *state.Subscription, c *change) error {
	workspaces := slices.Compact(slices.Sorted(slices.Values([]string{was.WorkspaceID(), s.WorkspaceID()}))) // locked in one order
	before := map[string]state.Standing{}
	for _, id := range workspaces {
		st, err := tx.Standing(ctx, id)
		if errors.Is(err, state.ErrNotFound) {
			continue // none, or deleted
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
		now, err := tx.Standing(ctx, id)
		if err != nil {
			return err
		}
		if began := now.Pays && !b.Pays; began && now.Said == state.PlanFree && !e.at.Before(now.SaidAt) {
			now.Said = ""
			if err := tx.SayPlan(ctx, id, now.Said, h.Now()); err != nil {
				return err
			}
		}
		if due := now.Due(); due != now.Plan {
			if err := tx.SetPlanOf(ctx, id, due); err != nil {
				return err
			}
			c.plans[id] = due
		} else if now.Pays != b.Pays && now.Pays != (due == state.PlanPaid) {
			c.kept = append(c.kept, id)
		}
	}
	return nil
}

// find returns the id of the workspace with a slug or id, and "" for none.
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

// isName says whether a text may be the slug or id of a workspace. What else
// stands in a billing system may be an address of a person, and is not repeated.
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
		if slices.Contains(c.kept, id) {
			detail["kept"] = "an operator set the plan"
		}
		if c.unknown {
			detail["unmatched"] = "it names no workspace that is here"
		}
		if err := tx.Audit(ctx, state.AuditEntry{ID: h.Secrets.ID("aud_"), At: h.Now(), Event: "billing.subscription", WorkspaceID: id, Detail: detail}); err != nil {
			return err
		}
	}
	return nil
}

// tell logs what an event did; what an operator should look at is a warning.
func (h *Handler) tell(e *event, c *change) {
	log := h.Log.With("billing_event", e.id, "kind", e.kind, "subscription", e.subscription)
	switch {
	case c.repeated:
		log.Debug("a billing event came again")
	case c.unknown:
		log.Warn("a subscription names a workspace that is not here: put its slug into the subscription's metadata, as workspace", "names", shown(e.names))
	case !c.changed:
		log.Debug("a billing event tells nothing new")
	case c.subscription.WorkspaceID() == "":
		log.Info("a subscription names no workspace; its checkout may tell")
	}
	for _, id := range c.kept {
		log.Warn("billing and plan differ: an operator set the plan, and that stands; admin plan WORKSPACE billed leaves it to billing", "workspace", id)
	}
	for id, plan := range c.plans {
		log.Info("billing changed a plan", "workspace", id, "plan", plan)
	}
}

// shown is the part of a name that may stand in a log.
func shown(name string) string {
	if isName(name) {
		return name
	}
	return "(no slug)"
}
