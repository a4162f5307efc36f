package evalclient

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
)

func providerKeyPath(name string) string { return "/api/v1/provider-keys/" + url.PathEscape(name) }

// ProviderKeys lists the keys of model providers that the workspace has set.
func (c *Client) ProviderKeys(ctx context.Context) iter.Seq2[*ProviderKey, error] {
	return list[ProviderKey](ctx, c, "/api/v1/provider-keys", "providerKeys", url.Values{})
}

// SetProviderKey gives the server a key of a model provider, for runs of this
// workspace. The server never returns it. The key may be sent to hosts; nil keeps
// those that it is bound to, or takes its provider's own.
func (c *Client) SetProviderKey(ctx context.Context, name, value string, hosts []string) (*ProviderKey, error) {
	body, err := json.Marshal(struct {
		Value string   `json:"value"`
		Hosts []string `json:"hosts,omitempty"`
	}{value, hosts})
	if err != nil {
		return nil, err
	}
	return ask[ProviderKey](ctx, c, call{
		method: http.MethodPut, path: providerKeyPath(name), contentType: jsonType, body: body, again: true, secret: value,
	})
}

// DropProviderKey takes a key away from the server.
func (c *Client) DropProviderKey(ctx context.Context, name string) error {
	res, err := c.open(ctx, call{method: http.MethodDelete, path: providerKeyPath(name), again: true})
	if err != nil {
		return err
	}
	return res.Body.Close()
}
