package state

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// DropWorkspaceEvents deletes all events of a workspace, in short transactions.
func (db *DB) DropWorkspaceEvents(ctx context.Context, workspace string) error {
	last, err := db.Read().LastSeq(ctx)
	if err != nil {
		return err
	}
	for after := int64(-1); after < last; after += EventSpan {
		if err := db.Write(ctx, func(tx *Tx) error {
			_, err := tx.DropEvents(ctx, workspace, time.UnixMicro(math.MaxInt64), after)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// EraseRows deletes the rows of a requested erasure, and reports false while a worker has
// one of its runs. The audit entry gets the id that is given.
func (tx *Tx) EraseRows(ctx context.Context, e Erasure, auditID string, now time.Time) (bool, error) {
	var subject string
	err := tx.one(ctx, []any{&subject}, "select subject from erasure where mark = $1 and erased_at = 0"+tx.lock(), tx.db.EraseMark(e.Kind, e.Subject))
	if errors.Is(err, ErrNotFound) { // another process was faster
		return true, nil
	}
	if err != nil {
		return false, err
	}
	runs, err := tx.runsOf(ctx, e)
	if err != nil {
		return false, err
	}
	for _, r := range runs {
		if r.EndedAt.IsZero() && r.LeaseUntil.After(now) {
			return false, tx.cancelRuns(ctx, "id = $1", r.ID, now)
		}
	}
	if err := tx.eraseChildren(ctx, e, runs, now); err != nil {
		return false, err
	}
	if err := tx.eraseAudit(ctx, e.Kind, e.Subject); err != nil {
		return false, err
	}
	names, err := tx.eraseNames(ctx, e.Kind, e.Subject)
	if err != nil {
		return false, err
	}
	for _, r := range runs {
		names = append(names, r.ID)
	}
	if err := tx.eraseSealed(ctx, names); err != nil {
		return false, err
	}
	list := holdings()
	for _, h := range list {
		if set := h.clear[e.Kind]; set != "" {
			if _, err := tx.exec(ctx, "update "+h.table+" set "+set, e.Subject); err != nil {
				return false, fmt.Errorf("table %s: %w", h.table, err)
			}
		}
		if where := h.rows[e.Kind]; where != "" {
			if _, err := tx.exec(ctx, "delete from "+h.table+" where "+where, e.Subject); err != nil {
				return false, fmt.Errorf("table %s: %w", h.table, err)
			}
		}
	}
	entry := AuditEntry{ID: auditID, At: now, Event: e.Kind + ".erased"}
	switch alias := tx.db.alias(e.Kind, e.Subject); e.Kind {
	case EraseAccount:
		entry.AccountID = alias
	case EraseWorkspace:
		entry.WorkspaceID = alias
	default:
		entry.Detail = map[string]string{e.Kind: alias}
	}
	return true, errors.Join(tx.Audit(ctx, entry), tx.addErasure(ctx, e.Kind, e.Subject, "", e.RequestedAt, now))
}

func (tx *Tx) runsOf(ctx context.Context, e Erasure) ([]*EvalRun, error) {
	where, has := map[string]string{EraseWorkspace: "workspace_id = $1", EraseEval: "eval_id = $1", EraseRun: "id = $1"}[e.Kind]
	if !has {
		return nil, nil
	}
	var out []*EvalRun
	err := tx.list(ctx, func(row scanner) error {
		r, err := scanRun(row.Scan)
		out = append(out, r)
		return err
	}, "select "+runColumns+" from eval_run where "+where+tx.lock(), e.Subject)
	return out, err
}

// eraseChildren marks the runs of an erasure and their results, so that every server
// deletes the files.
func (tx *Tx) eraseChildren(ctx context.Context, e Erasure, runs []*EvalRun, now time.Time) error {
	going := map[string]int{} // runs of a bundle that are erased
	for _, r := range runs {
		going[r.WorkspaceID+"/"+r.Bundle]++
	}
	for _, r := range runs {
		if e.Kind != EraseRun {
			if err := tx.addErasure(ctx, EraseRun, r.ID, "", now, now); err != nil {
				return err
			}
		}
		if e.Kind == EraseEval { // those of a workspace have no details any more
			if err := tx.eraseAudit(ctx, EraseRun, r.ID); err != nil {
				return err
			}
		}
		if r.Bundle == "" {
			continue
		}
		n := 0
		if err := tx.one(ctx, []any{&n}, "select count(*) from eval_run where workspace_id = $1 and bundle = $2", r.WorkspaceID, r.Bundle); err != nil {
			return err
		}
		if key := r.WorkspaceID + "/" + r.Bundle; n == going[key] {
			if err := tx.addErasure(ctx, EraseBundle, key, "", now, now); err != nil {
				return err
			}
		}
	}
	if where, has := map[string]string{EraseWorkspace: "workspace_id = $1", EraseEval: "eval_id = $1"}[e.Kind]; has {
		uploads, err := tx.texts(ctx, "select id from eval_upload where completed_at = 0 and "+where, e.Subject)
		if err != nil {
			return err
		}
		for _, id := range uploads { // they are no runs yet
			if err := tx.addErasure(ctx, EraseRun, id, "", now, now); err != nil {
				return err
			}
		}
	}
	if e.Kind != EraseWorkspace {
		return nil
	}
	evals, err := tx.texts(ctx, "select id from eval where workspace_id = $1", e.Subject)
	if err != nil {
		return err
	}
	for _, id := range evals {
		if err := tx.addErasure(ctx, EraseEval, id, "", now, now); err != nil {
			return err
		}
	}
	return nil
}

// eraseAudit replaces an id in the audit log by its alias, and removes the details and
// network addresses of its entries. What happened, and when, stays.
func (tx *Tx) eraseAudit(ctx context.Context, kind, id string) error {
	alias := tx.db.alias(kind, id)
	if column := map[string]string{EraseAccount: "account_id", EraseWorkspace: "workspace_id"}[kind]; column != "" {
		const without = "registration_id = '', ip = '', iss = '', detail = 'null'"
		if _, err := tx.exec(ctx, "update audit set "+without+" where registration_id in (select id from registration where "+rowsOf("registration", kind)+")", id); err != nil {
			return err
		}
		if _, err := tx.exec(ctx, "update audit set "+column+" = $2, "+without+" where "+column+" = $1", id, alias); err != nil {
			return err
		}
	}
	if table := map[string]string{EraseEval: "eval", EraseRun: "eval_run"}[kind]; table != "" { // with its name
		_, err := tx.exec(ctx, "update audit set detail = $2 where workspace_id = (select workspace_id from "+table+" where id = $1) and detail like $3",
			id, `{"`+kind+`":"`+alias+`"}`, "%"+id+"%")
		return err
	}
	_, err := tx.exec(ctx, "update audit set detail = replace(detail, $1, $2) where detail like $3", id, alias, "%"+id+"%")
	return err
}

// Scrubbed notes that the bytes of an erasure have left the file of the store.
func (tx *Tx) Scrubbed(ctx context.Context, mark string, now time.Time) error {
	_, err := tx.exec(ctx, "update erasure set scrubbed_at = $2 where mark = $1 and erased_at > 0", mark, us(now))
	return err
}

// ApplyErasures enters the marks of an erasure list into a restored store, and requests the
// erasure of everything that the list names and the store holds again. It returns how much
// that is, and the slugs of workspaces whose only owner is erased while they are not: they
// were given to somebody after the backup, and have no owner now.
func (db *DB) ApplyErasures(ctx context.Context, list []Erasure, now time.Time) (n int, ownerless []string, err error) {
	err = db.bulk(ctx, func(tx *Tx) error {
		n, ownerless = 0, nil
		marks := map[string]bool{}
		for _, e := range list {
			marks[e.Mark] = true
			if _, err := tx.exec(ctx, "insert into erasure (mark, kind, subject, requested_at, erased_at, scrubbed_at) values ($1, $2, '', $3, $3, $3) on conflict do nothing",
				e.Mark, e.Kind, us(now)); err != nil {
				return err
			}
		}
		for _, t := range []struct{ kind, table string }{{EraseAccount, "account"}, {EraseWorkspace, "workspace"}, {EraseEval, "eval"}, {EraseRun, "eval_run"}} {
			var ids []string
			if err := tx.list(ctx, func(row scanner) error {
				var id string
				err := row.Scan(&id)
				if marks[db.EraseMark(t.kind, id)] {
					ids = append(ids, id)
				}
				return err
			}, "select id from "+t.table); err != nil {
				return err
			}
			for _, id := range ids {
				if t.kind == EraseAccount {
					slugs, err := tx.disown(ctx, id, marks, now)
					if err != nil {
						return err
					}
					ownerless = append(ownerless, slugs...)
				}
				if err := tx.RequestErasure(ctx, t.kind, id, now); err != nil {
					return err
				}
				n++
			}
		}
		return nil
	})
	return n, ownerless, err
}

// disown ends the ownership of an account in the workspaces that it alone owns and that no
// mark names, and returns their slugs: the erasure of the account would take them with it.
func (tx *Tx) disown(ctx context.Context, account string, marks map[string]bool, now time.Time) (slugs []string, err error) {
	ids, err := tx.texts(ctx, `select workspace_id from member m where account_id = $1 and role = 'owner'
		and not exists (select 1 from member o where o.workspace_id = m.workspace_id and o.role = 'owner' and o.account_id <> $1) order by workspace_id`, account)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if marks[tx.db.EraseMark(EraseWorkspace, id)] {
			continue
		}
		w, err := tx.Workspace(ctx, id)
		if err != nil {
			return nil, err
		}
		if err := tx.DropMember(ctx, id, account); err != nil {
			return nil, err
		}
		if _, err := tx.RevokeKeysOf(ctx, id, account, now); err != nil {
			return nil, err
		}
		if _, err := tx.exec(ctx, "update workspace set owner_id = '' where id = $1", id); err != nil {
			return nil, err
		}
		slugs = append(slugs, w.Slug)
	}
	return slugs, nil
}
