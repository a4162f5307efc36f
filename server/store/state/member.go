package state

import (
	"context"
	"errors"
	"time"

	"github.com/firstpick/firstpick/server/store/identity"
)

// A Member is an account with a role in a workspace.
type Member struct {
	AccountID string
	Email     string // empty where the account is gone
	Role      identity.Role
	Since     time.Time
	Keys      int // live keys, of the collector and of evals, that the member created
}

// A Membership is a workspace with the role of an account in it.
type Membership struct {
	*Workspace
	Role identity.Role
}

// memberColumns are those of a workspace joined with a member.
const memberColumns = workspaceColumns + ", (select role from member m where m.workspace_id = workspace.id and m.account_id = $1)"

func scanMembership(scan func(...any) error) (*Membership, error) {
	var m Membership
	var err error
	m.Workspace, err = scanWorkspace(func(dest ...any) error { return scan(append(dest, &m.Role)...) })
	return &m, err
}

// Membership returns a workspace by its slug with the role of an account. It reports
// ErrNotFound for a workspace without that member. In a transaction it locks the workspace
// first, so that the role holds until commit.
func (tx *Tx) Membership(ctx context.Context, account, slug string) (*Membership, error) {
	if tx.writes {
		var id string
		if err := tx.one(ctx, []any{&id}, "select id from workspace where slug = $1"+tx.lock(), slug); err != nil {
			return nil, err
		}
	}
	return scanMembership(func(dest ...any) error {
		return tx.one(ctx, dest, "select "+memberColumns+" from workspace where slug = $2 and id in (select workspace_id from member where account_id = $1)", account, slug)
	})
}

// Memberships returns the workspaces that an account is a member of, oldest first.
func (tx *Tx) Memberships(ctx context.Context, account string) ([]*Membership, error) {
	var out []*Membership
	err := tx.list(ctx, func(row scanner) error {
		m, err := scanMembership(row.Scan)
		out = append(out, m)
		return err
	}, "select "+memberColumns+" from workspace where id in (select workspace_id from member where account_id = $1) order by created_at, id", account)
	return out, err
}

// Members returns the members of a workspace, the longest first.
func (tx *Tx) Members(ctx context.Context, workspace string) ([]*Member, error) {
	var out []*Member
	err := tx.list(ctx, func(row scanner) error {
		var m Member
		var email []byte
		var since int64
		if err := row.Scan(&m.AccountID, &m.Role, &since, &m.Keys, &email); err != nil {
			return err
		}
		m.Since = fromUS(since)
		out = append(out, &m)
		if len(email) == 0 {
			return nil
		}
		var err error
		m.Email, err = tx.open("email", email)
		return err
	}, `select m.account_id, m.role, m.since,
		(select count(*) from collector_key k where k.workspace_id = m.workspace_id and k.created_by = m.account_id and k.revoked_at = 0) +
		(select count(*) from eval_key k where k.workspace_id = m.workspace_id and k.created_by = m.account_id and k.revoked_at = 0),
		a.email_sealed from member m left join account a on a.id = m.account_id where m.workspace_id = $1 order by m.since, m.account_id`, workspace)
	return out, err
}

// Role returns the role of an account in a workspace, or ErrNotFound.
func (tx *Tx) Role(ctx context.Context, workspace, account string) (identity.Role, error) {
	var r identity.Role
	err := tx.one(ctx, []any{&r}, "select role from member where workspace_id = $1 and account_id = $2", workspace, account)
	return r, err
}

// PutMember gives an account a role in a workspace, in place of the one it had.
func (tx *Tx) PutMember(ctx context.Context, workspace, account string, role identity.Role, now time.Time) error {
	_, err := tx.exec(ctx, `insert into member (workspace_id, account_id, role, since) values ($1, $2, $3, $4)
		on conflict (workspace_id, account_id) do update set role = excluded.role`, workspace, account, string(role), us(now))
	return err
}

// DropMember ends a membership, or reports ErrNotFound.
func (tx *Tx) DropMember(ctx context.Context, workspace, account string) error {
	n, err := tx.exec(ctx, "delete from member where workspace_id = $1 and account_id = $2", workspace, account)
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}

// ErrNoOwner means that a workspace would have no owner who can sign in.
var ErrNoOwner = errors.New("the workspace would have no owner")

// SettleOwners completes a change of members: the account that the workspace's mail goes to
// is an owner, and invitations of accounts that are none are gone. It fails with ErrNoOwner
// when no owner is left whose account is not disabled.
func (tx *Tx) SettleOwners(ctx context.Context, workspace string) error {
	const owners = "select m.account_id from member m join account a on a.id = m.account_id where m.workspace_id = $1 and m.role = 'owner' and a.disabled_at = 0"
	var first string
	err := tx.one(ctx, []any{&first}, owners+" order by m.since, m.account_id limit 1", workspace)
	if errors.Is(err, ErrNotFound) {
		return ErrNoOwner
	} else if err != nil {
		return err
	}
	if _, err := tx.exec(ctx, "update workspace set owner_id = $2 where id = $1 and owner_id not in ("+owners+")", workspace, first); err != nil {
		return err
	}
	_, err = tx.exec(ctx, "delete from invitation where workspace_id = $1 and invited_by not in ("+owners+")", workspace)
	return err
}

// SettleOwnersOf settles the owners of the workspaces that an account owns, once it was
// disabled or enabled. Workspaces without an owner who can sign in stay as they are.
func (tx *Tx) SettleOwnersOf(ctx context.Context, account string) error {
	workspaces, err := tx.texts(ctx, "select workspace_id from member where account_id = $1 and role = 'owner' order by workspace_id", account)
	if err != nil {
		return err
	}
	for _, w := range workspaces {
		if err := tx.LockWorkspace(ctx, w); err != nil {
			return err
		}
		if err := tx.SettleOwners(ctx, w); err != nil && !errors.Is(err, ErrNoOwner) {
			return err
		}
	}
	return nil
}

// SetOwner makes an account the one that the workspace's mail goes to.
func (tx *Tx) SetOwner(ctx context.Context, workspace, account string) error {
	_, err := tx.exec(ctx, "update workspace set owner_id = $2 where id = $1", workspace, account)
	return err
}

// HasOwner reports whether a workspace has an owner whose account is not disabled, or is
// unclaimed.
func (tx *Tx) HasOwner(ctx context.Context, workspace string) (bool, error) {
	var all, disabled, claimed int
	err := tx.one(ctx, []any{&all, &disabled, &claimed}, `select count(*), count(case when a.disabled_at > 0 then 1 end),
		(select count(*) from workspace w where w.id = $1 and w.claimed_at > 0)
		from member m left join account a on a.id = m.account_id where m.workspace_id = $1 and m.role = 'owner'`, workspace)
	return all == 0 && claimed == 0 || disabled < all, err
}

// RevokeKeysOf ends the keys of a workspace, of the collector and of evals, that an account
// created. It returns their number.
func (tx *Tx) RevokeKeysOf(ctx context.Context, workspace, account string, now time.Time) (int64, error) {
	var total int64
	for _, table := range []string{"collector_key", "eval_key"} {
		n, err := tx.exec(ctx, "update "+table+" set revoked_at = $3 where workspace_id = $1 and created_by = $2 and revoked_at = 0", workspace, account, us(now))
		if err != nil {
			return total, err
		}
		total += n
	}
	return total, nil
}
