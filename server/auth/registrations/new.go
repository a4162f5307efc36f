package registrations

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"time"

	"github.com/firstpick/firstpick/server/auth/keyring"
	"github.com/firstpick/firstpick/server/auth/trust"
	"github.com/firstpick/firstpick/server/kit/mail"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/quota"
	"github.com/firstpick/firstpick/server/store/state"
)

// A Config holds the dependencies and settings of a Service. Zero fields of the second
// group get their defaults.
type Config struct {
	DB      *state.DB
	Vault   *secret.Vault
	Mailer  mail.Mailer
	Log     *slog.Logger
	Now     func() time.Time
	BaseURL string

	Issuers    []trust.Issuer
	Types      []identity.Kind // default: all
	NoAccounts bool            // an issuer's word makes no accounts
	Rules      quota.Rules
	LimitsOff  bool
	Rand       io.Reader // default: crypto/rand.Reader
}

// New builds a Service and loads its signing keys.
func New(ctx context.Context, cfg Config) (*Service, error) {
	if cfg.Types == nil {
		cfg.Types = []identity.Kind{identity.Anonymous, identity.ServiceAuth, identity.IdentityAssertion}
	}
	if cfg.Rules == nil {
		cfg.Rules = quota.DefaultRules()
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Reader
	}
	secrets := secret.Source{Rand: cfg.Rand}
	issuers := &Issuers{Configured: cfg.Issuers, DB: cfg.DB}
	s := &Service{
		DB: cfg.DB, Vault: cfg.Vault, Secrets: secrets, Issuers: issuers, Log: cfg.Log, Now: cfg.Now, BaseURL: cfg.BaseURL,
		Ring:   &keyring.Ring{DB: cfg.DB, Issuer: cfg.BaseURL, Now: cfg.Now, Rand: cfg.Rand},
		Limits: quota.Limiter{Rules: cfg.Rules, Off: cfg.LimitsOff},
		Outbox: NewOutbox(cfg.DB, cfg.Mailer, cfg.Log, cfg.Now, secrets),
		Types:  cfg.Types, NewAccounts: !cfg.NoAccounts,
	}
	s.Trust = &trust.Verifier{Find: issuers.Find, Keys: trust.NewKeys(cfg.Now), Resource: s.Resource(), Self: cfg.BaseURL, Now: cfg.Now}
	return s, s.Ring.Load(ctx)
}
