package cli

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/server/agents"
	"github.com/firstpick/firstpick/server/identity"
	"github.com/firstpick/firstpick/server/limit"
	"github.com/firstpick/firstpick/server/mail"
	"github.com/firstpick/firstpick/server/secret"
	"github.com/firstpick/firstpick/server/signin"
	"github.com/firstpick/firstpick/server/state"
	"github.com/firstpick/firstpick/server/trust"
)

// masterFile is where the master key lies when the environment has none.
const masterFile = "state.key"

// openState opens the state store under the master key.
func (a *app) openState(ctx context.Context) (*state.DB, *secret.Vault, error) {
	address := a.cfg.State
	if address == "" {
		file, err := filepath.Abs(filepath.Join(a.cfg.Data, "state.db"))
		if err != nil {
			return nil, nil, err
		}
		address = (&url.URL{Scheme: "sqlite", Path: filepath.ToSlash(file)}).String()
	}
	if err := a.sameKey(address); err != nil {
		return nil, nil, err
	}
	master, err := a.masterKey()
	if err != nil {
		return nil, nil, err
	}
	vault, err := secret.NewVault(master, rand.Reader)
	if err != nil {
		return nil, nil, badInput(err)
	}
	db, err := state.Open(ctx, address, vault)
	if errors.Is(err, state.ErrMaster) {
		return nil, nil, usageErr("every server and admin command of a store needs the same FIRSTPICK_STATE_KEY, or the same "+masterFile+" in --data", "%w", err)
	}
	return db, vault, badInput(err)
}

// sameKey refuses to make a new master key beside a store that has one.
func (a *app) sameKey(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "sqlite" || a.cfg.StateKey != "" {
		return nil //nolint:nilerr // opening it says what is wrong
	}
	key := filepath.Join(a.cfg.Data, masterFile)
	_, noKey := os.Stat(key)
	if info, err := os.Stat(filepath.FromSlash(u.Path)); errors.Is(noKey, os.ErrNotExist) && err == nil && info.Size() > 0 {
		return usageErr("set FIRSTPICK_STATE_KEY, or bring the file back", "the store %s has a master key, and %s is missing", u.Path, key)
	}
	return nil
}

// masterKey returns the key of the environment, or that of the data folder,
// which is made at first use.
func (a *app) masterKey() ([]byte, error) {
	if a.cfg.StateKey != "" {
		return decodeMaster("FIRSTPICK_STATE_KEY", a.cfg.StateKey)
	}
	file := filepath.Join(a.cfg.Data, masterFile)
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		err = newMaster(file)
		if err == nil || errors.Is(err, os.ErrExist) { // another process may have made it just now
			text, err = os.ReadFile(file)
		}
	}
	if err != nil {
		return nil, badInput(fmt.Errorf("master key: %w", err))
	}
	return decodeMaster(file, string(text))
}

// hasMaster says whether a master key was given or made before.
func (a *app) hasMaster() bool {
	_, err := os.Stat(filepath.Join(a.cfg.Data, masterFile))
	return a.cfg.StateKey != "" || err == nil
}

func decodeMaster(where, text string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != secret.MasterSize {
		return nil, usageErr("openssl rand -base64 32 makes one", "%s: the master key must be %d bytes in base64", where, secret.MasterSize)
	}
	return key, nil
}

// newMaster writes a new key under another name first, so that the file is never
// seen half written.
func newMaster(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	key := make([]byte, secret.MasterSize)
	if _, err := io.ReadFull(rand.Reader, key); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), masterFile+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, err = tmp.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Link(tmp.Name(), file) // fails when the file is there
}

// agentService builds what agents and their people can do, on an open store.
func (a *app) agentService(ctx context.Context, db *state.DB, vault *secret.Vault, base string) (*agents.Service, error) {
	mailer, err := mail.Open(a.cfg.Mail, a.cfg.MailFrom, a.log, a.env.NewID)
	if err != nil {
		return nil, badInput(err)
	}
	rules := limit.DefaultRules()
	for name, value := range a.cfg.LimitRules {
		if err := rules.Set(name, value); err != nil {
			return nil, badInput(err)
		}
	}
	kinds, err := a.registrationTypes()
	if err != nil {
		return nil, err
	}
	var issuers []trust.Issuer
	for _, i := range a.cfg.Issuers {
		entry, err := i.entry()
		if err != nil {
			return nil, badInput(err)
		}
		issuers = append(issuers, entry)
	}
	return agents.New(ctx, agents.Config{
		DB: db, Vault: vault, Mailer: mailer, Log: a.log, Now: a.env.Now, BaseURL: base,
		Issuers: issuers, Types: kinds, NoAccounts: !a.cfg.NewAccounts, Rules: rules, LimitsOff: a.cfg.Limits == "off",
	})
}

func (a *app) registrationTypes() ([]identity.Kind, error) {
	all := []identity.Kind{identity.Anonymous, identity.ServiceAuth, identity.IdentityAssertion}
	var out []identity.Kind
	for _, name := range a.cfg.RegistrationTypes {
		k := identity.Kind(strings.TrimSpace(name))
		if !slices.Contains(all, k) {
			return nil, usageErr("anonymous, service_auth, identity_assertion", "registration-types: %q is none", name)
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
	addresses := []string{i.Issuer}
	if i.JWKSURI != "" {
		addresses = append(addresses, i.JWKSURI)
	}
	for _, alg := range i.Algs {
		if !trust.Knows(alg) {
			return trust.Issuer{}, fmt.Errorf("issuer %q: %q is no algorithm that is accepted; write ES256, ES384, RS256, PS256 or EdDSA", i.Issuer, alg)
		}
	}
	for _, address := range addresses {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || u.Fragment != "" || u.Scheme != "https" && (u.Scheme != "http" || !i.AllowPrivate) {
			return trust.Issuer{}, fmt.Errorf("issuer %q: %q is not an https address (http needs allow-private)", i.Issuer, address)
		}
	}
	return trust.Issuer{
		ISS: i.Issuer, Name: i.Name, JWKSURI: i.JWKSURI, Algs: i.Algs, ClientIDs: i.ClientIDs, EmailDomains: i.EmailDomains,
		AMR: i.AMR, Audiences: i.Audiences, AllowPrivate: i.AllowPrivate,
	}, nil
}

// A ProviderConfig is an OpenID Connect provider as the configuration file has
// it. The secret is taken from the variable that ClientSecretEnv names.
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
