package state

import (
	"context"
	"encoding/json"
	"time"
)

// An AuditEntry is a line of the audit log. Detail holds neither secrets nor
// addresses.
type AuditEntry struct {
	ID             string            `json:"id"`
	At             time.Time         `json:"at"`
	Event          string            `json:"event"`
	RegistrationID string            `json:"registration_id,omitempty"`
	WorkspaceID    string            `json:"workspace_id,omitempty"`
	AccountID      string            `json:"account_id,omitempty"`
	IP             string            `json:"ip,omitempty"`
	ISS            string            `json:"iss,omitempty"`
	Detail         map[string]string `json:"detail,omitempty"`
}

// Audit appends to the audit log, in the transaction of the action.
func (tx *Tx) Audit(ctx context.Context, e AuditEntry) error {
	detail, err := json.Marshal(e.Detail)
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, `insert into audit (id, happened_at, event, registration_id, workspace_id, account_id, ip, iss, detail)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		e.ID, us(e.At), e.Event, e.RegistrationID, e.WorkspaceID, e.AccountID, e.IP, e.ISS, string(detail))
	return err
}

// An AuditFilter chooses lines; zero fields choose all.
type AuditFilter struct {
	Event, RegistrationID string
	Since                 time.Time
	Limit                 int // at most so many, the newest
}

// AuditLog returns lines, oldest first.
func (tx *Tx) AuditLog(ctx context.Context, f AuditFilter) ([]AuditEntry, error) {
	var out []AuditEntry
	err := tx.list(ctx, func(row scanner) error {
		var e AuditEntry
		var at int64
		var detail string
		if err := row.Scan(&e.ID, &at, &e.Event, &e.RegistrationID, &e.WorkspaceID, &e.AccountID, &e.IP, &e.ISS, &detail); err != nil {
			return err
		}
		e.At = fromUS(at)
		out = append(out, e)
		return json.Unmarshal([]byte(detail), &out[len(out)-1].Detail)
	}, `select id, happened_at, event, registration_id, workspace_id, account_id, ip, iss, detail from (
		select * from audit where happened_at >= $1 and ($2 = '' or event = $2) and ($3 = '' or registration_id = $3)
		order by happened_at desc, id desc limit $4) newest order by happened_at, id`, us(f.Since), f.Event, f.RegistrationID, f.Limit)
	return out, err
}
