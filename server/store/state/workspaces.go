package state

import "context"

// A WorkspaceRow is a workspace as an operator lists it.
type WorkspaceRow struct {
	Workspace
	OperatorPlan string // the plan that an operator set; empty where billing decides
	Subscribed   bool   // a subscription pays for it
	Evals        int
	Queued, Open int // runs that wait, and all that have not ended
}

// AllWorkspaces returns every workspace, oldest first.
func (tx *Tx) AllWorkspaces(ctx context.Context) ([]*WorkspaceRow, error) {
	var out []*WorkspaceRow
	err := tx.list(ctx, func(row scanner) error {
		var r WorkspaceRow
		var paying int
		w, err := scanWorkspace(func(dest ...any) error {
			return row.Scan(append(dest, &r.OperatorPlan, &paying, &r.Evals, &r.Queued, &r.Open)...)
		})
		if err != nil {
			return err
		}
		r.Workspace, r.Subscribed = *w, paying > 0
		out = append(out, &r)
		return nil
	}, "select "+workspaceColumns+`, plan_said,
		(select count(*) from billing_subscription b where b.pays = 1 and (b.named_id = workspace.id or b.named_id = '' and b.bought_id = workspace.id)),
		(select count(*) from eval e where e.workspace_id = workspace.id),
		(select count(*) from eval_run r where r.workspace_id = workspace.id and r.ended_at = 0 and r.status = 'queued'),
		(select count(*) from eval_run r where r.workspace_id = workspace.id and r.ended_at = 0)
		from workspace order by created_at, id`)
	return out, err
}
