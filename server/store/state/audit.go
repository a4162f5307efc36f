package state

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
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

const auditColumns = "id, happened_at, event, registration_id, workspace_id, account_id, ip, iss, detail"

func (tx *Tx) auditEntries(ctx context.Context, query string, args ...any) ([]AuditEntry, error) {
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
	}, query, args...)
	return out, err
}

// AuditLog returns lines, oldest first.
func (tx *Tx) AuditLog(ctx context.Context, f AuditFilter) ([]AuditEntry, error) {
	return tx.auditEntries(ctx, "select "+auditColumns+` from (
		select * from audit where happened_at >= $1 and ($2 = '' or event = $2) and ($3 = '' or registration_id = $3)
		order by happened_at desc, id desc limit $4) newest order by happened_at, id`, us(f.Since), f.Event, f.RegistrationID, f.Limit)
}

// A WorkspaceLog chooses lines of a workspace.
type WorkspaceLog struct {
	WorkspaceID string
	AccountID   string   // of who did it; empty for all
	Events      []string // of the lines
	Before      AuditEntry
	Limit       int
}

// WorkspaceLog returns lines of a workspace, newest first, older than Before where that has
// a time.
func (tx *Tx) WorkspaceLog(ctx context.Context, f *WorkspaceLog) ([]AuditEntry, error) {
	args := []any{f.WorkspaceID, f.AccountID, us(f.Before.At), f.Before.ID, f.Limit}
	places := make([]string, len(f.Events))
	for i, event := range f.Events {
		args = append(args, event)
		places[i] = "$" + strconv.Itoa(len(args))
	}
	return tx.auditEntries(ctx, "select "+auditColumns+` from audit where workspace_id = $1 and ($2 = '' or account_id = $2)
		and (cast($3 as bigint) = 0 or happened_at < $3 or happened_at = $3 and id < $4) and event in (`+strings.Join(places, ", ")+`)
		order by happened_at desc, id desc limit $5`, args...)
}
