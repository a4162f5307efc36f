package state

import (
	"context"
	"errors"
	"time"
)

// A CatalogVersion is one version of a workspace's own catalogue.
type CatalogVersion struct {
	WorkspaceID string
	Number      int    // from 1
	Source      []byte // as it was sent; nil in lists
	Digest      string // of Source
	CreatedAt   time.Time
	CreatedBy   string // account or key
}

const catalogColumns = "workspace_id, version, digest, created_at, created_by"

var (
	// ErrCatalogChanged means that the current version is not the one that a change is of.
	ErrCatalogChanged = errors.New("the catalogue has another version")
	// ErrTooManyCatalogs means that runs use as many versions as are kept.
	ErrTooManyCatalogs = errors.New("the catalogue has as many versions as it may")
)

// AnyCatalog is the base of a change that replaces any version.
const AnyCatalog = -1

// PutCatalog stores c as the next version of a workspace's catalogue, if the current one
// is base: 0 if absent. The digest of the current version changes
// nothing. It returns the stored version and whether it is new. Of more than most versions
// the oldest that no run uses is deleted. It fails with ErrCatalogChanged or
// ErrTooManyCatalogs.
func (tx *Tx) PutCatalog(ctx context.Context, c *CatalogVersion, base, most int) (*CatalogVersion, bool, error) {
	if err := tx.LockWorkspace(ctx, c.WorkspaceID); err != nil {
		return nil, false, err
	}
	now, err := tx.Catalog(ctx, c.WorkspaceID)
	if errors.Is(err, ErrNotFound) {
		now, err = &CatalogVersion{}, nil
	}
	switch {
	case err != nil:
		return nil, false, err
	case now.Digest == c.Digest:
		return now, false, nil
	case base != AnyCatalog && base != now.Number:
		return nil, false, ErrCatalogChanged
	}
	n := 0
	if err := tx.one(ctx, []any{&n}, "select count(*) from workspace_catalog where workspace_id = $1", c.WorkspaceID); err != nil {
		return nil, false, err
	}
	if n >= most {
		gone, err := tx.exec(ctx, `delete from workspace_catalog where workspace_id = $1 and version = (select min(version) from workspace_catalog
			where workspace_id = $1 and version < $2 and version not in (select catalog from eval_run where workspace_id = $1))`, c.WorkspaceID, now.Number)
		if err != nil {
			return nil, false, err
		}
		if gone == 0 {
			return nil, false, ErrTooManyCatalogs
		}
	}
	if _, err := tx.exec(ctx, "insert into workspace_catalog ("+catalogColumns+", source) values ($1, $2, $3, $4, $5, $6)",
		c.WorkspaceID, now.Number+1, c.Digest, us(c.CreatedAt), c.CreatedBy, bytes(c.Source)); err != nil {
		return nil, false, err
	}
	stored, err := tx.Catalog(ctx, c.WorkspaceID)
	return stored, true, err
}

// Catalog returns the current version of a workspace's own catalogue, or ErrNotFound.
func (tx *Tx) Catalog(ctx context.Context, workspace string) (*CatalogVersion, error) {
	return tx.oneCatalog(ctx, "order by version desc limit 1", workspace)
}

// CatalogVersion returns a version of a workspace's own catalogue, or ErrNotFound.
func (tx *Tx) CatalogVersion(ctx context.Context, workspace string, number int) (*CatalogVersion, error) {
	return tx.oneCatalog(ctx, "and version = $2", workspace, number)
}

// Catalogs returns the latest versions of a workspace's own catalogue, newest first.
// Sources are left out.
func (tx *Tx) Catalogs(ctx context.Context, workspace string, limit int) ([]*CatalogVersion, error) {
	var out []*CatalogVersion
	err := tx.list(ctx, func(row scanner) error {
		c, err := scanCatalog(row.Scan)
		out = append(out, c)
		return err
	}, "select "+catalogColumns+" from workspace_catalog where workspace_id = $1 order by version desc limit $2", workspace, limit)
	return out, err
}

func (tx *Tx) oneCatalog(ctx context.Context, which string, args ...any) (*CatalogVersion, error) {
	var source []byte
	c, err := scanCatalog(func(dest ...any) error {
		return tx.one(ctx, append(dest, &source), "select "+catalogColumns+", source from workspace_catalog where workspace_id = $1 "+which, args...)
	})
	if err != nil {
		return nil, err
	}
	c.Source = source
	return c, nil
}

func scanCatalog(scan func(...any) error) (*CatalogVersion, error) {
	var c CatalogVersion
	var created int64
	err := scan(&c.WorkspaceID, &c.Number, &c.Digest, &created, &c.CreatedBy)
	c.CreatedAt = fromUS(created)
	return &c, err
}
