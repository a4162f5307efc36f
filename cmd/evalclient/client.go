package evalclient

import (
	"context"
	"net/http"
	"time"
)

// A Client calls one server as one workspace. All fields but UserAgent must be set.
type Client struct {
	// Base is the root address of the server, such as https://firstpick.example.
	Base string
	// Key is an eval key. It is a secret.
	Key string
	// HTTP sends the requests. It should have no timeout, which would end downloads and
	// watching; a server that is silent for a minute is given up. Its redirect policy
	// is not used.
	HTTP *http.Client
	// Now is the clock that dates in Retry-After are read with.
	Now func() time.Time
	// Sleep waits, or returns the context's error.
	Sleep func(context.Context, time.Duration) error
	// UserAgent is sent with each request, such as firstpick/1.2.0.
	UserAgent string
}

// Whoami returns the key, its workspace and limits.
func (c *Client) Whoami(ctx context.Context) (*Identity, error) {
	return get[Identity](ctx, c, "/api/v1/key", nil)
}
