package agentauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// A Service is the metadata of a service.
type Service struct {
	// Resource is the API's root, the audience of tokens; Issuer is its
	// authorization server.
	Resource string
	Issuer   string

	IdentityEndpoint   string
	ClaimEndpoint      string
	TokenEndpoint      string
	RevocationEndpoint string

	// ClaimGrant is the grant type that polls a claim; its vendor part differs
	// from service to service.
	ClaimGrant string
	// IdentityTypes are the kinds of registration on offer; empty where the
	// service does not say.
	IdentityTypes []string
	// TrustedIssuers are the identity providers whose assertions are accepted.
	TrustedIssuers []string
}

const (
	resourcePath = "/.well-known/oauth-protected-resource"
	serverPath   = "/.well-known/oauth-authorization-server"
)

type resourceMetadata struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers"`
}

type serverMetadata struct {
	Issuer             string   `json:"issuer"`
	TokenEndpoint      string   `json:"token_endpoint"`
	RevocationEndpoint string   `json:"revocation_endpoint"`
	GrantTypes         []string `json:"grant_types_supported"`
	AgentAuth          struct {
		IdentityEndpoint  string   `json:"identity_endpoint"`
		ClaimEndpoint     string   `json:"claim_endpoint"`
		IdentityTypes     []string `json:"identity_types_supported"`
		IdentityAssertion struct {
			TrustedIssuers []string `json:"trusted_issuers"`
		} `json:"identity_assertion"`
	} `json:"agent_auth"`
}

// Discover reads the metadata of the service at base, its root URL, and checks
// that the two documents agree with each other and with base.
func (c *Client) Discover(ctx context.Context, base string) (Service, error) {
	base, err := CheckBase(base)
	if err != nil {
		return Service{}, err
	}
	var pr resourceMetadata
	if err := c.fetch(ctx, base+resourcePath, &pr); err != nil {
		return Service{}, fmt.Errorf("protected-resource metadata: %w", err)
	}
	if err := onOrigin("resource", pr.Resource, base); err != nil {
		return Service{}, fmt.Errorf("protected-resource metadata: %w", err)
	}
	if _, err := CheckBase(pr.Resource); err != nil {
		return Service{}, fmt.Errorf("protected-resource metadata: resource: %w", err)
	}
	if len(pr.AuthorizationServers) == 0 {
		return Service{}, errors.New("protected-resource metadata: no authorization server is named")
	}
	issuer := pr.AuthorizationServers[0]
	if _, err := CheckBase(issuer); err != nil {
		return Service{}, fmt.Errorf("authorization server: %w", err)
	}
	as, err := c.serverMetadata(ctx, issuer)
	if err != nil {
		return Service{}, fmt.Errorf("authorization-server metadata: %w", err)
	}
	s := Service{
		Resource: pr.Resource, Issuer: issuer,
		IdentityEndpoint: as.AgentAuth.IdentityEndpoint, ClaimEndpoint: as.AgentAuth.ClaimEndpoint,
		TokenEndpoint: as.TokenEndpoint, RevocationEndpoint: as.RevocationEndpoint,
		IdentityTypes:  as.AgentAuth.IdentityTypes,
		TrustedIssuers: as.AgentAuth.IdentityAssertion.TrustedIssuers,
	}
	if err := s.check(as); err != nil {
		return Service{}, fmt.Errorf("authorization-server metadata: %w", err)
	}
	return s, nil
}

// serverMetadata reads the document of an issuer. An issuer with a path may
// keep it at either of two places: behind its path, as agents write it, or with
// the path last, as RFC 8414 does.
func (c *Client) serverMetadata(ctx context.Context, issuer string) (serverMetadata, error) {
	var as serverMetadata
	at := strings.TrimSuffix(issuer, "/")
	err := c.fetch(ctx, at+serverPath, &as)
	u, _ := parse(at)
	if refused := (*Error)(nil); errors.As(err, &refused) && refused.Status == http.StatusNotFound && u.Path != "" {
		err = c.fetch(ctx, origin(u)+serverPath+u.EscapedPath(), &as)
	}
	return as, err
}

// check holds the metadata to RFC 8414 and finds the claim grant.
func (s *Service) check(as serverMetadata) error {
	if as.Issuer != s.Issuer {
		return fmt.Errorf("issuer is %q, not %q", Printable(as.Issuer, maxText), s.Issuer)
	}
	for _, e := range []struct{ name, address string }{
		{"identity_endpoint", s.IdentityEndpoint}, {"claim_endpoint", s.ClaimEndpoint},
		{"token_endpoint", s.TokenEndpoint}, {"revocation_endpoint", s.RevocationEndpoint},
	} {
		if err := onOrigin(e.name, e.address, s.Issuer); err != nil {
			return err
		}
	}
	i := slices.IndexFunc(as.GrantTypes, func(g string) bool { return strings.HasSuffix(g, claimGrantEnd) })
	if i < 0 {
		return errors.New("grant_types_supported names no claim grant")
	}
	s.ClaimGrant = as.GrantTypes[i]
	return nil
}

func (c *Client) fetch(ctx context.Context, address string, v any) error {
	a, err := c.do(ctx, getCall(address, ""))
	if err != nil {
		return err
	}
	return a.decode(v)
}
