package agentauth

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"
)

// A Token is an access token with its metadata. AccessToken and
// IdentityAssertion are secrets.
type Token struct {
	AccessToken string
	// Expires is zero where the service does not say.
	Expires time.Time
	Scopes  []string
	// The rest comes with a claim only.
	IdentityAssertion string
	AssertionExpires  time.Time
	RegistrationID    string
	Workspace         string
}

type tokenBody struct {
	AccessToken       string    `json:"access_token"`
	TokenType         string    `json:"token_type"`
	ExpiresIn         int64     `json:"expires_in"`
	Scope             string    `json:"scope"`
	IdentityAssertion string    `json:"identity_assertion"`
	AssertionExpires  moment    `json:"assertion_expires"`
	RegistrationID    string    `json:"registration_id"`
	Workspace         workspace `json:"workspace"`
}

// Exchange trades an identity assertion for an access token. The assertion
// stays good, so this is also how a token is renewed.
func (c *Client) Exchange(ctx context.Context, s Service, assertion string) (Token, error) {
	in := formCall(s.TokenEndpoint, url.Values{
		"grant_type": {jwtBearerGrant}, "assertion": {assertion}, "resource": {s.Resource},
	}, assertion)
	in.again = true
	return c.token(ctx, in)
}

// Revoke ends one access token. The assertion that it came from stays good.
func (c *Client) Revoke(ctx context.Context, s Service, accessToken string) error {
	in := formCall(s.RevocationEndpoint, url.Values{
		"token": {accessToken}, "token_type_hint": {"access_token"},
	}, accessToken)
	in.again = true
	_, err := c.do(ctx, in)
	return err
}

func (c *Client) token(ctx context.Context, in call) (Token, error) {
	a, err := c.do(ctx, in)
	if err != nil {
		return Token{}, err
	}
	var b tokenBody
	if err := a.decode(&b); err != nil {
		return Token{}, err
	}
	if !strings.EqualFold(b.TokenType, "Bearer") {
		return Token{}, errors.New("the answer's token_type is not Bearer")
	}
	if b.AccessToken == "" || strings.ContainsFunc(b.AccessToken, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return Token{}, errors.New("the answer has no usable access_token")
	}
	t := Token{
		AccessToken: b.AccessToken, Scopes: strings.Fields(b.Scope),
		IdentityAssertion: b.IdentityAssertion, AssertionExpires: b.AssertionExpires.Time,
		RegistrationID: b.RegistrationID, Workspace: b.Workspace.Slug,
	}
	if b.ExpiresIn > 0 {
		t.Expires = c.Now().Add(time.Duration(min(b.ExpiresIn, 366*24*3600)) * time.Second)
	}
	return t, nil
}
