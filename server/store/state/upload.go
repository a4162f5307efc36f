package state

import (
	"context"
	"errors"
	"time"
)

// OriginPushed is the origin of a run that was made elsewhere and pushed to the server.
const OriginPushed = "pushed"

// An Upload is a run of elsewhere that is pushed to a workspace. It has the id of the run
// that it becomes. An incomplete one expires.
type Upload struct {
	ID, WorkspaceID string
	EvalID          string
	Version         int
	LocalRun        string // the id of the run where it was made
	Digest          string // of the list of files
	Files           []byte // JSON
	Size            int64  // of all files, in bytes
	CreatedAt       time.Time
	CreatedBy       string // account or key
	ExpiresAt       time.Time
	CompletedAt     time.Time
}

const uploadColumns = "id, workspace_id, eval_id, version, local_run, digest, files, size, created_at, created_by, expires_at, completed_at"

// UploadCap limits the uploads of a workspace.
type UploadCap struct {
	Bytes int64 // of all uploads, complete or not
	Open  int   // incomplete ones
}

var (
	// ErrOtherUpload means that a run was pushed before, with other files.
	ErrOtherUpload = errors.New("the run was pushed before, with other files")
	// ErrUploadsFull means that a workspace has as many uploads as it may.
	ErrUploadsFull = errors.New("the workspace has as many uploads as it may")
)

// PutUpload stores an upload, or finds the one of the same run. It returns the stored one
// and whether all its files are to be sent: it is new, or replaces an incomplete one of
// other files, whose id it keeps. An incomplete one expires later. PutUpload fails with
// ErrOtherUpload and the complete upload of other files, with ErrUploadsFull, or with
// ErrNotFound when the workspace has no such version of the eval.
func (tx *Tx) PutUpload(ctx context.Context, u *Upload, most UploadCap) (*Upload, bool, error) {
	if err := tx.LockWorkspace(ctx, u.WorkspaceID); err != nil {
		return nil, false, err
	}
	old, err := tx.oneUpload(ctx, "select "+uploadColumns+" from eval_upload where workspace_id = $1 and eval_id = $2 and local_run = $3"+tx.lock(), u.WorkspaceID, u.EvalID, u.LocalRun)
	if err := ignoreNotFound(err); err != nil {
		return nil, false, err
	}
	same := old != nil && old.Digest == u.Digest
	if old != nil && !old.CompletedAt.IsZero() {
		if same {
			return old, false, nil
		}
		return old, false, ErrOtherUpload
	}
	id := u.ID
	if old != nil {
		id = old.ID
	}
	var n, size int64
	if err := tx.one(ctx, []any{&n}, "select count(*) from eval e join eval_version v on v.eval_id = e.id where e.workspace_id = $1 and e.id = $2 and v.version = $3",
		u.WorkspaceID, u.EvalID, u.Version); err != nil || n == 0 {
		return nil, false, errors.Join(err, ErrNotFound)
	}
	if err := tx.one(ctx, []any{&n, &size}, "select count(case when completed_at = 0 then 1 end), coalesce(sum(size), 0) from eval_upload where workspace_id = $1 and id <> $2",
		u.WorkspaceID, id); err != nil {
		return nil, false, err
	}
	if n >= int64(most.Open) || size+u.Size > most.Bytes {
		return nil, false, ErrUploadsFull
	}
	put, err := tx.oneUpload(ctx, "insert into eval_upload ("+uploadColumns+`) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0)
		on conflict (id) do update set version = excluded.version, digest = excluded.digest, files = excluded.files, size = excluded.size, created_by = excluded.created_by,
			expires_at = excluded.expires_at returning `+uploadColumns,
		id, u.WorkspaceID, u.EvalID, u.Version, u.LocalRun, u.Digest, string(u.Files), u.Size, us(u.CreatedAt), u.CreatedBy, us(u.ExpiresAt))
	return put, err == nil && !same, err
}

// Upload returns an upload of a workspace; another workspace's is ErrNotFound.
func (tx *Tx) Upload(ctx context.Context, workspace, id string) (*Upload, error) {
	return tx.oneUpload(ctx, "select "+uploadColumns+" from eval_upload where workspace_id = $1 and id = $2"+tx.lock(), workspace, id)
}

// CompleteUpload marks an upload as complete.
func (tx *Tx) CompleteUpload(ctx context.Context, workspace, id string, now time.Time) error {
	_, err := tx.exec(ctx, "update eval_upload set completed_at = $3 where workspace_id = $1 and id = $2 and completed_at = 0", workspace, id, us(now))
	return err
}

// ExpiredUploads returns incomplete uploads whose time is over.
func (tx *Tx) ExpiredUploads(ctx context.Context, now time.Time, limit int) (out []*Upload, err error) {
	err = tx.list(ctx, func(row scanner) error {
		u, err := scanUpload(row.Scan)
		out = append(out, u)
		return err
	}, "select "+uploadColumns+" from eval_upload where completed_at = 0 and expires_at <= $1 order by expires_at, id limit $2", us(now), limit)
	return out, err
}

// DropExpiredUpload deletes an incomplete upload whose time is over, and reports whether it
// was still there.
func (tx *Tx) DropExpiredUpload(ctx context.Context, id string, now time.Time) (bool, error) {
	n, err := tx.exec(ctx, "delete from eval_upload where id = $1 and completed_at = 0 and expires_at <= $2", id, us(now))
	return n > 0, err
}

// EvalVersionOf returns the latest version of an eval with a digest.
func (tx *Tx) EvalVersionOf(ctx context.Context, workspace, eval, digest string) (*EvalVersion, error) {
	var number int
	if err := tx.one(ctx, []any{&number}, "select v.version from eval e join eval_version v on v.eval_id = e.id where e.workspace_id = $1 and e.id = $2 and v.digest = $3 order by v.version desc limit 1",
		workspace, eval, digest); err != nil {
		return nil, err
	}
	return tx.EvalVersion(ctx, workspace, eval, number)
}

func (tx *Tx) oneUpload(ctx context.Context, query string, args ...any) (*Upload, error) {
	return scanUpload(func(dest ...any) error { return tx.one(ctx, dest, query, args...) })
}

func scanUpload(scan func(...any) error) (*Upload, error) {
	var u Upload
	var files string
	var created, expires, completed int64
	if err := scan(&u.ID, &u.WorkspaceID, &u.EvalID, &u.Version, &u.LocalRun, &u.Digest, &files, &u.Size, &created, &u.CreatedBy, &expires, &completed); err != nil {
		return nil, err
	}
	u.Files, u.CreatedAt, u.ExpiresAt, u.CompletedAt = []byte(files), fromUS(created), fromUS(expires), fromUS(completed)
	return &u, nil
}
