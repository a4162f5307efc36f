package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/server/store/state"
)

func (o *adminOptions) issuerAdd(ctx context.Context, args []string) error {
	o.issuer.Issuer = args[0]
	entry, err := o.issuer.entry()
	if err != nil {
		return badInput(err)
	}
	if o.configured(entry.ISS) {
		return usageErr("change it there", "the configuration file already has %s and takes precedence over the store", entry.ISS)
	}
	if err := o.svc.AddIssuer(ctx, nil, entry); err != nil {
		return err
	}
	o.notef("trusting %s", entry.ISS)
	return nil
}

// configured says whether the configuration file names an issuer.
func (o *adminOptions) configured(iss string) bool {
	return slices.ContainsFunc(o.cfg.Issuers, func(i IssuerConfig) bool { return i.Issuer == iss })
}

// An issuerView is an issuer as scripts read it.
type issuerView struct {
	ISS          string   `json:"issuer"`
	Name         string   `json:"name,omitempty"`
	JWKSURI      string   `json:"jwks_uri,omitempty"`
	Algs         []string `json:"algs,omitempty"`
	ClientIDs    []string `json:"client_ids,omitempty"`
	EmailDomains []string `json:"email_domains,omitempty"`
	AMR          []string `json:"amr,omitempty"`
	Audiences    []string `json:"audiences,omitempty"`
	AllowPrivate bool     `json:"allow_private"`
}

func (o *adminOptions) issuerList(ctx context.Context, _ []string) error {
	list, err := o.svc.Issuers.List(ctx)
	if err != nil {
		return err
	}
	if o.json {
		views := make([]issuerView, 0, len(list))
		for _, i := range list {
			views = append(views, issuerView(i))
		}
		return printJSON(o.env, map[string]any{"issuers": views})
	}
	t := table{header: []string{"issuer", "name", "keys", "clients", "domains"}}
	for _, i := range list {
		keys := i.JWKSURI
		if keys == "" {
			keys = "-"
		}
		t.add(i.ISS, i.Name, keys, strings.Join(i.ClientIDs, " "), strings.Join(i.EmailDomains, " "))
	}
	return t.print(o.env, o.format)
}

func (o *adminOptions) issuerRemove(ctx context.Context, args []string) error {
	ended, err := o.svc.RemoveIssuer(ctx, nil, args[0], o.revoke)
	if errors.Is(err, state.ErrNotFound) {
		return usageErr("firstpick admin issuer list; remove issuers of the configuration file there", "no issuer %s in the store", args[0])
	}
	if err != nil {
		return err
	}
	switch {
	case o.configured(args[0]):
		o.notef("removed from the store, but still trusted: the configuration file has %s", args[0])
	case o.revoke:
		o.notef("%s is no longer trusted; %d of its agents are revoked", args[0], ended)
	default:
		o.notef("%s is no longer trusted; its agents stay until their tokens and assertions expire (--revoke revokes them now)", args[0])
	}
	return nil
}
