// Package discovery serves the documents that an agent reads before it registers: the
// protected-resource metadata (RFC 9728), the authorization-server metadata (RFC
// 8414), the key set (RFC 7517), and /auth.md, which describes the same in prose.
package discovery

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"net/http"
	"text/template"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/auth/trust"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/negotiate"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/store/identity"
)

//go:embed auth.md
var authMD string

//go:embed logo.svg
var logo []byte

const logoPath = "/logo.svg"

// A Handler serves the documents. All fields are required.
type Handler struct {
	Agents *registrations.Service
	Errors apierr.Writer
	guide  *template.Template
}

// New returns a Handler.
func New(s *registrations.Service, errors apierr.Writer) *Handler {
	return &Handler{Agents: s, Errors: errors, guide: template.Must(template.New("auth.md").Parse(authMD))}
}

// Mount registers the routes. The resource's metadata is at the path that RFC 9728
// defines for BASE/api/, which the challenges name, without the slash and at the root.
func (h *Handler) Mount(r chi.Router) {
	for path, f := range map[string]func(context.Context) ([]byte, string, error){
		apierr.MetadataPath:                       h.resource,
		apierr.MetadataPath + "/api":              h.resource,
		apierr.ResourceMetadataPath:               h.resource,
		"/.well-known/oauth-authorization-server": h.server,
		"/.well-known/jwks.json":                  h.keys,
		"/auth.md":                                h.guideText,
		logoPath:                                  func(context.Context) ([]byte, string, error) { return logo, "image/svg+xml", nil },
	} {
		route.Public(r, path, h.serve(f))
	}
}

func (h *Handler) serve(f func(context.Context) ([]byte, string, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, contentType, err := f(r.Context())
		if err != nil {
			h.Errors.Write(w, r, apierr.StoreDown(err))
			return
		}
		negotiate.NewDocument(contentType, "public, max-age=300", body).ServeHTTP(w, r)
	}
}

type resourceDoc struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers"`
	Scopes               []string `json:"scopes_supported"`
	BearerMethods        []string `json:"bearer_methods_supported"`
	Name                 string   `json:"resource_name"`
	Logo                 string   `json:"resource_logo_uri"` // agents show it when they ask for consent
	Documentation        string   `json:"resource_documentation"`
}

func (h *Handler) resource(context.Context) ([]byte, string, error) {
	base := h.Agents.BaseURL
	return asJSON(resourceDoc{
		Resource: h.Agents.Resource(), AuthorizationServers: []string{base}, Scopes: identity.BothScopes(),
		BearerMethods: []string{"header"}, Name: "firstpick agent-channel analytics", Logo: base + logoPath, Documentation: base + "/auth.md",
	})
}

type serverDoc struct {
	Issuer               string    `json:"issuer"`
	Token                string    `json:"token_endpoint"`
	Revocation           string    `json:"revocation_endpoint"`
	JWKS                 string    `json:"jwks_uri"`
	Grants               []string  `json:"grant_types_supported"`
	ResponseTypes        []string  `json:"response_types_supported"`
	TokenAuth            []string  `json:"token_endpoint_auth_methods_supported"`
	RevocationAuth       []string  `json:"revocation_endpoint_auth_methods_supported"`
	Scopes               []string  `json:"scopes_supported"`
	Documentation        string    `json:"service_documentation"`
	ProtectedResources   []string  `json:"protected_resources"`
	Resource             string    `json:"resource"`
	AuthorizationServers []string  `json:"authorization_servers"`
	BearerMethods        []string  `json:"bearer_methods_supported"`
	AgentAuth            agentAuth `json:"agent_auth"`
}

// An agentAuth describes registration. Its last members have the names of version 0.1 of
// the protocol, for scanners and older agents.
type agentAuth struct {
	Skill             string             `json:"skill"`
	Identity          string             `json:"identity_endpoint"`
	Claim             string             `json:"claim_endpoint"`
	Events            string             `json:"events_endpoint"`
	Types             []string           `json:"identity_types_supported"`
	Anonymous         *credentials       `json:"anonymous,omitempty"`
	IdentityAssertion *identityAssertion `json:"identity_assertion,omitempty"`
	EventTypes        []string           `json:"events_supported"`

	ClaimGrants []string `json:"claim_grant_types_supported"` // the claim grant, by all names that are accepted

	RegisterURI   string `json:"register_uri"`
	ClaimURI      string `json:"claim_uri"`
	RevocationURI string `json:"revocation_uri"` // of events, not of tokens
}

type credentials struct {
	Credentials []string `json:"credential_types_supported"`
}

type identityAssertion struct {
	Types   []string `json:"assertion_types_supported"`
	Issuers []string `json:"trusted_issuers"`
	credentials
}

// server advertises only supported features: identity_assertion needs a trusted issuer.
func (h *Handler) server(ctx context.Context) ([]byte, string, error) {
	base := h.Agents.BaseURL
	doc := serverDoc{
		Issuer: base, Token: base + "/api/oauth2/token", Revocation: base + "/api/oauth2/revoke", JWKS: base + "/.well-known/jwks.json",
		Grants: []string{registrations.GrantJWT, registrations.GrantClaim}, ResponseTypes: []string{}, TokenAuth: []string{"none"}, RevocationAuth: []string{"none"},
		Scopes: identity.BothScopes(), Documentation: base + "/auth.md", ProtectedResources: []string{h.Agents.Resource()},
		Resource: h.Agents.Resource(), AuthorizationServers: []string{base}, BearerMethods: []string{"header"},
		AgentAuth: agentAuth{
			Skill: base + "/auth.md", Identity: base + "/api/agent/identity", Claim: base + "/api/agent/identity/claim",
			Events: base + "/api/agent/event/notify", Types: []string{}, EventTypes: []string{trust.EventRevoked},
			ClaimGrants: []string{registrations.GrantClaim, registrations.GrantClaimAlias}, RegisterURI: base + "/api/agent/identity", ClaimURI: base + "/api/agent/identity/claim", RevocationURI: base + "/api/agent/event/notify",
		},
	}
	accessToken := credentials{[]string{"access_token"}}
	for _, k := range []identity.Kind{identity.Anonymous, identity.ServiceAuth, identity.IdentityAssertion} {
		offered, err := h.Agents.Offers(ctx, k)
		if err != nil {
			return nil, "", err
		}
		if offered {
			doc.AgentAuth.Types = append(doc.AgentAuth.Types, string(k))
		}
		if offered && k == identity.Anonymous {
			doc.AgentAuth.Anonymous = &accessToken
		}
		if offered && k == identity.IdentityAssertion {
			issuers, err := h.issuers(ctx)
			if err != nil {
				return nil, "", err
			}
			doc.AgentAuth.IdentityAssertion = &identityAssertion{Types: []string{registrations.AssertionType}, Issuers: issuers, credentials: accessToken}
		}
	}
	return asJSON(doc)
}

func (h *Handler) issuers(ctx context.Context) ([]string, error) {
	list, err := h.Agents.Issuers.List(ctx)
	var names []string
	for _, i := range list {
		names = append(names, i.ISS)
	}
	return names, err
}

func (h *Handler) keys(ctx context.Context) ([]byte, string, error) {
	set, err := h.Agents.Ring.JWKS(ctx)
	return set, "application/json", err
}

func (h *Handler) guideText(ctx context.Context) ([]byte, string, error) {
	issuers, err := h.issuers(ctx)
	if err != nil {
		return nil, "", err
	}
	metadata, _, err := h.server(ctx)
	if err != nil {
		return nil, "", err
	}
	var pretty, buf bytes.Buffer
	if err := json.Indent(&pretty, metadata, "", "  "); err != nil {
		return nil, "", err
	}
	err = h.guide.Execute(&buf, map[string]any{
		"Base": h.Agents.BaseURL, "Issuers": issuers, "Metadata": pretty.String(), "GrantClaim": registrations.GrantClaim, "GrantClaimAlias": registrations.GrantClaimAlias, "GrantJWT": registrations.GrantJWT, "AssertionType": registrations.AssertionType,
	})
	return buf.Bytes(), "text/markdown; charset=utf-8", err
}

func asJSON(doc any) ([]byte, string, error) {
	data, err := json.Marshal(doc)
	return data, "application/json", err
}
