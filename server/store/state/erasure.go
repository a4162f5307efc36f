package state

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// An Erasure is the deletion of an account, workspace, eval or run with everything that
// belongs to it. It is requested in a transaction, and carried out step by step; each step
// may run again.
type Erasure struct {
	Mark        string // keyed hash of kind and id
	Kind        string
	Subject     string // the id; empty once the rows are deleted
	RequestedAt time.Time
	ErasedAt    time.Time // the rows are deleted
	ScrubbedAt  time.Time // the bytes have left the file of the store
}

// EraseMark names an erased thing without its id. Only holders of the master key can tell
// whether a mark is of an id.
func (db *DB) EraseMark(kind, id string) string {
	return hex.EncodeToString(db.vault.MAC("erasure", kind, id))
}

// alias is what the audit log keeps of an erased id: entries of one thing stay together.
func (db *DB) alias(kind, id string) string { return "erased:" + db.EraseMark(kind, id)[:16] }

// RequestErasure requests the erasure of a thing and cuts it off at once: keys, sessions
// and agents stop working, runs are cancelled, mails are not sent. It fails with ErrNotFound
// when the thing does not exist. An account takes its workspaces with it.
func (tx *Tx) RequestErasure(ctx context.Context, kind, id string, now time.Time) error {
	if err := tx.exists(ctx, kind, id); err != nil {
		return err
	}
	if err := tx.addErasure(ctx, kind, id, id, now, time.Time{}); err != nil {
		return err
	}
	where := map[string]string{EraseWorkspace: "workspace_id = $1", EraseEval: "eval_id = $1", EraseRun: "id = $1"}[kind]
	if where != "" {
		if err := tx.cancelRuns(ctx, where, id, now); err != nil {
			return err
		}
	}
	switch kind {
	case EraseWorkspace:
		return tx.cutOffWorkspace(ctx, id)
	case EraseAccount:
		return tx.cutOffAccount(ctx, id, now)
	}
	return nil
}

func (tx *Tx) exists(ctx context.Context, kind, id string) error {
	table, known := map[string]string{EraseAccount: "account", EraseWorkspace: "workspace", EraseEval: "eval", EraseRun: "eval_run"}[kind]
	if !known {
		return fmt.Errorf("%q cannot be erased", kind)
	}
	var found string
	return tx.one(ctx, []any{&found}, "select id from "+table+" where id = $1"+tx.lock(), id)
}

func (tx *Tx) addErasure(ctx context.Context, kind, id, subject string, now, erased time.Time) error {
	_, err := tx.exec(ctx, `insert into erasure (mark, kind, subject, requested_at, erased_at, scrubbed_at) values ($1, $2, $3, $4, $5, 0)
		on conflict (mark) do update set subject = excluded.subject, erased_at = excluded.erased_at, scrubbed_at = 0`,
		tx.db.EraseMark(kind, id), kind, subject, us(now), us(erased))
	return err
}

func (tx *Tx) cancelRuns(ctx context.Context, where, id string, now time.Time) error {
	_, err := tx.exec(ctx, `update eval_run set cancel_asked = case when cancel_asked = 0 then $2 else cancel_asked end,
		ended_at = case when status = 'queued' then $2 else ended_at end, status = case when status = 'queued' then 'cancelled' else status end
		where `+where+` and ended_at = 0`, id, us(now))
	return err
}

// cutOffWorkspace takes a workspace's owner, keys, agents and webhooks away.
func (tx *Tx) cutOffWorkspace(ctx context.Context, id string) error {
	names, err := tx.eraseNames(ctx, EraseWorkspace, id)
	if err != nil {
		return err
	}
	if err := tx.eraseAudit(ctx, EraseWorkspace, id); err != nil { // while its agents are known
		return err
	}
	for _, query := range []string{
		"update workspace set owner_id = '' where id = $1",
		"delete from collector_key where workspace_id = $1",
		"delete from eval_key where workspace_id = $1",
		"delete from registration where workspace_id = $1",
		"delete from alert_delivery where workspace_id = $1",
		"delete from alert_channel where workspace_id = $1",
		"delete from alert_watch where workspace_id = $1",
	} {
		if _, err := tx.exec(ctx, query, id); err != nil {
			return err
		}
	}
	return tx.eraseSealed(ctx, names)
}

// cutOffAccount ends the sessions of an account, and requests the erasure of its workspaces.
func (tx *Tx) cutOffAccount(ctx context.Context, id string, now time.Time) error {
	workspaces, err := tx.Workspaces(ctx, id)
	if err != nil {
		return err
	}
	for _, w := range workspaces {
		if err := tx.RequestErasure(ctx, EraseWorkspace, w.ID, now); err != nil {
			return err
		}
	}
	var same []string // accounts that an issuer made for the address
	if err := tx.list(ctx, func(row scanner) error {
		var other string
		err := row.Scan(&other)
		same = append(same, other)
		return err
	}, `select o.id from account o join account a on a.email_mac = o.email_mac where a.id = $1 and o.id <> a.id and o.verified_at = 0
		and length(a.email_mac) > 0 and not exists (select 1 from erasure e where e.subject = o.id)`, id); err != nil {
		return err
	}
	for _, other := range same {
		if err := tx.RequestErasure(ctx, EraseAccount, other, now); err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	for _, query := range []string{
		"update account set disabled_at = 1 where id = $1 and disabled_at = 0",
		"delete from session where account_id = $1",
		"delete from sign_in_identity where account_id = $1",
	} {
		if _, err := tx.exec(ctx, query, id); err != nil {
			return err
		}
	}
	names, err := tx.eraseNames(ctx, EraseAccount, id)
	if err != nil {
		return err
	}
	return tx.eraseSealed(ctx, names)
}

// EraseNames returns the texts by which files and mails may name a thing: its ids, slug and
// address. It returns none when the thing does not exist any more.
func (tx *Tx) EraseNames(ctx context.Context, kind, id string) ([]string, error) {
	return tx.eraseNames(ctx, kind, id)
}

func (tx *Tx) eraseNames(ctx context.Context, kind, id string) ([]string, error) {
	names := []string{id}
	switch kind {
	case EraseAccount:
		a, err := tx.Account(ctx, id)
		if err != nil {
			return names, ignoreNotFound(err)
		}
		if a.Email != "" {
			names = append(names, a.Email)
		}
	case EraseWorkspace:
		w, err := tx.Workspace(ctx, id)
		if err != nil {
			return names, ignoreNotFound(err)
		}
		names = append(names, w.Slug)
	}
	return names, nil
}

// eraseSealed deletes the mails and sign-in links that hold one of the texts. Their
// addresses are sealed, so each is opened; there are few.
func (tx *Tx) eraseSealed(ctx context.Context, names []string) error {
	for _, t := range []struct{ table, key, column, purpose string }{
		{"outbox", "id", "mail_sealed", "mail"}, {"sign_in", "hash", "email_sealed", "email"},
	} {
		var keys []any
		if err := tx.list(ctx, func(row scanner) error {
			var key any
			var sealed []byte
			if err := row.Scan(&key, &sealed); err != nil {
				return err
			}
			text, err := tx.open(t.purpose, sealed)
			if err == nil && holdsAny(text, names) {
				keys = append(keys, key)
			}
			return err
		}, "select "+t.key+", "+t.column+" from "+t.table); err != nil {
			return err
		}
		for _, key := range keys {
			if _, err := tx.exec(ctx, "delete from "+t.table+" where "+t.key+" = $1", key); err != nil {
				return err
			}
		}
	}
	return nil
}

// holdsAny reports whether a text holds one of the names, in any case.
func holdsAny(text string, names []string) bool {
	text = strings.ToLower(text)
	for _, name := range names {
		if name != "" && strings.Contains(text, strings.ToLower(name)) {
			return true
		}
	}
	return false
}

const erasureColumns = "mark, kind, subject, requested_at, erased_at, scrubbed_at"

// Erasures returns all erasures, or those that are not finished, in the order of their
// requests.
func (tx *Tx) Erasures(ctx context.Context, open bool) ([]Erasure, error) {
	where := ""
	if open {
		where = " where scrubbed_at = 0"
	}
	var out []Erasure
	err := tx.list(ctx, func(row scanner) error {
		var e Erasure
		var requested, erased, scrubbed int64
		err := row.Scan(&e.Mark, &e.Kind, &e.Subject, &requested, &erased, &scrubbed)
		e.RequestedAt, e.ErasedAt, e.ScrubbedAt = fromUS(requested), fromUS(erased), fromUS(scrubbed)
		out = append(out, e)
		return err
	}, "select "+erasureColumns+" from erasure"+where+" order by requested_at, mark")
	return out, err
}

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
			if err := errors.Join(tx.addErasure(ctx, EraseRun, r.ID, "", now, now), tx.eraseAudit(ctx, EraseRun, r.ID)); err != nil {
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
	if e.Kind != EraseWorkspace {
		return nil
	}
	var evals []string
	if err := tx.list(ctx, func(row scanner) error {
		var id string
		err := row.Scan(&id)
		evals = append(evals, id)
		return err
	}, "select id from eval where workspace_id = $1", e.Subject); err != nil {
		return err
	}
	for _, id := range evals {
		if err := errors.Join(tx.addErasure(ctx, EraseEval, id, "", now, now), tx.eraseAudit(ctx, EraseEval, id)); err != nil {
			return err
		}
	}
	return nil
}

// eraseAudit replaces an id in the audit log by its alias, and removes the details and
// network addresses of its entries. What happened, and when, stays.
func (tx *Tx) eraseAudit(ctx context.Context, kind, id string) error {
	alias := tx.db.alias(kind, id)
	for _, h := range holdings() {
		column := map[string]string{EraseAccount: "account_id", EraseWorkspace: "workspace_id"}[kind]
		where := h.rows[kind]
		if h.table != "registration" || column == "" {
			continue
		}
		const without = "registration_id = '', ip = '', iss = '', detail = 'null'"
		if _, err := tx.exec(ctx, "update audit set "+without+" where registration_id in (select id from registration where "+where+")", id); err != nil {
			return err
		}
		if _, err := tx.exec(ctx, "update audit set "+column+" = $2, "+without+" where "+column+" = $1", id, alias); err != nil {
			return err
		}
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
// that is.
func (db *DB) ApplyErasures(ctx context.Context, list []Erasure, now time.Time) (int, error) {
	n := 0
	err := db.bulk(ctx, func(tx *Tx) error {
		n = 0
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
				if err := tx.RequestErasure(ctx, t.kind, id, now); err != nil {
					return err
				}
				n++
			}
		}
		return nil
	})
	return n, err
}
