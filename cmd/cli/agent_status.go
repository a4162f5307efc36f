package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/firstpick/firstpick/cmd/agentauth"
)

func (o *agentOptions) status(context.Context, []string) error {
	if o.session == nil {
		return usageErr("firstpick agent register", "no session is saved in %s", o.path)
	}
	if o.json {
		v := o.view()
		if c := v.Claim; c != nil {
			v.Claim = &agentauth.Claim{UserCode: masked(c.UserCode), Interval: c.Interval, Expires: c.Expires}
		}
		return printJSON(o.env, v)
	}
	s, now := o.session, o.env.Now()
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-14s %s\n", name, value)
		}
	}
	secret := func(name, value string, expires time.Time) {
		if value == "" {
			return
		}
		until := ""
		switch {
		case expires.IsZero():
		case now.Before(expires):
			until = ", valid for " + span(expires.Sub(now))
		default:
			until = ", expired"
		}
		line(name, masked(value)+until)
	}
	line("service", clean(s.URL))
	line("registration", clean(s.RegistrationID)+" ("+clean(s.Type)+")")
	line("claimed", yes(s.Claimed))
	line("workspace", clean(s.Workspace))
	line("email", clean(s.Email))
	line("scopes", clean(strings.Join(s.Scopes, " ")))
	secret("claim token", s.ClaimToken, s.ClaimTokenExpires)
	if s.Claim != nil {
		secret("code", s.Claim.UserCode, s.Claim.Expires)
	}
	secret("assertion", s.Assertion, s.AssertionExpires)
	secret("access token", s.AccessToken, s.TokenExpires)
	line("file", o.path)
	if _, err := io.WriteString(o.env.Stdout, b.String()); err != nil {
		return err
	}
	_, err := fmt.Fprintln(o.env.Stderr, "next: "+o.next())
	return err
}

func (o *agentOptions) forget(context.Context, []string) error {
	err := os.Remove(o.path)
	if errors.Is(err, os.ErrNotExist) {
		_, err = fmt.Fprintln(o.env.Stderr, "no session was saved")
		return err
	}
	if err == nil {
		_, err = fmt.Fprintf(o.env.Stderr, "deleted %s; its access token stays valid until it expires\n", o.path)
	}
	return err
}

// An agentView is the session with its secrets masked. The claim is for the
// user's eyes: register and claim show it, status does not.
type agentView struct {
	URL              string    `json:"url"`
	RegistrationID   string    `json:"registration_id"`
	Type             string    `json:"registration_type"`
	Workspace        string    `json:"workspace,omitempty"`
	Email            string    `json:"email,omitempty"`
	Claimed          bool      `json:"claimed"`
	Scopes           []string  `json:"scopes"`
	PostClaimScopes  []string  `json:"post_claim_scopes,omitempty"`
	ClaimToken       string    `json:"claim_token,omitempty"`
	ClaimExpires     time.Time `json:"claim_token_expires,omitzero"`
	Assertion        string    `json:"identity_assertion,omitempty"`
	AssertionExpires time.Time `json:"assertion_expires,omitzero"`
	AccessToken      string    `json:"access_token,omitempty"`
	TokenExpires     time.Time `json:"access_token_expires,omitzero"`

	Claim *agentauth.Claim `json:"claim,omitempty"`
}

func (o *agentOptions) view() agentView {
	s := o.session
	return agentView{
		URL: s.URL, RegistrationID: s.RegistrationID, Type: s.Type, Workspace: s.Workspace, Email: s.Email,
		Claimed: s.Claimed, Scopes: append([]string{}, s.Scopes...), PostClaimScopes: s.PostClaimScopes,
		ClaimToken: masked(s.ClaimToken), ClaimExpires: s.ClaimTokenExpires,
		Assertion: masked(s.Assertion), AssertionExpires: s.AssertionExpires,
		AccessToken: masked(s.AccessToken), TokenExpires: s.TokenExpires, Claim: s.Claim,
	}
}

// masked keeps the kind of a secret, such as clm_, and nothing else of it.
func masked(secret string) string {
	if secret == "" {
		return ""
	}
	kind, _, found := strings.Cut(secret, "_")
	if !found || len(kind) > 4 {
		return "****"
	}
	return kind + "_****"
}
