package state

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/store/identity"
)

const registrationColumns = `id, kind, workspace_id, account_id, email_mac, email_sealed, iss, sub_mac, sub_sealed, aud, client_id, amr, platform, context,
	generation, claim_hash, created_at, claim_expires, claimed_at, denied_at, revoked_at, refused_sealed, codes, locks, paused_until,
	poll_interval, poll_ok_at, poll_penalised, redeem_at, redeem_count, redeem_token, created_ip, user_agent`

// AddRegistration stores a new registration.
func (tx *Tx) AddRegistration(ctx context.Context, r *identity.Registration) error {
	args, err := tx.registrationValues(r)
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, `insert into registration (`+registrationColumns+`, expired_noted) values
		($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, 0)`, args...)
	return err
}

// SaveRegistration stores a registration that was read in this transaction.
func (tx *Tx) SaveRegistration(ctx context.Context, r *identity.Registration) error {
	args, err := tx.registrationValues(r)
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, `update registration set kind = $2, workspace_id = $3, account_id = $4, email_mac = $5, email_sealed = $6, iss = $7, sub_mac = $8,
		sub_sealed = $9, aud = $10, client_id = $11, amr = $12, platform = $13, context = $14, generation = $15, claim_hash = $16, created_at = $17,
		claim_expires = $18, claimed_at = $19, denied_at = $20, revoked_at = $21, refused_sealed = $22, codes = $23, locks = $24, paused_until = $25,
		poll_interval = $26, poll_ok_at = $27, poll_penalised = $28, redeem_at = $29, redeem_count = $30, redeem_token = $31, created_ip = $32,
		user_agent = $33 where id = $1`, args...)
	return err
}

// SavePoll stores the bookkeeping of a poll, and nothing else.
func (tx *Tx) SavePoll(ctx context.Context, r *identity.Registration) error {
	_, err := tx.exec(ctx, "update registration set poll_interval = $2, poll_ok_at = $3, poll_penalised = $4 where id = $1",
		r.ID, r.Poll.Interval.Microseconds(), us(r.Poll.OKAt), flag(r.Poll.Penalised))
	return err
}

func (tx *Tx) registrationValues(r *identity.Registration) ([]any, error) {
	amr, err := json.Marshal(r.AMR)
	if err != nil {
		return nil, err
	}
	claim := r.ClaimHash
	if len(claim) == 0 {
		claim = []byte("none:" + r.ID) // the index is unique, and no hash has this form
	}
	return []any{
		r.ID, string(r.Kind), r.WorkspaceID, r.AccountID, tx.mac("email", r.Email), tx.seal("email", r.Email), r.ISS, tx.mac("sub", r.Sub), tx.seal("sub", r.Sub),
		r.Aud, r.ClientID, string(amr), r.Platform, r.Context, int64(r.Generation), claim, us(r.CreatedAt), us(r.ClaimExpires), us(r.ClaimedAt),
		us(r.DeniedAt), us(r.RevokedAt), tx.seal("refused", strings.Join(r.Refused, "\n")), int64(r.Codes), int64(r.Locks), us(r.PausedUntil),
		r.Poll.Interval.Microseconds(), us(r.Poll.OKAt), flag(r.Poll.Penalised), us(r.Redeem.FirstAt), int64(r.Redeem.Count), bytes(r.Redeem.Token),
		r.CreatedIP, r.UserAgent,
	}, nil
}

func (tx *Tx) scanRegistration(scan func(...any) error) (*identity.Registration, error) {
	var r identity.Registration
	var kind, amr string
	var emailMAC, email, subMAC, sub, refused []byte
	var created, expires, claimed, denied, revoked, paused, interval, pollOK, penalised, redeemAt int64
	err := scan(&r.ID, &kind, &r.WorkspaceID, &r.AccountID, &emailMAC, &email, &r.ISS, &subMAC, &sub, &r.Aud, &r.ClientID, &amr, &r.Platform, &r.Context,
		&r.Generation, &r.ClaimHash, &created, &expires, &claimed, &denied, &revoked, &refused, &r.Codes, &r.Locks, &paused,
		&interval, &pollOK, &penalised, &redeemAt, &r.Redeem.Count, &r.Redeem.Token, &r.CreatedIP, &r.UserAgent)
	if err != nil {
		return nil, err
	}
	r.Kind = identity.Kind(kind)
	if err := json.Unmarshal([]byte(amr), &r.AMR); err != nil {
		return nil, err
	}
	if r.Email, err = tx.open("email", email); err != nil {
		return nil, err
	}
	if r.Sub, err = tx.open("sub", sub); err != nil {
		return nil, err
	}
	list, err := tx.open("refused", refused)
	if err != nil {
		return nil, err
	}
	if list != "" {
		r.Refused = strings.Split(list, "\n")
	}
	if strings.HasPrefix(string(r.ClaimHash), "none:") {
		r.ClaimHash = nil
	}
	r.CreatedAt, r.ClaimExpires, r.ClaimedAt, r.DeniedAt = fromUS(created), fromUS(expires), fromUS(claimed), fromUS(denied)
	r.RevokedAt, r.PausedUntil = fromUS(revoked), fromUS(paused)
	r.Poll = identity.Poll{Interval: time.Duration(interval) * time.Microsecond, OKAt: fromUS(pollOK), Penalised: penalised != 0}
	r.Redeem.FirstAt = fromUS(redeemAt)
	return &r, nil
}

func (tx *Tx) registration(ctx context.Context, where string, args ...any) (*identity.Registration, error) {
	return tx.scanRegistration(func(dest ...any) error {
		return tx.one(ctx, dest, "select "+registrationColumns+" from registration where "+where+tx.lock(), args...)
	})
}

// Registration returns a registration by id and locks it.
func (tx *Tx) Registration(ctx context.Context, id string) (*identity.Registration, error) {
	return tx.registration(ctx, "id = $1", id)
}

// RegistrationByClaim returns the registration of a claim token and locks it.
func (tx *Tx) RegistrationByClaim(ctx context.Context, claimHash []byte) (*identity.Registration, error) {
	return tx.registration(ctx, "claim_hash = $1", claimHash)
}

// RegistrationBySubject returns the registration that an issuer's subject made and locks
// it; anonymous ones that it claimed are apart.
func (tx *Tx) RegistrationBySubject(ctx context.Context, iss, sub, aud string) (*identity.Registration, error) {
	return tx.registration(ctx, "iss = $1 and sub_mac = $2 and aud = $3 and kind = '"+string(identity.IdentityAssertion)+"'", iss, tx.mac("sub", sub), aud)
}

func (tx *Tx) registrations(ctx context.Context, where string, args ...any) ([]*identity.Registration, error) {
	var out []*identity.Registration
	err := tx.list(ctx, func(row scanner) error {
		r, err := tx.scanRegistration(row.Scan)
		out = append(out, r)
		return err
	}, "select "+registrationColumns+" from registration where "+where, args...)
	return out, err
}

// SubjectRegistrations returns and locks all registrations of an issuer's subject.
func (tx *Tx) SubjectRegistrations(ctx context.Context, iss, sub string) ([]*identity.Registration, error) {
	return tx.registrations(ctx, "iss = $1 and sub_mac = $2 order by id"+tx.lock(), iss, tx.mac("sub", sub))
}

// IssuerRegistrations returns the live registrations that an issuer vouched for.
func (tx *Tx) IssuerRegistrations(ctx context.Context, iss string) ([]*identity.Registration, error) {
	return tx.registrations(ctx, "iss = $1 and revoked_at = 0 order by id", iss)
}

// AccountRegistrations returns the claimed registrations of an account, newest
// first, revoked ones included.
func (tx *Tx) AccountRegistrations(ctx context.Context, account string) ([]*identity.Registration, error) {
	return tx.registrations(ctx, "account_id = $1 and claimed_at > 0 order by claimed_at desc, id", account)
}

const pendingSQL = "email_mac = $1 and claimed_at = 0 and denied_at = 0 and revoked_at = 0 and claim_expires > $2"

// PendingOfKind returns and locks the registrations of a kind that wait for an
// address, oldest first.
func (tx *Tx) PendingOfKind(ctx context.Context, kind identity.Kind, email string, now time.Time) ([]*identity.Registration, error) {
	return tx.registrations(ctx, pendingSQL+" and kind = $3 order by created_at, id"+tx.lock(), tx.mac("email", email), us(now), string(kind))
}

// NewestPending returns the newest registrations that wait for an address.
func (tx *Tx) NewestPending(ctx context.Context, email string, now time.Time, most int) ([]*identity.Registration, error) {
	return tx.registrations(ctx, pendingSQL+" order by created_at desc, id limit $3", tx.mac("email", email), us(now), most)
}

// ExpiredRegistrations returns registrations whose window closed and whose expiry
// is not in the audit log yet, and notes that it will be.
func (tx *Tx) ExpiredRegistrations(ctx context.Context, now time.Time, limit int) ([]*identity.Registration, error) {
	list, err := tx.registrations(ctx, `expired_noted = 0 and claimed_at = 0 and denied_at = 0 and revoked_at = 0 and claim_expires <= $1
		order by id limit $2`+tx.lock(), us(now), limit)
	for _, r := range list {
		if _, err := tx.exec(ctx, "update registration set expired_noted = 1 where id = $1", r.ID); err != nil {
			return nil, err
		}
	}
	return list, err
}
