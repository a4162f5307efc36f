package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/state"
)

// workspace finds a workspace by its slug or id.
func (o *adminOptions) workspace(ctx context.Context, name string) (*state.Workspace, error) {
	tx := o.svc.DB.Read()
	w, err := tx.WorkspaceBySlug(ctx, name)
	if errors.Is(err, state.ErrNotFound) {
		w, err = tx.Workspace(ctx, name)
	}
	if errors.Is(err, state.ErrNotFound) {
		return nil, usageErr("firstpick admin workspaces lists them", "no workspace %s", name)
	}
	return w, err
}

// evalKeys returns the service that creates and revokes keys, and an operator in a workspace.
func (o *adminOptions) evalKeys(ctx context.Context, workspace string) (*evals.Service, evals.Actor, error) {
	w, err := o.workspace(ctx, workspace)
	if err != nil {
		return nil, evals.Actor{}, err
	}
	return &evals.Service{DB: o.svc.DB, Secrets: o.svc.Secrets, Log: o.log, Now: o.env.Now, Plans: o.plans(), BaseURL: o.svc.BaseURL}, evals.Actor{Workspace: w}, nil
}

// refused turns a rejected request into an error of the command line.
func refused(err error, hint string) error {
	var e *apierr.Error
	if errors.As(err, &e) && e.Status < 500 {
		return usageErr(hint, "%s", e.Description)
	}
	return err
}

func (o *adminOptions) keyCreate(ctx context.Context, args []string) error {
	svc, actor, err := o.evalKeys(ctx, args[0])
	if err != nil {
		return err
	}
	k, secret, err := svc.CreateKey(ctx, actor, evals.KeyRequest{Label: o.label, Scopes: o.scopes})
	if err != nil {
		hint := ""
		if e := apierr.Of(err); e.Code == "plan_required" {
			hint = "firstpick admin plan " + actor.Workspace.Slug + " paid"
		}
		return refused(err, hint)
	}
	_, _ = fmt.Fprintln(o.env.Stdout, secret)
	o.notef("secret, shown only once: a key to %s the evals of %s", strings.Join(k.Scopes, " and "), actor.Workspace.Slug)
	o.notef("firstpick admin eval-key revoke %s %s revokes it", actor.Workspace.Slug, k.ID)
	return nil
}

// An evalKeyView is an eval key as scripts read it.
type evalKeyView struct {
	ID         string     `json:"id"`
	Label      string     `json:"label"`
	Shown      string     `json:"shown"` // how it begins and ends
	Scopes     []string   `json:"scopes"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	RevokedAt  *time.Time `json:"revoked_at"`
}

func (o *adminOptions) keyList(ctx context.Context, args []string) error {
	svc, actor, err := o.evalKeys(ctx, args[0])
	if err != nil {
		return err
	}
	list, err := svc.Keys(ctx, actor)
	if err != nil {
		return refused(err, "")
	}
	if o.json {
		views := make([]evalKeyView, 0, len(list))
		for _, k := range list {
			views = append(views, evalKeyView(*k))
		}
		return printJSON(o.env, map[string]any{"keys": views})
	}
	t := table{header: []string{"key", "label", "begins and ends", "scopes", "created", "last used", "revoked"}}
	for _, k := range list {
		t.add(k.ID, k.Label, k.Shown, strings.Join(k.Scopes, " "), k.CreatedAt.Format(time.RFC3339), orDash(k.LastUsedAt), orDash(k.RevokedAt))
	}
	return t.print(o.env, o.format)
}

// bindKey says where a provider key may be sent.
func (o *adminOptions) bindKey(ctx context.Context, args []string) error {
	svc, actor, err := o.evalKeys(ctx, args[0])
	if err != nil {
		return err
	}
	k, err := svc.SetProviderKey(ctx, actor, evals.KeyChange{Name: args[1], Hosts: args[2:]})
	if err != nil {
		return refused(err, "")
	}
	o.notef("%s of %s is bound to %s", k.Name, actor.Workspace.Slug, strings.Join(k.Hosts, ", "))
	return nil
}

func orDash(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.Format(time.RFC3339)
}

func (o *adminOptions) keyRevoke(ctx context.Context, args []string) error {
	svc, actor, err := o.evalKeys(ctx, args[0])
	if err != nil {
		return err
	}
	if err := svc.RevokeKey(ctx, actor, args[1]); err != nil {
		return refused(err, "firstpick admin eval-key list "+actor.Workspace.Slug)
	}
	o.notef("%s is revoked", args[1])
	return nil
}

// A workspaceView is a workspace as scripts read it.
type workspaceView struct {
	ID         string    `json:"id"`
	Slug       string    `json:"slug"`
	Plan       string    `json:"plan"`
	SetBy      string    `json:"set_by"`     // operator or billing
	Subscribed bool      `json:"subscribed"` // a subscription pays for it
	Owned      bool      `json:"owned"`
	State      string    `json:"state"` // unclaimed, claimed, expired
	CreatedAt  time.Time `json:"created_at"`
	Site       string    `json:"site,omitempty"`
	Evals      int       `json:"evals"`
	Queued     int       `json:"queued_runs"`
	Open       int       `json:"open_runs"` // queued and running
}

func (o *adminOptions) workspaces(ctx context.Context, _ []string) error {
	list, err := o.svc.DB.Read().AllWorkspaces(ctx)
	if err != nil {
		return err
	}
	now := o.env.Now()
	views := make([]workspaceView, 0, len(list))
	for _, w := range list {
		setBy := "billing"
		if w.OperatorPlan != "" {
			setBy = "operator"
		}
		views = append(views, workspaceView{
			ID: w.ID, Slug: w.Slug, Plan: w.Plan, SetBy: setBy, Subscribed: w.Subscribed, Owned: w.OwnerID != "", State: w.State(now), CreatedAt: w.CreatedAt, Site: w.Site,
			Evals: w.Evals, Queued: w.Queued, Open: w.Open,
		})
	}
	if o.json {
		return printJSON(o.env, map[string]any{"workspaces": views})
	}
	t := table{header: []string{"workspace", "plan", "set by", "subscribed", "owned", "state", "created", "site", "evals", "queued runs", "open runs"}}
	for _, v := range views {
		t.add(v.Slug, v.Plan, v.SetBy, yesNo(v.Subscribed), yesNo(v.Owned), v.State, v.CreatedAt.Format(time.RFC3339), cmp.Or(v.Site, "-"),
			strconv.Itoa(v.Evals), strconv.Itoa(v.Queued), strconv.Itoa(v.Open))
	}
	return t.print(o.env, o.format)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
