package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/firstpick/firstpick/cmd/agentauth"
)

// exchange mints an access token and saves it.
func (o *agentOptions) exchange(ctx context.Context, svc agentauth.Service) error {
	if o.session.Assertion == "" {
		return usageErr("firstpick agent claim", "the user has not confirmed the registration yet")
	}
	token, err := o.client.Exchange(ctx, svc, o.session.Assertion)
	if err != nil {
		return o.explain(err, svc)
	}
	o.session.TakeToken(token, false)
	return o.session.Write(o.path)
}

func (o *agentOptions) token(ctx context.Context, _ []string) error {
	svc, err := o.service(ctx)
	if err != nil {
		return err
	}
	if err := o.exchange(ctx, svc); err != nil {
		return err
	}
	if !o.json {
		_, err = fmt.Fprintln(o.env.Stdout, o.session.AccessToken)
		return err
	}
	doc := map[string]any{"access_token": o.session.AccessToken, "token_type": "Bearer", "scope": strings.Join(o.session.Scopes, " ")}
	if !o.session.TokenExpires.IsZero() {
		doc["expires"] = o.session.TokenExpires.UTC()
	}
	return printJSON(o.env, doc)
}

func (o *agentOptions) revoke(ctx context.Context, args []string) (err error) {
	token := firstOr(args, "")
	if token == "-" {
		if token, err = o.readSecret(token); err != nil {
			return badInput(err)
		}
	}
	var svc agentauth.Service
	if len(args) > 0 {
		if token == "" {
			return usageErr("", "the token is empty")
		}
		_, svc, err = o.discover(ctx)
	} else {
		svc, err = o.service(ctx)
	}
	if err != nil {
		return err
	}
	if len(args) == 0 {
		if token = o.session.AccessToken; token == "" {
			return usageErr("firstpick agent revoke TOKEN", "no access token is saved")
		}
	}
	if err := o.client.Revoke(ctx, svc, token); err != nil {
		return o.explain(err, svc)
	}
	if o.session == nil || token != o.session.AccessToken {
		_, err = fmt.Fprintln(o.env.Stderr, "revoked; the token is invalid now")
		return err
	}
	o.session.AccessToken, o.session.TokenExpires = "", time.Time{}
	if err := o.session.Write(o.path); err != nil {
		return err
	}
	_, err = fmt.Fprintln(o.env.Stderr, "revoked; the registration stays: firstpick agent token issues a new token")
	return err
}

func (o *agentOptions) key(ctx context.Context, _ []string) error {
	switch "" {
	case o.label:
		return usageErr("firstpick agent key --label NAME", "--label is missing")
	case o.kind:
		return usageErr("secret is the default", "--kind must be secret, publishable or log (got \"\")")
	}
	err := o.call(ctx, func(svc agentauth.Service, token string) (json.RawMessage, error) {
		return o.client.CreateKey(ctx, svc, token, agentauth.KeyRequest{Kind: o.kind, Label: o.label, Origins: o.origins})
	})
	if err == nil {
		_, _ = fmt.Fprintln(o.env.Stderr, "the key is shown only once; store it safely")
	}
	return err
}

func (o *agentOptions) workspace(ctx context.Context, _ []string) error {
	return o.call(ctx, func(svc agentauth.Service, token string) (json.RawMessage, error) {
		return o.client.Workspace(ctx, svc, token)
	})
}

// call sends one request with an access token and prints the answer. A saved
// token that the service no longer takes is replaced once.
func (o *agentOptions) call(ctx context.Context, send func(agentauth.Service, string) (json.RawMessage, error)) error {
	svc, err := o.service(ctx)
	if err != nil {
		return err
	}
	token := o.session.FreshToken(o.env.Now())
	saved := token != ""
	if !saved {
		if err := o.exchange(ctx, svc); err != nil {
			return err
		}
		token = o.session.AccessToken
	}
	doc, err := send(svc, token)
	if refused := (*agentauth.Error)(nil); saved && errors.As(err, &refused) && refused.Status == http.StatusUnauthorized {
		if err := o.exchange(ctx, svc); err != nil {
			return err
		}
		doc, err = send(svc, o.session.AccessToken)
	}
	if err != nil {
		return o.explain(err, svc)
	}
	return printRecord(o.env, doc, o.json)
}
