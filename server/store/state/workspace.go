package state

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/store/identity"
)

// The plans of a workspace.
const (
	PlanFree = "free"
	PlanPaid = "paid"
)

// A Workspace is where a site's analytics belong.
type Workspace struct {
	ID           string
	Slug         string
	OwnerID      string // account of the owner who gets the mail; empty while unclaimed
	Plan         string // PlanFree or PlanPaid
	CreatedAt    time.Time
	ClaimedAt    time.Time
	ClaimExpires time.Time
	Settings
}

// MadeUp reports whether the site is below .example, where no site can be (RFC 2606): the
// workspace is then a sample.
func (w *Workspace) MadeUp() bool { return strings.HasSuffix(w.Site, ".example") }

// Title returns how people know the workspace: its name, else the host of its site, else its
// slug.
func (w *Workspace) Title() string {
	_, host, _ := strings.Cut(w.Site, "://")
	return cmp.Or(w.Name, host, w.Slug)
}

// Settings are an owner's settings of a workspace.
type Settings struct {
	Name          string // for people; empty until set
	Site          string // https://acme.dev; empty until set
	RetentionDays int    // of events
	Currency      string // default for values without a currency; optional
}

// DefaultRetention is the default number of days that events are kept: thirteen
// months.
const DefaultRetention = 395

// State returns "unclaimed", "claimed", or "expired" when it was not claimed in time.
func (w *Workspace) State(now time.Time) string {
	switch {
	case !w.ClaimedAt.IsZero():
		return "claimed"
	case now.Before(w.ClaimExpires):
		return "unclaimed"
	default:
		return "expired"
	}
}

const workspaceColumns = "id, slug, owner_id, plan, created_at, claimed_at, claim_expires, site, retention_days, currency, name"

// AddWorkspace stores a new workspace with the default settings. It returns false when
// the slug is in use.
func (tx *Tx) AddWorkspace(ctx context.Context, w *Workspace) (bool, error) {
	w.Settings = Settings{RetentionDays: DefaultRetention}
	n, err := tx.exec(ctx, `insert into workspace (`+workspaceColumns+`) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict do nothing`,
		w.ID, w.Slug, w.OwnerID, w.Plan, us(w.CreatedAt), us(w.ClaimedAt), us(w.ClaimExpires), w.Site, w.RetentionDays, w.Currency, w.Name)
	if err != nil || n == 0 || w.OwnerID == "" {
		return n == 1, err
	}
	return true, tx.PutMember(ctx, w.ID, w.OwnerID, identity.Owner, w.CreatedAt)
}

// ClaimWorkspace gives an unclaimed workspace its first owner, and its keys their creator.
func (tx *Tx) ClaimWorkspace(ctx context.Context, id, owner string, now time.Time) error {
	n, err := tx.exec(ctx, "update workspace set owner_id = $2, claimed_at = $3 where id = $1 and claimed_at = 0", id, owner, us(now))
	if err == nil && n == 0 {
		return ErrNotFound
	}
	if err != nil {
		return err
	}
	if _, err := tx.exec(ctx, "update collector_key set created_by = $2 where workspace_id = $1 and created_by = ''", id, owner); err != nil {
		return err
	}
	return tx.PutMember(ctx, id, owner, identity.Owner, now)
}

// Workspace returns a workspace by id.
func (tx *Tx) Workspace(ctx context.Context, id string) (*Workspace, error) {
	return scanWorkspace(func(dest ...any) error {
		return tx.one(ctx, dest, "select "+workspaceColumns+" from workspace where id = $1", id)
	})
}

// WorkspaceBySlug returns a workspace by its name in addresses.
func (tx *Tx) WorkspaceBySlug(ctx context.Context, slug string) (*Workspace, error) {
	return scanWorkspace(func(dest ...any) error {
		return tx.one(ctx, dest, "select "+workspaceColumns+" from workspace where slug = $1", slug)
	})
}

// Workspaces returns the workspaces that an account owns, oldest first.
func (tx *Tx) Workspaces(ctx context.Context, owner string) ([]*Workspace, error) {
	var out []*Workspace
	err := tx.list(ctx, func(row scanner) error {
		w, err := scanWorkspace(row.Scan)
		out = append(out, w)
		return err
	}, "select "+workspaceColumns+" from workspace where id in (select workspace_id from member where account_id = $1 and role = 'owner') order by created_at, id", owner)
	return out, err
}

// OwnedAlone returns the workspaces that an account owns and nobody else: they are erased
// with it. Oldest first.
func (tx *Tx) OwnedAlone(ctx context.Context, owner string) ([]*Workspace, error) {
	var out []*Workspace
	err := tx.list(ctx, func(row scanner) error {
		w, err := scanWorkspace(row.Scan)
		out = append(out, w)
		return err
	}, "select "+workspaceColumns+` from workspace where id in (select workspace_id from member where account_id = $1 and role = 'owner')
		and id not in (select workspace_id from member where account_id <> $1 and role = 'owner') order by created_at, id`, owner)
	return out, err
}

func scanWorkspace(scan func(...any) error) (*Workspace, error) {
	var w Workspace
	var created, claimed, expires int64
	err := scan(&w.ID, &w.Slug, &w.OwnerID, &w.Plan, &created, &claimed, &expires, &w.Site, &w.RetentionDays, &w.Currency, &w.Name)
	w.CreatedAt, w.ClaimedAt, w.ClaimExpires = fromUS(created), fromUS(claimed), fromUS(expires)
	return &w, err
}

// SetSettings stores the settings of a workspace.
func (tx *Tx) SetSettings(ctx context.Context, id string, s Settings) error {
	_, err := tx.exec(ctx, "update workspace set site = $2, retention_days = $3, currency = $4, name = $5 where id = $1", id, s.Site, s.RetentionDays, s.Currency, s.Name)
	return err
}

// A CollectorKey lets a site send events.
type CollectorKey struct {
	ID          string
	Hash        []byte
	WorkspaceID string
	Kind        string
	Label       string
	Shown       string   // prefix and last four characters
	Origins     []string // of the pages that a publishable key is for
	CreatedBy   string   // account; empty while the workspace is unclaimed
	CreatedAt   time.Time
	LastUsedAt  time.Time // to the hour or so; zero for never
	RevokedAt   time.Time
}

// AddCollectorKey stores a key.
func (tx *Tx) AddCollectorKey(ctx context.Context, k *CollectorKey) error {
	origins, err := json.Marshal(k.Origins)
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, `insert into collector_key (id, hash, workspace_id, kind, label, shown, origins, created_at, last_used_at, revoked_at, created_by)
		values ($1, $2, $3, $4, $5, $6, $7, $8, 0, 0, $9)`, k.ID, k.Hash, k.WorkspaceID, k.Kind, k.Label, k.Shown, string(origins), us(k.CreatedAt), k.CreatedBy)
	return err
}

// LiveKeys returns how many keys of a workspace are not revoked. It locks the
// workspace, so that two requests cannot both take the last place.
func (tx *Tx) LiveKeys(ctx context.Context, workspace string) (int, error) {
	if err := tx.LockWorkspace(ctx, workspace); err != nil {
		return 0, err
	}
	var n int
	err := tx.one(ctx, []any{&n}, "select count(*) from collector_key where workspace_id = $1 and revoked_at = 0", workspace)
	return n, err
}

// LockWorkspace keeps others who lock the workspace waiting until commit, or
// reports ErrNotFound.
func (tx *Tx) LockWorkspace(ctx context.Context, id string) error {
	return tx.one(ctx, []any{&id}, "select id from workspace where id = $1"+tx.lock(), id)
}

// CollectorKeys returns the keys of a workspace, oldest first.
func (tx *Tx) CollectorKeys(ctx context.Context, workspace string) ([]CollectorKey, error) {
	var out []CollectorKey
	err := tx.list(ctx, func(row scanner) error {
		var k CollectorKey
		var origins string
		var created, used, revoked int64
		if err := row.Scan(&k.ID, &k.WorkspaceID, &k.Kind, &k.Label, &k.Shown, &origins, &created, &used, &revoked, &k.CreatedBy); err != nil {
			return err
		}
		k.CreatedAt, k.LastUsedAt, k.RevokedAt = fromUS(created), fromUS(used), fromUS(revoked)
		out = append(out, k)
		return json.Unmarshal([]byte(origins), &out[len(out)-1].Origins)
	}, "select id, workspace_id, kind, label, shown, origins, created_at, last_used_at, revoked_at, created_by from collector_key where workspace_id = $1 order by created_at, id", workspace)
	return out, err
}

// UseKey notes that a key was used.
func (tx *Tx) UseKey(ctx context.Context, id string, now time.Time) error {
	_, err := tx.exec(ctx, "update collector_key set last_used_at = $2 where id = $1 and last_used_at < $2", id, us(now))
	return err
}

// RevokeKey ends a key of a workspace, or reports ErrNotFound.
func (tx *Tx) RevokeKey(ctx context.Context, workspace, id string, now time.Time) error {
	n, err := tx.exec(ctx, "update collector_key set revoked_at = $3 where workspace_id = $1 and id = $2 and revoked_at = 0", workspace, id, us(now))
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}
