package state

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/store/identity"
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
	case EraseEval:
		_, err := tx.exec(ctx, "delete from eval_schedule where eval_id = $1", id)
		return err
	}
	return nil
}

func (tx *Tx) exists(ctx context.Context, kind, id string) error {
	table, known := map[string]string{EraseAccount: "account", EraseWorkspace: "workspace", EraseEval: "eval", EraseRun: "eval_run"}[kind]
	if !known {
		return fmt.Errorf("%q cannot be erased", kind)
	}
	var found string
	err := tx.one(ctx, []any{&found}, "select id from "+table+" where id = $1"+tx.lock(), id)
	if kind == EraseRun && errors.Is(err, ErrNotFound) { // an incomplete upload is no run yet
		return tx.one(ctx, []any{&found}, "select id from eval_upload where id = $1"+tx.lock(), id)
	}
	return err
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

// cutOffWorkspace takes a workspace's members, keys, agents, schedules and webhooks away.
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
		"delete from member where workspace_id = $1",
		"delete from invitation where workspace_id = $1",
		"delete from eval_schedule where workspace_id = $1",
		"delete from pick_watch where workspace_id = $1",
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

// cutOffAccount ends the sessions and memberships of an account, and requests the erasure of
// the workspaces that have no owner without it.
func (tx *Tx) cutOffAccount(ctx context.Context, id string, now time.Time) error {
	if _, err := tx.exec(ctx, "update account set disabled_at = 1 where id = $1 and disabled_at = 0", id); err != nil {
		return err
	}
	workspaces, err := tx.texts(ctx, "select workspace_id from member where account_id = $1 order by workspace_id", id)
	if err != nil {
		return err
	}
	for _, w := range workspaces {
		if err := tx.cutOffMember(ctx, w, id, now); err != nil {
			return err
		}
	}
	same, err := tx.texts(ctx, `select o.id from account o join account a on a.email_mac = o.email_mac where a.id = $1 and o.id <> a.id and o.verified_at = 0
		and length(a.email_mac) > 0 and not exists (select 1 from erasure e where e.subject = o.id)`, id) // accounts that an issuer made for the address
	if err != nil {
		return err
	}
	for _, other := range same {
		if err := tx.RequestErasure(ctx, EraseAccount, other, now); err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	for _, query := range []string{
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

// cutOffMember ends the membership of an account that is erased, with the keys that it
// created. A workspace that it alone owned is erased with it; a disabled owner is one.
func (tx *Tx) cutOffMember(ctx context.Context, workspace, account string, now time.Time) error {
	if err := tx.LockWorkspace(ctx, workspace); err != nil {
		return ignoreNotFound(err)
	}
	role, err := tx.Role(ctx, workspace, account)
	if err != nil {
		return ignoreNotFound(err)
	}
	if err := tx.DropMember(ctx, workspace, account); err != nil {
		return err
	}
	var next string
	err = tx.one(ctx, []any{&next}, "select account_id from member where workspace_id = $1 and role = 'owner' order by since, account_id limit 1", workspace)
	switch {
	case errors.Is(err, ErrNotFound) && role == identity.Owner:
		return tx.RequestErasure(ctx, EraseWorkspace, workspace, now)
	case err != nil:
		return ignoreNotFound(err)
	}
	if _, err := tx.RevokeKeysOf(ctx, workspace, account, now); err != nil {
		return err
	}
	if _, err := tx.exec(ctx, "update workspace set owner_id = $2 where id = $1 and owner_id = $3", workspace, next, account); err != nil {
		return err
	}
	if err := tx.SettleOwners(ctx, workspace); !errors.Is(err, ErrNoOwner) {
		return err
	}
	return nil // its owners are disabled
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
		if name != "" && Names(text, strings.ToLower(name)) {
			return true
		}
	}
	return false
}

// Names reports whether a text has a name, an address or an id, that is not a part of a
// longer one: kim@acme.dev is not im@acme.dev.
func Names(text, name string) bool {
	part := func(c byte) bool {
		return c == '_' || c == '-' || c == '+' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
	}
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(name)
		before, after := strings.TrimSuffix(text[:from], "."), text[to:]
		if len(after) > 1 && after[0] == '.' {
			after = after[1:]
		}
		if (before == "" || !part(before[len(before)-1])) && (after == "" || !part(after[0])) {
			return true
		}
		at = from + 1
	}
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

// ErasuresDone returns how many erasures have no rows any more; it only grows.
func (tx *Tx) ErasuresDone(ctx context.Context) (n int, err error) {
	err = tx.one(ctx, []any{&n}, "select count(*) from erasure where erased_at > 0")
	return n, err
}

// CanErase fails with ErrNotFound when there is no such thing.
func (tx *Tx) CanErase(ctx context.Context, kind, id string) error { return tx.exists(ctx, kind, id) }

// Bundles returns the results of all runs, as WORKSPACE/BUNDLE.
func (tx *Tx) Bundles(ctx context.Context) ([]string, error) {
	return tx.texts(ctx, "select distinct workspace_id || '/' || bundle from eval_run where bundle <> ''")
}
