package keyring

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/firstpick/firstpick/server/store/identity"
)

// typ is the header that distinguishes our assertions from our other JWTs.
const typ = "oauth-id-jag+jwt"

// maxAssertion bounds the size of a token that is looked at, in bytes.
const maxAssertion = 8 << 10

// ErrInvalid means that a token is not a valid assertion of ours. It
// does not return the reason: the holder of a valid one does not need it.
var ErrInvalid = errors.New("not a valid assertion")

// An Assertion has the claims of our token about a registration.
type Assertion struct {
	RegistrationID string
	Kind           identity.Kind
	Generation     int
	Email          string // of the account; empty without one
	EmailVerified  bool   // its owner proved it to us
	AMR            []string
	JTI            string
	IssuedAt       time.Time
	ExpiresAt      time.Time
}

// claims is the payload. It is not jwt.RegisteredClaims because that writes aud
// as a list.
type claims struct {
	Issuer        string           `json:"iss"`
	Subject       string           `json:"sub"`
	Audience      string           `json:"aud"`
	ClientID      string           `json:"client_id"`
	ID            string           `json:"jti"`
	IssuedAt      *jwt.NumericDate `json:"iat"`
	ExpiresAt     *jwt.NumericDate `json:"exp"`
	Type          string           `json:"registration_type"`
	Generation    int              `json:"gen"`
	Email         string           `json:"email,omitempty"`
	EmailVerified bool             `json:"email_verified,omitempty"`
	AMR           []string         `json:"amr,omitempty"`
}

// The methods of jwt.Claims.
func (c claims) GetExpirationTime() (*jwt.NumericDate, error) { return c.ExpiresAt, nil }
func (c claims) GetIssuedAt() (*jwt.NumericDate, error)       { return c.IssuedAt, nil }
func (c claims) GetNotBefore() (*jwt.NumericDate, error)      { return nil, nil }
func (c claims) GetIssuer() (string, error)                   { return c.Issuer, nil }
func (c claims) GetSubject() (string, error)                  { return c.Subject, nil }
func (c claims) GetAudience() (jwt.ClaimStrings, error)       { return jwt.ClaimStrings{c.Audience}, nil }

func wireType(k identity.Kind) string {
	if k == identity.IdentityAssertion {
		return "id_jag"
	}
	return string(k)
}

func kindOf(wire string) identity.Kind {
	if wire == wireType(identity.IdentityAssertion) {
		return identity.IdentityAssertion
	}
	return identity.Kind(wire)
}

// Sign mints an assertion. Times have whole seconds in it.
func (r *Ring) Sign(ctx context.Context, a Assertion) (string, error) {
	keys, err := r.current(ctx)
	if err != nil {
		return "", err
	}
	k, err := signer(keys, r.Now())
	if err != nil {
		return "", err
	}
	t := jwt.NewWithClaims(jwt.SigningMethodES256, claims{
		Issuer: r.Issuer, Subject: a.RegistrationID, Audience: r.Issuer, ID: a.JTI,
		IssuedAt: jwt.NewNumericDate(a.IssuedAt), ExpiresAt: jwt.NewNumericDate(a.ExpiresAt),
		ClientID: r.Issuer + "/agent-auth", Type: wireType(a.Kind), Generation: a.Generation,
		Email: a.Email, EmailVerified: a.EmailVerified && a.Email != "", AMR: a.AMR,
	})
	t.Header["typ"], t.Header["kid"] = typ, k.kid
	return t.SignedString(k.private)
}

// Verify checks an assertion: form, type, algorithm, key, signature, issuer,
// audience and times. Whether its registration still lives is the caller's to
// check. It fails with ErrInvalid.
func (r *Ring) Verify(ctx context.Context, raw string) (Assertion, error) {
	if len(raw) > maxAssertion || strings.ContainsAny(raw, "\r\n") { // which base64 would skip
		return Assertion{}, ErrInvalid
	}
	var c claims
	p := jwt.NewParser(jwt.WithValidMethods([]string{"ES256"}), jwt.WithIssuer(r.Issuer), jwt.WithAudience(r.Issuer), jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(), jwt.WithLeeway(identity.Skew), jwt.WithStrictDecoding(), jwt.WithTimeFunc(r.Now))
	_, err := p.ParseWithClaims(raw, &c, func(t *jwt.Token) (any, error) {
		kid, _ := t.Header["kid"].(string)
		if t.Header["typ"] != typ || kid == "" {
			return nil, ErrInvalid
		}
		pub, ok := r.find(ctx, kid)
		if !ok {
			return nil, ErrInvalid
		}
		return pub, nil
	})
	if err != nil || c.Subject == "" || c.IssuedAt == nil {
		return Assertion{}, ErrInvalid
	}
	return Assertion{
		RegistrationID: c.Subject, Kind: kindOf(c.Type), Generation: c.Generation, Email: c.Email, EmailVerified: c.EmailVerified, AMR: c.AMR,
		JTI: c.ID, IssuedAt: c.IssuedAt.Time, ExpiresAt: c.ExpiresAt.Time,
	}, nil
}
