package agentauth

import (
	"context"
	"net/http"
	"time"
)

// A Client speaks the protocol. All fields but UserAgent must be set.
type Client struct {
	// HTTP sends the requests. Its redirect policy is not used: this client
	// follows no redirect.
	HTTP *http.Client
	// Now is the clock that lifetimes are measured with.
	Now func() time.Time
	// Sleep waits, or returns the context's error.
	Sleep func(context.Context, time.Duration) error
	// UserAgent is sent with each request, such as firstpick/1.2.0.
	UserAgent string
}

// The kinds of registration.
const (
	Anonymous         = "anonymous"
	ServiceAuth       = "service_auth"
	IdentityAssertion = "identity_assertion"
)

const (
	jwtBearerGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	idJagType      = "urn:ietf:params:oauth:token-type:id-jag"
	claimGrantEnd  = "agent-auth:grant-type:claim"
)
