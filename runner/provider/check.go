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

// Check asks for the model, which is free. It fails where the provider cannot be
// reached, does not take the key, or certainly does not have the model; a server
// that does not know the question is fine.
func (c *client) Check(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, http.MethodGet, c.base+c.kind.codec.lookup(c.Model), nil)
	if err != nil {
		return err
	}
	c.dress(req)
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%s cannot be reached: %w; look at base_url and the network", c.base, errors.New(c.secret.text(err.Error())))
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
		return fmt.Errorf("%s does not take the key: %w; look at %s", c.base, f.told(resp.StatusCode), c.keyName())
	case reason == agent.ReasonNotFound && (c.home || f.code == "model_not_found"):
		return fmt.Errorf("%s does not have the model %q: %w", c.base, c.Model, f.told(resp.StatusCode))
	default:
		return nil
	}
}

// keyName is the variable of the key.
func (c *client) keyName() string {
	if c.APIKeyEnv != "" {
		return c.APIKeyEnv
	}
	if c.home && c.kind.KeyEnv != "" {
		return c.kind.KeyEnv
	}
	return "api_key_env, which is not set"
}
