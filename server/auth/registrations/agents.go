// Package registrations implements the operations of agents and of the people behind
// them: register, claim, exchange, revoke, link and unlink. An operation is one method
// and, if it writes, one transaction (unit): it loads rows, applies the rules of package
// identity, and stores the outcome with its audit entry. It does not depend on HTTP.
// Failures for the caller are *apierr.Error.
package registrations

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/auth/keyring"
	"github.com/firstpick/firstpick/server/auth/trust"
	"github.com/firstpick/firstpick/server/kit/ratelimit"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/quota"
	"github.com/firstpick/firstpick/server/store/state"
)

// The URNs of the protocol.
const (
	GrantClaim = "urn:example:agent-auth:grant-type:claim"
	// GrantClaimAlias is the name of the claim grant in the public protocol.
	GrantClaimAlias = "urn:workos:agent-auth:grant-type:claim"
	GrantJWT        = "urn:ietf:params:oauth:grant-type:jwt-bearer" // RFC 7523
	AssertionType   = "urn:ietf:params:oauth:token-type:id-jag"
)

// A Service has the operations. All fields but Outbox are required.
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
	// NewAccounts lets a trusted issuer's assertion create an account for a person
	// without one.
	NewAccounts bool
}

// A Caller is the sender of a request, as known from the connection, and the limits
// that were checked for it.
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

// about is the key of limits per address block and e-mail address.
func (c *Caller) about(email string) string { return email + " " + c.block() }

func (c *Caller) userAgent() string {
	return sanitize(c.UserAgent[:min(len(c.UserAgent), maxUserAgent)])
}

// sanitize removes invalid UTF-8 and NUL, which PostgreSQL cannot store in a text.
func sanitize(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", "") }

// Resource is the API's root: aud of ID-JAGs, resource of tokens.
func (s *Service) Resource() string { return s.BaseURL + "/api/" }

// Offers reports whether agents may register in a way. Assertions need an issuer.
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

func hash(token string) []byte { return secret.Hash(token) }

// note counts a failure that no transaction keeps, such as an unknown token.
func (s *Service) note(ctx context.Context, c *Caller, use quota.Use) error {
	return s.write(ctx, c, func(u *unit) error { return u.take(use) })
}

// barred fails when failures of the kind were noted too often.
func (s *Service) barred(ctx context.Context, c *Caller, use quota.Use) error {
	return s.DB.APIError(s.Limits.Check(ctx, s.DB.Read(), s.Now(), &c.Seen, use))
}

// newWorkspace stores a workspace under a free slug.
func (u *unit) newWorkspace(owner string, expires time.Time) (*state.Workspace, error) {
	w := &state.Workspace{ID: u.Secrets.ID("ws_"), OwnerID: owner, Plan: state.PlanFree, CreatedAt: u.now, ClaimExpires: expires}
	if owner != "" {
		w.ClaimedAt = u.now
	}
	for digits := 4; ; digits++ {
		w.Slug = u.Secrets.Pick(adjectives) + "-" + u.Secrets.Pick(animals) + "-" + u.Secrets.Number(digits)
		if added, err := u.tx.AddWorkspace(u.ctx, w); added || err != nil {
			return w, err
		}
	}
}

// The words of workspace names.
var (
	adjectives = []string{"amber", "brisk", "calm", "clever", "bright", "quiet", "eager", "gentle", "keen", "lively", "mellow", "nimble", "plucky", "proud", "sunny", "swift", "tidy", "warm", "wise", "bold"}
	animals    = []string{"otter", "heron", "badger", "falcon", "lynx", "marten", "osprey", "raven", "salmon", "stoat", "swallow", "tern", "vole", "wren", "ibex", "gecko", "finch", "crane", "beaver", "hare"}
)
