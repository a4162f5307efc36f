package authapi

import (
	"net/http"
	"strings"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/endpoint"
	"github.com/firstpick/firstpick/server/store/identity"
)

// A tokenAnswer is the answer of both grants (RFC 6749, 5.1); the claim grant
// adds the assertion.
type tokenAnswer struct {
	AccessToken      string    `json:"access_token"`
	TokenType        string    `json:"token_type"`
	ExpiresIn        int       `json:"expires_in"`
	Scope            string    `json:"scope"`
	Assertion        string    `json:"identity_assertion,omitempty"`
	AssertionExpires string    `json:"assertion_expires,omitempty"`
	RegistrationID   string    `json:"registration_id,omitempty"`
	Workspace        *slugOnly `json:"workspace,omitempty"`
}

func (h *Handler) token(c *registrations.Caller, r *http.Request) (any, error) {
	params, err := form(r)
	if err != nil {
		return nil, err
	}
	if r.Header.Get("Authorization") != "" {
		return nil, &apierr.Error{Status: http.StatusUnauthorized, Code: "invalid_client", Description: "Clients are public here: send no Authorization header to this endpoint."}
	}
	need := func(name string) (string, error) {
		if v := params.Get(name); v != "" {
			return v, nil
		}
		return "", apierr.InvalidRequest("The parameter " + name + " is missing.")
	}
	grant, err := need("grant_type")
	if err != nil {
		return nil, err
	}
	switch grant {
	case registrations.GrantClaim, registrations.GrantClaimAlias:
		claim, err := need("claim_token")
		if err != nil {
			return nil, err
		}
		return answer(h.Agents.Redeem(r.Context(), c, claim))
	case registrations.GrantJWT:
		assertion, err := need("assertion")
		if err != nil {
			return nil, err
		}
		if resource := params.Get("resource"); resource != "" && strings.TrimSuffix(resource, "/")+"/" != h.Agents.Resource() {
			return nil, apierr.Refused("invalid_target", "resource must be the resource of the protected-resource metadata.")
		}
		return answer(h.Agents.Exchange(r.Context(), c, assertion, strings.Fields(params.Get("scope"))))
	default:
		return nil, apierr.Refused("unsupported_grant_type", "grant_type must be one of grant_types_supported of the metadata.")
	}
}

func answer(t *registrations.Tokens, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	out := tokenAnswer{
		AccessToken: t.AccessToken, TokenType: "Bearer", ExpiresIn: int(identity.TokenLifetime.Seconds()), Scope: t.Scope,
		Assertion: t.Assertion, RegistrationID: t.RegistrationID,
	}
	if t.Assertion != "" {
		out.AssertionExpires, out.Workspace = endpoint.Time(t.Expires), &slugOnly{t.WorkspaceSlug}
	}
	return out, nil
}

// revoke answers 200 whether or not there was a token to revoke (RFC 7009, 2.2).
// Another of our secrets is refused, lest the agent believe that it is void now.
func (h *Handler) revoke(c *registrations.Caller, r *http.Request) (any, error) {
	params, err := form(r)
	if err != nil {
		return nil, err
	}
	token := params.Get("token")
	if token == "" {
		return nil, apierr.InvalidRequest("The parameter token is missing.")
	}
	if strings.HasPrefix(token, "clm_") || strings.Count(token, ".") == 2 { // a claim token, or a JWT
		return nil, apierr.Refused("unsupported_token_type", "Only access tokens are revoked here. The person ends a registration on the page of linked agents.")
	}
	return nil, h.Agents.Revoke(r.Context(), c, token)
}
