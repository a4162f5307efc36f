package state

import (
	"context"
	"errors"
	"time"
)

// ClaimSite claims the check of a workspace's site that was not checked since a time,
// or that changed. No other server checks the same site. It fails with ErrNotFound
// when no check is due.
func (tx *Tx) ClaimSite(ctx context.Context, since, now time.Time) (workspace, site string, err error) {
	err = tx.one(ctx, []any{&workspace, &site}, `select w.id, w.site from workspace w left join site_check c on c.workspace_id = w.id
		where w.site <> '' and w.claimed_at > 0 and (c.site is null or c.site <> w.site or c.taken_at < $1) order by coalesce(c.taken_at, 0), w.id limit 1`, us(since))
	if err != nil {
		return "", "", err
	}
	// A result of the previous site is not valid for this one.
	n, err := tx.exec(ctx, `insert into site_check (workspace_id, site, taken_at, result) values ($1, $2, $3, $4)
		on conflict (workspace_id) do update set site = excluded.site, taken_at = excluded.taken_at,
		result = case when site_check.site = excluded.site then site_check.result else excluded.result end
		where site_check.site <> excluded.site or site_check.taken_at < $5`, workspace, site, us(now), []byte{}, us(since))
	if err == nil && n == 0 { // another server was faster
		return "", "", ErrNotFound
	}
	return workspace, site, err
}

// SaveSite stores the result of a site check, unless the workspace's site changed.
func (tx *Tx) SaveSite(ctx context.Context, workspace, site string, result []byte) error {
	_, err := tx.exec(ctx, "update site_check set result = $3 where workspace_id = $1 and site = $2", workspace, site, result)
	return err
}

// SiteResult returns the stored result for the site of a workspace; nil without a
// check or a site.
func (tx *Tx) SiteResult(ctx context.Context, workspace string) ([]byte, error) {
	var result []byte
	err := tx.one(ctx, []any{&result}, "select c.result from site_check c join workspace w on w.id = c.workspace_id and w.site = c.site where c.workspace_id = $1", workspace)
	if errors.Is(err, ErrNotFound) || len(result) == 0 {
		return nil, ignoreNotFound(err)
	}
	return result, err
}

func ignoreNotFound(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}
