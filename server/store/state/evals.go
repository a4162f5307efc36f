package state

import (
	"context"
	"errors"
	"time"
)

// An Eval is a workspace's own eval, known by its name. Its versions are kept.
type Eval struct {
	ID, WorkspaceID string
	Name            string // unique in the workspace
	CreatedAt       time.Time
	UpdatedAt       time.Time // of the latest version
	Latest          EvalVersion
}

// An EvalVersion is one version of an eval's source.
type EvalVersion struct {
	Number    int    // from 1
	Source    []byte // as it was sent; nil in lists
	Digest    string // of its meaning: equivalent sources have the same digest
	Summary   []byte // JSON, for lists
	CreatedAt time.Time
	CreatedBy string // account or key
	Catalog   string // digest of the own catalogue that it was validated with; empty without one
}

const (
	evalVersionColumns = "v.version, v.digest, v.summary, v.created_at, v.created_by, v.catalog"
	evalColumns        = "e.id, e.workspace_id, e.name, e.created_at, e.updated_at, " + evalVersionColumns
	evalTables         = " from eval e join eval_version v on v.eval_id = e.id and v.version = e.version"
)

var (
	// ErrTooManyEvals means that a workspace has as many evals as it may.
	ErrTooManyEvals = errors.New("the workspace has as many evals as it may")
	// ErrTooManyVersions means that an eval was changed as often as it may be.
	ErrTooManyVersions = errors.New("the eval has as many versions as it may")
)

// An EvalCap limits the evals of a workspace.
type EvalCap struct{ Evals, Versions int }

// PutEval stores e.Latest as the next version of the workspace's eval of that name.
// It creates a missing eval with e.ID. The digest of the latest version changes
// nothing. It returns the stored eval and whether anything is new. It fails with
// ErrTooManyEvals or ErrTooManyVersions.
func (tx *Tx) PutEval(ctx context.Context, e *Eval, most EvalCap) (*Eval, bool, error) {
	if err := tx.LockWorkspace(ctx, e.WorkspaceID); err != nil {
		return nil, false, err
	}
	v, at := e.Latest, us(e.Latest.CreatedAt)
	id, latest, digest := e.ID, 0, ""
	err := tx.one(ctx, []any{&id, &latest, &digest}, "select e.id, v.version, v.digest"+evalTables+" where e.workspace_id = $1 and e.name = $2", e.WorkspaceID, e.Name)
	switch {
	case err == nil && digest == v.Digest:
		stored, err := tx.Eval(ctx, e.WorkspaceID, id)
		return stored, false, err
	case err == nil && latest >= most.Versions:
		return nil, false, ErrTooManyVersions
	case err == nil:
		_, err = tx.exec(ctx, "update eval set version = $2, updated_at = $3 where id = $1", id, latest+1, at)
	case errors.Is(err, ErrNotFound):
		n := 0
		if err := tx.one(ctx, []any{&n}, "select count(*) from eval where workspace_id = $1", e.WorkspaceID); err != nil {
			return nil, false, err
		}
		if n >= most.Evals {
			return nil, false, ErrTooManyEvals
		}
		_, err = tx.exec(ctx, "insert into eval (id, workspace_id, name, version, created_at, updated_at) values ($1, $2, $3, 1, $4, $4)", id, e.WorkspaceID, e.Name, at)
	}
	if err != nil {
		return nil, false, err
	}
	if _, err := tx.exec(ctx, "insert into eval_version (eval_id, version, source, digest, summary, created_at, created_by, catalog) values ($1, $2, $3, $4, $5, $6, $7, $8)",
		id, latest+1, bytes(v.Source), v.Digest, string(v.Summary), at, v.CreatedBy, v.Catalog); err != nil {
		return nil, false, err
	}
	stored, err := tx.Eval(ctx, e.WorkspaceID, id)
	return stored, true, err
}

// Eval returns an eval of a workspace with its latest version; another
// workspace's is ErrNotFound.
func (tx *Tx) Eval(ctx context.Context, workspace, id string) (*Eval, error) {
	var source []byte
	e, err := scanEval(func(dest ...any) error {
		return tx.one(ctx, append(dest, &source), "select "+evalColumns+", v.source"+evalTables+" where e.workspace_id = $1 and e.id = $2", workspace, id)
	})
	if err != nil {
		return nil, err
	}
	e.Latest.Source = source
	return e, nil
}

// Evals returns the evals of a workspace whose names come after a name, in their
// order; the empty name is before all. Sources are left out.
func (tx *Tx) Evals(ctx context.Context, workspace, after string, limit int) ([]*Eval, error) {
	var out []*Eval
	err := tx.list(ctx, func(row scanner) error {
		e, err := scanEval(row.Scan)
		out = append(out, e)
		return err
	}, "select "+evalColumns+evalTables+" where e.workspace_id = $1 and e.name > $2 order by e.name limit $3", workspace, after, limit)
	return out, err
}

// EvalVersion returns a version of a workspace's eval.
func (tx *Tx) EvalVersion(ctx context.Context, workspace, eval string, number int) (*EvalVersion, error) {
	var v EvalVersion
	var created int64
	err := tx.one(ctx, append(v.dest(&created), &v.Source),
		"select "+evalVersionColumns+", v.source from eval e join eval_version v on v.eval_id = e.id where e.workspace_id = $1 and e.id = $2 and v.version = $3",
		workspace, eval, number)
	if err != nil {
		return nil, err
	}
	v.CreatedAt = fromUS(created)
	return &v, nil
}

// dest is where evalVersionColumns go.
func (v *EvalVersion) dest(created *int64) []any {
	return []any{&v.Number, &v.Digest, &v.Summary, created, &v.CreatedBy, &v.Catalog}
}

func scanEval(scan func(...any) error) (*Eval, error) {
	var e Eval
	var created, updated, put int64
	if err := scan(append([]any{&e.ID, &e.WorkspaceID, &e.Name, &created, &updated}, e.Latest.dest(&put)...)...); err != nil {
		return nil, err
	}
	e.CreatedAt, e.UpdatedAt, e.Latest.CreatedAt = fromUS(created), fromUS(updated), fromUS(put)
	return &e, nil
}
