// Package registrations is what agents and the people behind them can do: register,
// claim, exchange, revoke, link and unlink. A use is one method and, where it
// changes something, one transaction: it loads rows, asks package identity what
// may happen, stores the outcome and its line in the audit log. It knows neither
// requests nor pages. Failures that the caller is told about are *apierr.Error.
package registrations

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/auth/keyring"
	"github.com/firstpick/firstpick/server/auth/trust"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/ratelimit"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/quota"
	"github.com/firstpick/firstpick/server/store/state"
)

// The words of the protocol that are URNs.
const (
	GrantClaim = "urn:example:agent-auth:grant-type:claim"
	// GrantClaimAlias is what clients of the public protocol call the claim grant.
	GrantClaimAlias = "urn:workos:agent-auth:grant-type:claim"
	GrantJWT        = "urn:ietf:params:oauth:grant-type:jwt-bearer" // RFC 7523
	AssertionType   = "urn:ietf:params:oauth:token-type:id-jag"
)

// A Service has the uses. All fields but Outbox are required.
type Service struct {
	DB      *state.DB
	Ring    *keyring.Ring
	Trust   *trust.Verifier
	Issuers *Issuers
	Vault   *secret.Vault
	Secrets secret.Source
	Limits  quota.Limiter
	Outbox  *Outbox
	Log     *slog.Logger
	Now     func() time.Time
	BaseURL string
	// Types are the ways of registration that the operator offers.
	Types []identity.Kind
	// NewAccounts lets a trusted issuer's assertion make an account for a person
	// who has none.
	NewAccounts bool
}

// A Caller is who sends a request, as far as the connection tells, and what the
// limits had to say of it.
type Caller struct {
	IP        netip.Addr
	UserAgent string
	Seen      quota.Headers
}

const maxUserAgent = 200

func (c *Caller) ip() string { return c.IP.String() }

// network is the key of limits by address, block that of limits by address block.
func (c *Caller) network() string { return ratelimit.Address(c.IP) }
func (c *Caller) block() string   { return ratelimit.Block(c.IP) }

// about is the key of limits on what one address block asks for an e-mail address.
func (c *Caller) about(email string) string { return email + " " + c.block() }

func (c *Caller) userAgent() string { return plain(c.UserAgent[:min(len(c.UserAgent), maxUserAgent)]) }

// plain takes out what PostgreSQL does not store in a text: broken UTF-8 and NUL.
func plain(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", "") }

// Resource is the API's root: aud of ID-JAGs, resource of tokens.
func (s *Service) Resource() string { return s.BaseURL + "/api/" }

// Offers says whether agents may register in a way. Assertions need an issuer.
func (s *Service) Offers(ctx context.Context, k identity.Kind) (bool, error) {
	if !slices.Contains(s.Types, k) {
		return false, nil
	}
	if k != identity.IdentityAssertion {
		return true, nil
	}
	list, err := s.Issuers.List(ctx)
	return len(list) > 0, err
}

// fail turns an error of the store into what the caller is told. Failures meant
// for the caller pass as they are.
func (s *Service) fail(err error) error {
	var known *apierr.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.Canceled):
		return apierr.Gone(err)
	case s.DB.IsDown(err):
		return apierr.StoreDown(err)
	default:
		return apierr.Internal(err)
	}
}

func hash(token string) []byte { return secret.Hash(token) }

// write runs fn in a transaction, and turns what failed into what is told.
func (s *Service) write(ctx context.Context, fn func(tx *state.Tx) error) error {
	return s.fail(s.DB.Write(ctx, fn))
}

func (s *Service) take(ctx context.Context, tx *state.Tx, now time.Time, c *Caller, uses ...quota.Use) error {
	return s.Limits.Take(ctx, tx, now, &c.Seen, uses...)
}

func (s *Service) ceiling(ctx context.Context, tx *state.Tx, now time.Time, c *Caller, uses ...quota.Use) error {
	return s.Limits.Ceiling(ctx, tx, now, &c.Seen, c.block(), uses...)
}

// note counts a failure that no transaction keeps, such as an unknown token.
func (s *Service) note(ctx context.Context, c *Caller, use quota.Use) error {
	return s.write(ctx, func(tx *state.Tx) error { return s.take(ctx, tx, s.Now(), c, use) })
}

// barred fails when failures of the kind were noted too often.
func (s *Service) barred(ctx context.Context, c *Caller, use quota.Use) error {
	return s.fail(s.Limits.Check(ctx, s.DB.Read(), s.Now(), &c.Seen, use))
}

// audit appends a line about a registration.
func (s *Service) audit(ctx context.Context, tx *state.Tx, now time.Time, c *Caller, event string, r *identity.Registration, detail map[string]string) error {
	e := state.AuditEntry{
		ID: s.Secrets.ID("aud_"), At: now, Event: event, RegistrationID: r.ID, WorkspaceID: r.WorkspaceID, AccountID: r.AccountID, ISS: r.ISS, Detail: detail,
	}
	if r.Platform != "" || r.Context != "" {
		if e.Detail == nil {
			e.Detail = map[string]string{}
		}
		e.Detail["agent_platform"], e.Detail["agent_context_id"] = r.Platform, r.Context
	}
	if c != nil && c.IP.IsValid() {
		e.IP = c.ip()
	}
	return tx.Audit(ctx, e)
}

// newWorkspace stores a workspace under a slug that nobody has.
func (s *Service) newWorkspace(ctx context.Context, tx *state.Tx, now time.Time, owner string, expires time.Time) (*state.Workspace, error) {
	w := &state.Workspace{ID: s.Secrets.ID("ws_"), OwnerID: owner, Plan: state.PlanFree, CreatedAt: now, ClaimExpires: expires}
	if owner != "" {
		w.ClaimedAt = now
	}
	for digits := 4; ; digits++ {
		w.Slug = s.Secrets.Pick(adjectives) + "-" + s.Secrets.Pick(animals) + "-" + s.Secrets.Number(digits)
		if added, err := tx.AddWorkspace(ctx, w); added || err != nil {
			return w, err
		}
	}
}

// The words of workspace names.
var (
	adjectives = []string{"amber", "brisk", "calm", "clever", "bright", "quiet", "eager", "gentle", "keen", "lively", "mellow", "nimble", "plucky", "proud", "sunny", "swift", "tidy", "warm", "wise", "bold"}
	animals    = []string{"otter", "heron", "badger", "falcon", "lynx", "marten", "osprey", "raven", "salmon", "stoat", "swallow", "tern", "vole", "wren", "ibex", "gecko", "finch", "crane", "beaver", "hare"}
)
