package agentauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// A Request asks for a registration.
type Request struct {
	// Type is Anonymous, ServiceAuth or IdentityAssertion.
	Type string
	// LoginHint is the user's email address, for ServiceAuth.
	LoginHint string
	// Assertion is the ID-JAG, for IdentityAssertion.
	Assertion string
}

// A Registration is the result of a Request. ClaimToken and IdentityAssertion
// are secrets; the service returns the first one only once.
type Registration struct {
	ID   string
	Type string
	// IdentityAssertion is empty until a person confirmed the registration,
	// except for an anonymous one.
	IdentityAssertion string
	AssertionExpires  time.Time
	ClaimToken        string
	ClaimTokenExpires time.Time
	// Scopes hold now; PostClaimScopes after the claim.
	Scopes          []string
	PostClaimScopes []string
	Workspace       string
	// Claim is nil where no person is asked for yet.
	Claim *Claim
	// Interaction says that the service wants a person to confirm a link to an
	// account that exists: it answered interaction_required.
	Interaction bool
}

type registrationBody struct {
	ID                string     `json:"registration_id"`
	Type              string     `json:"registration_type"`
	IdentityAssertion string     `json:"identity_assertion"`
	AssertionExpires  moment     `json:"assertion_expires"`
	ClaimToken        string     `json:"claim_token"`
	ClaimTokenExpires moment     `json:"claim_token_expires"`
	Scopes            []string   `json:"scopes"`
	PreClaimScopes    []string   `json:"pre_claim_scopes"`
	PostClaimScopes   []string   `json:"post_claim_scopes"`
	Workspace         workspace  `json:"workspace"`
	Claim             *claimBody `json:"claim"`
}

type workspace struct {
	Slug string `json:"slug"`
}

// Register registers the agent. Where the service wants a person to confirm
// first, the Registration has a Claim.
func (c *Client) Register(ctx context.Context, s Service, r Request) (Registration, error) {
	body := map[string]string{"type": r.Type}
	switch r.Type {
	case Anonymous:
	case ServiceAuth:
		body["login_hint"] = r.LoginHint
	case IdentityAssertion:
		body["assertion_type"], body["assertion"] = idJagType, r.Assertion
	default:
		return Registration{}, errors.New("no such kind of registration")
	}
	if len(s.IdentityTypes) > 0 && !slices.Contains(s.IdentityTypes, r.Type) {
		return Registration{}, fmt.Errorf("the service does not offer the registration type %s", r.Type)
	}
	in, err := jsonCall(s.IdentityEndpoint, "", body, r.Assertion)
	if err != nil {
		return Registration{}, err
	}
	a, err := c.do(ctx, in)
	refused := (*Error)(nil)
	interaction := errors.As(err, &refused) && refused.Status == http.StatusUnauthorized && refused.Code == CodeInteraction
	if err != nil && !interaction {
		return Registration{}, err
	}
	var got registrationBody
	if err := a.decode(&got); err != nil {
		return Registration{}, err
	}
	if interaction && (got.Claim == nil || got.ClaimToken == "") {
		return Registration{}, refused // nothing that could be carried to the user
	}
	reg, err := got.registration(c.Now(), r.Type)
	reg.Interaction = interaction
	return reg, err
}

func (b *registrationBody) registration(now time.Time, kind string) (Registration, error) {
	r := Registration{
		ID: b.ID, Type: kind,
		IdentityAssertion: b.IdentityAssertion, AssertionExpires: b.AssertionExpires.Time,
		ClaimToken: b.ClaimToken, ClaimTokenExpires: b.ClaimTokenExpires.Time,
		Scopes: b.Scopes, PostClaimScopes: b.PostClaimScopes, Workspace: b.Workspace.Slug,
	}
	if len(r.Scopes) == 0 {
		r.Scopes = b.PreClaimScopes
	}
	if b.Claim != nil {
		claim, err := b.Claim.claim(now)
		if err != nil {
			return Registration{}, err
		}
		r.Claim = &claim
	}
	switch {
	case b.ID == "":
		return Registration{}, errors.New("the answer has no registration_id")
	case b.Type != "" && b.Type != kind:
		return Registration{}, fmt.Errorf("the answer is of the type %s, not %s", Printable(b.Type, maxText), kind)
	case r.IdentityAssertion == "" && r.Claim == nil:
		return Registration{}, errors.New("the answer has neither an identity_assertion nor a claim block")
	case r.ClaimToken == "" && (r.Claim != nil || kind == Anonymous):
		return Registration{}, errors.New("the answer has no claim_token")
	}
	return r, nil
}
