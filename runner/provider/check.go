package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/firstpick/firstpick/runner/agent"
)

const checkTimeout = 20 * time.Second

// Check looks the model up, which is free. It fails if the provider is unreachable,
// rejects the key, or certainly does not have the model. A server without such an
// endpoint passes.
func (c *client) Check(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, http.MethodGet, c.base+c.kind.codec.lookup(c.Model), nil)
	if err != nil {
		return err
	}
	c.setHeaders(req)
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%s cannot be reached: %w; check base_url and the network", c.base, errors.New(c.secret.text(err.Error())))
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return fmt.Errorf("%s: the answer was cut: %w", c.base, err)
	}
	body = c.secret.bytes(body)
	if resp.StatusCode == http.StatusOK {
		if !c.kind.codec.has(body, c.Model) {
			hint := ""
			if c.kind.pull != "" {
				hint = "; get it with: " + c.kind.pull + " " + c.Model
			}
			return fmt.Errorf("%s does not have the model %q%s", c.base, c.Model, hint)
		}
		return nil
	}
	f := c.failureOf(body)
	switch reason, _ := f.judge(resp.StatusCode, nil); {
	case reason == agent.ReasonAuth:
		return fmt.Errorf("%s rejects the key: %w; check %s", c.base, f.describe(resp.StatusCode), c.keyName())
	case reason == agent.ReasonNotFound && (c.home || f.code == "model_not_found"):
		return fmt.Errorf("%s does not have the model %q: %w", c.base, c.Model, f.describe(resp.StatusCode))
	default:
		return nil
	}
}

// keyName returns the variable of the key, for errors.
func (c *client) keyName() string {
	if c.APIKeyEnv != "" {
		return c.APIKeyEnv
	}
	if c.home && c.kind.KeyEnv != "" {
		return c.kind.KeyEnv
	}
	return "api_key_env, which is not set"
}
