package agentauth

import (
	"context"
	"encoding/json"
	"strings"
)

// A KeyRequest asks for a collector key. Origins are those of the pages that a
// publishable key is for, such as https://example.com.
type KeyRequest struct {
	Kind    string   `json:"kind"`
	Label   string   `json:"label"`
	Origins []string `json:"origins,omitempty"`
}

// CreateKey makes a collector key and returns the service's answer as it came.
// The answer is the only place where the key is ever shown.
func (c *Client) CreateKey(ctx context.Context, s Service, accessToken string, req KeyRequest) (json.RawMessage, error) {
	in, err := jsonCall(s.at("agent/keys"), accessToken, req)
	if err != nil {
		return nil, err
	}
	return c.document(ctx, in)
}

// Workspace reads the workspace and returns the service's answer as it came.
func (c *Client) Workspace(ctx context.Context, s Service, accessToken string) (json.RawMessage, error) {
	return c.document(ctx, getCall(s.at("agent/workspace"), accessToken))
}

// at returns the address of a path under the API's root.
func (s *Service) at(path string) string { return strings.TrimSuffix(s.Resource, "/") + "/" + path }

func (c *Client) document(ctx context.Context, in call) (json.RawMessage, error) {
	a, err := c.do(ctx, in)
	if err != nil {
		return nil, err
	}
	var doc json.RawMessage
	return doc, a.decode(&doc)
}
