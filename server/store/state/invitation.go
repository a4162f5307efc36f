package state

import (
	"context"
	"time"

	"github.com/firstpick/firstpick/server/store/identity"
)

// An Invitation lets the owner of an address become a member of a workspace. It is gone
// when it was accepted, declined or withdrawn.
type Invitation struct {
	ID          string
	Hash        []byte
	WorkspaceID string
	Email       string // canonical
	Role        identity.Role
	InvitedBy   string // account
	SentAt      time.Time
	ExpiresAt   time.Time
}

const invitationColumns = "id, hash, workspace_id, email_sealed, role, invited_by, sent_at, expires_at"

func (tx *Tx) scanInvitation(scan func(...any) error) (*Invitation, error) {
	var i Invitation
	var email []byte
	var sent, expires int64
	if err := scan(&i.ID, &i.Hash, &i.WorkspaceID, &email, &i.Role, &i.InvitedBy, &sent, &expires); err != nil {
		return nil, err
	}
	i.SentAt, i.ExpiresAt = fromUS(sent), fromUS(expires)
	var err error
	i.Email, err = tx.open("email", email)
	return &i, err
}

// PutInvitation stores an invitation, in place of the one for the same address.
func (tx *Tx) PutInvitation(ctx context.Context, i *Invitation) error {
	mac := tx.mac("email", i.Email)
	if _, err := tx.exec(ctx, "delete from invitation where workspace_id = $1 and email_mac = $2", i.WorkspaceID, mac); err != nil {
		return err
	}
	_, err := tx.exec(ctx, "insert into invitation ("+invitationColumns+", email_mac) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
		i.ID, i.Hash, i.WorkspaceID, tx.seal("email", i.Email), string(i.Role), i.InvitedBy, us(i.SentAt), us(i.ExpiresAt), mac)
	return err
}

// Invitation returns an invitation of a workspace by id, or ErrNotFound.
func (tx *Tx) Invitation(ctx context.Context, workspace, id string) (*Invitation, error) {
	return tx.scanInvitation(func(dest ...any) error {
		return tx.one(ctx, dest, "select "+invitationColumns+" from invitation where workspace_id = $1 and id = $2", workspace, id)
	})
}

// InvitationByHash returns an invitation by the hash of its token, or ErrNotFound.
func (tx *Tx) InvitationByHash(ctx context.Context, hash []byte) (*Invitation, error) {
	return tx.scanInvitation(func(dest ...any) error {
		return tx.one(ctx, dest, "select "+invitationColumns+" from invitation where hash = $1", hash)
	})
}

// Invitations returns the invitations of a workspace, the expired too, oldest first.
func (tx *Tx) Invitations(ctx context.Context, workspace string) ([]*Invitation, error) {
	var out []*Invitation
	err := tx.list(ctx, func(row scanner) error {
		i, err := tx.scanInvitation(row.Scan)
		out = append(out, i)
		return err
	}, "select "+invitationColumns+" from invitation where workspace_id = $1 order by sent_at, id", workspace)
	return out, err
}

// DropInvitation ends an invitation. It reports ErrNotFound when another request did, or
// when it was sent again.
func (tx *Tx) DropInvitation(ctx context.Context, i *Invitation) error {
	n, err := tx.exec(ctx, "delete from invitation where id = $1 and hash = $2", i.ID, i.Hash)
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}
