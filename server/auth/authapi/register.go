package authapi

import (
	"net/http"
	"time"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/endpoint"
	"github.com/firstpick/firstpick/server/kit/reqbody"
	"github.com/firstpick/firstpick/server/store/identity"
)

// A claimBlock holds the texts that the agent shows to the person.
type claimBlock struct {
	UserCode        string `json:"user_code"`
	VerificationURI string `json:"verification_uri"`
	ExpiresIn       int    `json:"expires_in"`
	Interval        int    `json:"interval"`
}

func (h *Handler) block(c *registrations.Code) *claimBlock {
	if c == nil {
		return nil
	}
	return &claimBlock{
		UserCode: c.UserCode, VerificationURI: h.Agents.BaseURL + "/claim?claim_attempt_token=" + c.ViewToken,
		ExpiresIn: int(identity.CodeLifetime.Seconds()), Interval: int(identity.PollInterval.Seconds()),
	}
}

type slugOnly struct {
	Slug string `json:"slug"`
}

// claimable is the part of the response that all claimable registrations share.
type claimable struct {
	ClaimURL          string   `json:"claim_url"`
	ClaimToken        string   `json:"claim_token"`
	ClaimTokenExpires string   `json:"claim_token_expires"`
	PostClaimScopes   []string `json:"post_claim_scopes"`
}

func (h *Handler) claimable(r *registrations.Registered) claimable {
	return claimable{h.Agents.BaseURL + "/api/agent/identity/claim", r.ClaimToken, endpoint.Time(r.Registration.ClaimExpires), identity.BothScopes()}
}

type anonymousAnswer struct {
	RegistrationID   string   `json:"registration_id"`
	RegistrationType string   `json:"registration_type"`
	Assertion        string   `json:"identity_assertion"`
	AssertionExpires string   `json:"assertion_expires"`
	PreClaimScopes   []string `json:"pre_claim_scopes"`
	claimable
	Workspace slugOnly `json:"workspace"`
}

type pendingAnswer struct {
	RegistrationID   string `json:"registration_id"`
	RegistrationType string `json:"registration_type"`
	claimable
	Claim *claimBlock `json:"claim"`
}

type acceptedAnswer struct {
	RegistrationID   string   `json:"registration_id"`
	RegistrationType string   `json:"registration_type"`
	Assertion        string   `json:"identity_assertion"`
	AssertionExpires string   `json:"assertion_expires"`
	Scopes           []string `json:"scopes"`
	Workspace        slugOnly `json:"workspace"`
}

type registerRequest struct {
	Type          string `json:"type"`
	LoginHint     string `json:"login_hint"`
	AssertionType string `json:"assertion_type"`
	Assertion     string `json:"assertion"`
}

func (h *Handler) register(c *registrations.Caller, r *http.Request) (any, error) {
	var req registerRequest
	if err := reqbody.Object(r, &req); err != nil {
		return nil, err
	}
	kind := identity.Kind(req.Type)
	switch kind {
	case identity.Anonymous, identity.ServiceAuth, identity.IdentityAssertion:
	default:
		return nil, apierr.BadBody("unsupported_type", "type must be anonymous, service_auth or identity_assertion.")
	}
	if err := h.offers(r, kind); err != nil {
		return nil, err
	}
	switch kind {
	case identity.Anonymous:
		return h.anonymous(c, r)
	case identity.ServiceAuth:
		return h.serviceAuth(c, r, req.LoginHint)
	default:
		return h.present(c, r, req)
	}
}

// offers refuses a kind that the operator switched off.
func (h *Handler) offers(r *http.Request, kind identity.Kind) error {
	offered, err := h.Agents.Offers(r.Context(), kind)
	switch {
	case err != nil:
		return apierr.StoreDown(err)
	case offered:
		return nil
	case kind == identity.IdentityAssertion:
		return apierr.Refused("issuer_not_enabled", "This service trusts no issuer. Use another type; see identity_types_supported.")
	}
	return apierr.Refused(string(kind)+"_not_enabled", "The operator does not offer this type; see identity_types_supported.")
}

func (h *Handler) anonymous(c *registrations.Caller, r *http.Request) (any, error) {
	got, err := h.Agents.RegisterAnonymous(r.Context(), c)
	if err != nil {
		return nil, err
	}
	return anonymousAnswer{
		got.Registration.ID, string(identity.Anonymous), got.Assertion, endpoint.Time(got.Expires), []string{identity.ScopeWrite},
		h.claimable(got), slugOnly{got.WorkspaceSlug},
	}, nil
}

func (h *Handler) serviceAuth(c *registrations.Caller, r *http.Request, hint string) (any, error) {
	got, err := h.Agents.RegisterServiceAuth(r.Context(), c, hint)
	if err != nil {
		return nil, err
	}
	return h.pending(got), nil
}

func (h *Handler) pending(got *registrations.Registered) pendingAnswer {
	return pendingAnswer{got.Registration.ID, string(got.Registration.Kind), h.claimable(got), h.block(got.Claim)}
}

func (h *Handler) present(c *registrations.Caller, r *http.Request, req registerRequest) (any, error) {
	if err := checkAssertion(req.AssertionType, req.Assertion); err != nil {
		return nil, err
	}
	got, err := h.Agents.Present(r.Context(), c, req.Assertion)
	if err != nil {
		return nil, err
	}
	if got.Claim != nil {
		return nil, &apierr.Error{
			Status: http.StatusUnauthorized, Code: "interaction_required", Extra: h.pending(got),
			Description: "The asserted address belongs to an existing account. Ask its owner to confirm the link: show verification_uri and user_code together, and poll.",
		}
	}
	return h.accepted(got), nil
}

func (h *Handler) accepted(got *registrations.Registered) acceptedAnswer {
	return acceptedAnswer{got.Registration.ID, string(got.Registration.Kind), got.Assertion, endpoint.Time(got.Expires), identity.BothScopes(), slugOnly{got.WorkspaceSlug}}
}

func checkAssertion(kind, assertion string) error {
	switch {
	case kind != registrations.AssertionType:
		return apierr.BadBody("unsupported_type", "assertion_type must be "+registrations.AssertionType+".")
	case assertion == "":
		return apierr.BadBody("malformed_assertion", "assertion is missing.")
	}
	return nil
}

// A claimRequest has no type in the contract; newer versions of the protocol use the
// type to distinguish an address (login_hint, service_auth) from an ID-JAG
// (identity_assertion).
type claimRequest struct {
	Type          string `json:"type"`
	ClaimToken    string `json:"claim_token"`
	Email         string `json:"email"`
	LoginHint     string `json:"login_hint"` // its name in newer versions of the protocol
	AssertionType string `json:"assertion_type"`
	Assertion     string `json:"assertion"`
}

type claimAnswer struct {
	RegistrationID string      `json:"registration_id"`
	AttemptID      string      `json:"claim_attempt_id"`
	Status         string      `json:"status"`
	ExpiresAt      string      `json:"expires_at"`
	Claim          *claimBlock `json:"claim"`
	Attempt        *claimBlock `json:"claim_attempt"` // the same, under its other name
}

func (h *Handler) claim(c *registrations.Caller, r *http.Request) (any, error) {
	var req claimRequest
	if err := reqbody.Object(r, &req); err != nil {
		return nil, err
	}
	if req.ClaimToken == "" {
		return nil, apierr.BadBody("malformed_body", "claim_token is missing.")
	}
	switch req.Type {
	case "", "login_hint", string(identity.ServiceAuth):
	case string(identity.IdentityAssertion):
		return h.claimByAssertion(c, r, req)
	default:
		return nil, apierr.BadBody("unsupported_type", "type must be login_hint, service_auth or identity_assertion, or absent.")
	}
	if req.Email == "" {
		req.Email = req.LoginHint
	}
	code, id, err := h.Agents.StartClaim(r.Context(), c, req.ClaimToken, req.Email)
	if err != nil {
		return nil, err
	}
	return h.initiated(id, code), nil
}

func (h *Handler) initiated(id string, code *registrations.Code) claimAnswer {
	b := h.block(code)
	return claimAnswer{id, code.AttemptID, "initiated", endpoint.Time(code.ExpiresAt.Truncate(time.Millisecond)), b, b}
}

// A claimedAnswer is the response to a claim by an ID-JAG, which completes at once.
type claimedAnswer struct {
	acceptedAnswer
	Status string `json:"status"`
}

func (h *Handler) claimByAssertion(c *registrations.Caller, r *http.Request, req claimRequest) (any, error) {
	if req.AssertionType == "" {
		req.AssertionType = registrations.AssertionType
	}
	if err := checkAssertion(req.AssertionType, req.Assertion); err != nil {
		return nil, err
	}
	if err := h.offers(r, identity.IdentityAssertion); err != nil {
		return nil, err
	}
	got, err := h.Agents.ClaimByAssertion(r.Context(), c, req.ClaimToken, req.Assertion)
	if err != nil {
		return nil, err
	}
	if got.Claim != nil {
		return h.initiated(got.Registration.ID, got.Claim), nil
	}
	return claimedAnswer{h.accepted(got), string(identity.Claimed)}, nil
}
