package state

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// An EvalKey lets a program run and read the evals of a workspace.
type EvalKey struct {
	ID          string
	Hash        []byte // nil in lists
	WorkspaceID string
	Label       string
	Shown       string   // prefix and last four characters
	Scopes      []string // read, run
	CreatedAt   time.Time
	CreatedBy   string    // account; empty for an operator
	LastUsedAt  time.Time // to a minute or so; zero for never
	RevokedAt   time.Time
}

const evalKeyColumns = "id, workspace_id, label, shown, scopes, created_at, created_by, last_used_at, revoked_at"

// ErrTooManyKeys means that a workspace has as many keys as it may.
var ErrTooManyKeys = errors.New("the workspace has as many keys as it may")

// AddEvalKey stores a key. It fails with ErrTooManyKeys when the workspace has
// most live ones already.
func (tx *Tx) AddEvalKey(ctx context.Context, k *EvalKey, most int) error {
	if err := tx.LockWorkspace(ctx, k.WorkspaceID); err != nil {
		return err
	}
	var n int
	if err := tx.one(ctx, []any{&n}, "select count(*) from eval_key where workspace_id = $1 and revoked_at = 0", k.WorkspaceID); err != nil {
		return err
	}
	if n >= most {
		return ErrTooManyKeys
	}
	scopes, err := json.Marshal(k.Scopes)
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, "insert into eval_key ("+evalKeyColumns+", hash) values ($1, $2, $3, $4, $5, $6, $7, 0, 0, $8)",
		k.ID, k.WorkspaceID, k.Label, k.Shown, string(scopes), us(k.CreatedAt), k.CreatedBy, k.Hash)
	return err
}

// EvalKeyByHash returns a live key and its workspace. A revoked one is
// ErrNotFound.
func (tx *Tx) EvalKeyByHash(ctx context.Context, hash []byte) (*EvalKey, *Workspace, error) {
	k, err := scanEvalKey(func(dest ...any) error {
		return tx.one(ctx, dest, "select "+evalKeyColumns+" from eval_key where hash = $1 and revoked_at = 0", hash)
	})
	if err != nil {
		return nil, nil, err
	}
	k.Hash = hash
	w, err := tx.Workspace(ctx, k.WorkspaceID)
	if err != nil {
		return nil, nil, err
	}
	return k, w, nil
}

// EvalKeys returns the keys of a workspace, the revoked too, oldest first.
func (tx *Tx) EvalKeys(ctx context.Context, workspace string) ([]*EvalKey, error) {
	var out []*EvalKey
	err := tx.list(ctx, func(row scanner) error {
		k, err := scanEvalKey(row.Scan)
		out = append(out, k)
		return err
	}, "select "+evalKeyColumns+" from eval_key where workspace_id = $1 order by created_at, id", workspace)
	return out, err
}

// RevokeEvalKey ends a key of a workspace, or reports ErrNotFound.
func (tx *Tx) RevokeEvalKey(ctx context.Context, workspace, id string, now time.Time) error {
	n, err := tx.exec(ctx, "update eval_key set revoked_at = $3 where workspace_id = $1 and id = $2 and revoked_at = 0", workspace, id, us(now))
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}

// touchEvery is how exact a key's last use is.
const touchEvery = time.Minute

// TouchDue reports whether TouchEvalKey would store anything, so that most requests
// need no transaction.
func (k *EvalKey) TouchDue(now time.Time) bool { return now.Sub(k.LastUsedAt) >= touchEvery }

// TouchEvalKey notes that a key was used, at most once a minute.
func (tx *Tx) TouchEvalKey(ctx context.Context, id string, now time.Time) error {
	_, err := tx.exec(ctx, "update eval_key set last_used_at = $2 where id = $1 and last_used_at <= $3", id, us(now), us(now.Add(-touchEvery)))
	return err
}

func scanEvalKey(scan func(...any) error) (*EvalKey, error) {
	var k EvalKey
	var scopes string
	var created, used, revoked int64
	if err := scan(&k.ID, &k.WorkspaceID, &k.Label, &k.Shown, &scopes, &created, &k.CreatedBy, &used, &revoked); err != nil {
		return nil, err
	}
	k.CreatedAt, k.LastUsedAt, k.RevokedAt = fromUS(created), fromUS(used), fromUS(revoked)
	return &k, json.Unmarshal([]byte(scopes), &k.Scopes)
}
