package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/auth/signin"
	"github.com/firstpick/firstpick/server/auth/trust"
	"github.com/firstpick/firstpick/server/kit/mail"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/quota"
	"github.com/firstpick/firstpick/server/store/state"
)

// stateAddress returns the address of the state store.
func (a *app) stateAddress() (string, error) {
	if a.cfg.State != "" {
		return a.cfg.State, nil
	}
	file, err := filepath.Abs(filepath.Join(a.cfg.Data, "state.db"))
	if err != nil {
		return "", err
	}
	return (&url.URL{Scheme: "sqlite", Path: filepath.ToSlash(file)}).String(), nil
}

const masterHint = "every server, worker and admin command of a store needs the same FIRSTPICK_STATE_KEY, or the same " + state.MasterFile + ": next to the SQLite file, or in --data"

// stateAccess says where the state store and its master key are.
func (a *app) stateAccess() (*state.Access, error) {
	address, err := a.stateAddress()
	return &state.Access{
		Address: address, Key: a.cfg.StateKey, KeyName: envName("state-key"), Data: a.cfg.Data, DataSet: a.cfg.DataSet, Rand: rand.Reader,
	}, err
}

// openState opens the state store under its master key.
func (a *app) openState(ctx context.Context) (*state.DB, *secret.Vault, error) {
	access, err := a.stateAccess()
	if err != nil {
		return nil, nil, err
	}
	db, vault, err := access.Open(ctx)
	var missing *state.MissingKeyError
	switch {
	case errors.Is(err, state.ErrKeyFormat):
		err = usageErr("create one with openssl rand -base64 32", "%w", err)
	case errors.As(err, &missing) && missing.Store != "":
		err = usageErr("restore the file; "+masterHint, "%w", err)
	case errors.As(err, &missing) || errors.Is(err, state.ErrMaster):
		err = usageErr(masterHint, "%w", err)
	default:
		err = badInput(databaseErr(err))
	}
	return db, vault, err
}

// registrations is the configuration of how agents and people sign in, without the store.
func (a *app) registrations(base string) (cfg registrations.Config, err error) {
	mailer, err := mail.Open(a.cfg.Mail, a.cfg.MailFrom, a.log, a.env.NewID)
	if err != nil {
		return cfg, badInput(err)
	}
	rules := quota.DefaultRules()
	for name, value := range a.cfg.LimitRules {
		if err := rules.Set(name, value); err != nil {
			return cfg, badInput(err)
		}
	}
	kinds, err := a.registrationTypes()
	if err != nil {
		return cfg, err
	}
	var issuers []trust.Issuer
	for _, i := range a.cfg.Issuers {
		entry, err := i.entry()
		if err != nil {
			return cfg, badInput(err)
		}
		issuers = append(issuers, entry)
	}
	return registrations.Config{
		Mailer: mailer, Log: a.log, Now: a.env.Now, BaseURL: base,
		Issuers: issuers, Types: kinds, NoAccounts: !a.cfg.NewAccounts, Rules: rules, LimitsOff: a.cfg.Limits == "off",
	}, nil
}

func (a *app) registrationTypes() ([]identity.Kind, error) {
	all := []identity.Kind{identity.Anonymous, identity.ServiceAuth, identity.IdentityAssertion}
	var out []identity.Kind
	for _, name := range a.cfg.RegistrationTypes {
		k := identity.Kind(strings.TrimSpace(name))
		if !slices.Contains(all, k) {
			return nil, usageErr("anonymous, service_auth, identity_assertion", "registration-types: %q is unknown", name)
		}
		out = append(out, k)
	}
	return out, nil
}

// An IssuerConfig is a trusted issuer as the configuration file has it.
type IssuerConfig struct {
	Issuer       string   `mapstructure:"issuer"`
	Name         string   `mapstructure:"name"`
	JWKSURI      string   `mapstructure:"jwks-uri"`
	Algs         []string `mapstructure:"algs"`
	ClientIDs    []string `mapstructure:"client-ids"`
	EmailDomains []string `mapstructure:"email-domains"`
	AMR          []string `mapstructure:"amr"`
	Audiences    []string `mapstructure:"audiences"`
	AllowPrivate bool     `mapstructure:"allow-private"`
}

// entry checks an issuer's addresses and algorithms.
func (i IssuerConfig) entry() (trust.Issuer, error) {
	out := trust.Issuer{
		ISS: i.Issuer, Name: i.Name, JWKSURI: i.JWKSURI, Algs: i.Algs, ClientIDs: i.ClientIDs, EmailDomains: i.EmailDomains,
		AMR: i.AMR, Audiences: i.Audiences, AllowPrivate: i.AllowPrivate,
	}
	return out, out.Check()
}

// A ProviderConfig is an OpenID Connect provider as the configuration file has
// it. The secret is the value of the variable that ClientSecretEnv names.
type ProviderConfig struct {
	ID              string `mapstructure:"id"`
	Name            string `mapstructure:"name"`
	Issuer          string `mapstructure:"issuer"`
	ClientID        string `mapstructure:"client-id"`
	ClientSecretEnv string `mapstructure:"client-secret-env"`
}

func (a *app) providers() ([]*signin.Provider, error) {
	var out []*signin.Provider
	for _, p := range a.cfg.OIDC {
		if p.ID == "" || strings.Trim(p.ID, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || p.Issuer == "" || p.ClientID == "" {
			return nil, usageErr("id (letters, digits, dashes), issuer and client-id are needed", "oidc: the provider %q is not complete", p.ID)
		}
		if p.Name == "" {
			p.Name = p.ID
		}
		out = append(out, &signin.Provider{
			ID: p.ID, Name: p.Name, Issuer: p.Issuer, ClientID: p.ClientID, ClientSecret: a.env.Getenv(p.ClientSecretEnv), HTTP: &http.Client{},
		})
	}
	return out, nil
}

// plans reports whether evals need the paid plan.
func (a *app) plans() bool {
	return a.cfg.Plans == "on" || a.cfg.Plans == "" && len(a.billingKeys()) > 0
}

// billingKeys are the secrets of billing events, without the blanks around them.
func (a *app) billingKeys() []string {
	var out []string
	for _, key := range a.cfg.BillingSecret {
		if key = strings.TrimSpace(key); key != "" {
			out = append(out, key)
		}
	}
	return out
}
