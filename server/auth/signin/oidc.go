package signin

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/store/identity"
)

const (
	oidcCookie  = "oidc"
	oidcLife    = 10 * time.Minute
	oidcTimeout = 10 * time.Second
)

// A Provider is an OpenID Connect provider at which people may sign in.
type Provider struct {
	ID, Name, Issuer       string
	ClientID, ClientSecret string
	HTTP                   *http.Client

	set atomic.Pointer[oidc.Provider] // discovered at first use, so that a provider that is down does not stop the server
}

// within returns a context in which to ask the provider. The client ends by itself,
// too: go-oidc fetches keys whether or not the context is over.
func (p *Provider) within(ctx context.Context) (context.Context, context.CancelFunc) {
	client := *p.HTTP
	if client.Timeout == 0 {
		client.Timeout = oidcTimeout
	}
	return context.WithTimeout(oidc.ClientContext(ctx, &client), oidcTimeout)
}

// discover holds no lock while it asks: behind a provider that hangs, people would
// wait for each other.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	if set := p.set.Load(); set != nil {
		return set, nil
	}
	set, err := oidc.NewProvider(ctx, p.Issuer)
	if err == nil {
		p.set.Store(set)
	}
	return set, err
}

func (p *Provider) config(set *oidc.Provider, base string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: p.ClientSecret, Endpoint: set.Endpoint(),
		RedirectURL: base + "/signin/oidc/" + p.ID + "/callback", Scopes: []string{oidc.ScopeOpenID, "email"},
	}
}

func (h *Handler) provider(r *http.Request) *Provider {
	id := route.Param(r, "provider")
	for _, p := range h.Providers {
		if p.ID == id {
			return p
		}
	}
	return nil
}

// depart sends the person to the provider. State, nonce and PKCE verifier (RFC
// 7636) wait in a sealed cookie, which binds the answer to this browser.
func (h *Handler) depart(w http.ResponseWriter, r *http.Request) {
	p := h.provider(r)
	if p == nil {
		h.message(w, http.StatusNotFound, "No such provider", "Choose one on the sign-in page.")
		return
	}
	ctx, cancel := p.within(r.Context())
	defer cancel()
	set, err := p.discover(ctx)
	if err != nil {
		h.unreachable(w, p, err)
		return
	}
	token, nonce, verifier := h.Sessions.Secrets.Token(""), h.Sessions.Secrets.Token(""), oauth2.GenerateVerifier()
	h.Sessions.Keep(w, oidcCookie, strings.Join([]string{p.ID, token, nonce, verifier}, " "), oidcLife)
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, p.config(set, h.Agents.BaseURL).AuthCodeURL(token, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)), http.StatusSeeOther)
}

func (h *Handler) unreachable(w http.ResponseWriter, p *Provider, err error) {
	h.Pages.Log.Warn("an identity provider failed", "provider", p.ID, "err", err)
	h.message(w, http.StatusBadGateway, p.Name+" does not answer", "Try again in a moment, or sign in by mail.")
}

// arrive takes the person back.
func (h *Handler) arrive(w http.ResponseWriter, r *http.Request) {
	p := h.provider(r)
	kept := strings.Fields(h.Sessions.Kept(r, oidcCookie))
	h.Sessions.Forget(w, oidcCookie)
	if p == nil || len(kept) != 4 || kept[0] != p.ID || subtle.ConstantTimeCompare([]byte(kept[1]), []byte(r.URL.Query().Get("state"))) != 1 {
		h.message(w, http.StatusBadRequest, "Sign in again", "This sign-in was begun in another browser, or took too long.")
		return
	}
	if r.URL.Query().Get("code") == "" || r.URL.Query().Has("error") {
		h.message(w, http.StatusForbidden, "Not signed in", p.Name+" did not sign you in.")
		return
	}
	ctx, cancel := p.within(r.Context())
	defer cancel()
	user, err := h.identify(ctx, p, exchange{code: r.URL.Query().Get("code"), nonce: kept[2], verifier: kept[3]})
	switch {
	case errors.Is(err, errCode):
		h.message(w, http.StatusBadRequest, "Sign in again", p.Name+" does not know this sign-in: it was used already, or took too long.")
		return
	case errors.Is(err, errToken):
		h.Pages.Log.Warn("an identity provider failed", "provider", p.ID, "err", err)
		h.message(w, http.StatusBadGateway, "Not signed in", p.Name+" gave an answer that we cannot accept. Try again, or sign in by mail.")
		return
	case err != nil:
		h.unreachable(w, p, err)
		return
	}
	account, err := h.Agents.SignInProvider(r.Context(), caller(w, r), user, "oidc "+p.ID)
	switch {
	case errors.Is(err, registrations.ErrUnverified):
		h.message(w, http.StatusForbidden, "Not signed in", p.Name+" gave no verified e-mail address for you.")
	case errors.Is(err, registrations.ErrOtherIdentity):
		h.message(w, http.StatusForbidden, "Not signed in", "The account of your e-mail address is linked to another user of "+p.Name+". If the account is yours, sign in by mail.")
	case err != nil:
		h.refuse(w, r, err)
	default:
		h.begin(w, r, account)
	}
}

var (
	errCode  = errors.New("the code is not valid")
	errToken = errors.New("the id_token is not acceptable")
)

// An exchange is the code of a provider, with the nonce and verifier from the browser.
type exchange struct{ code, nonce, verifier string }

// identify redeems the code and returns the user that the ID token names.
func (h *Handler) identify(ctx context.Context, p *Provider, e exchange) (user registrations.ProviderUser, err error) {
	set, err := p.discover(ctx)
	if err != nil {
		return user, err
	}
	token, err := p.config(set, h.Agents.BaseURL).Exchange(ctx, e.code, oauth2.VerifierOption(e.verifier))
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.ErrorCode == "invalid_grant" { // the browser returned another code (RFC 6749, 5.2)
		return user, errCode
	}
	if err != nil {
		return user, fmt.Errorf("exchange: %w", err)
	}
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return user, fmt.Errorf("%w: there is none", errToken)
	}
	idToken, err := set.VerifierContext(ctx, &oidc.Config{ClientID: p.ClientID, Now: h.Sessions.Now}).Verify(ctx, raw)
	if err != nil {
		return user, fmt.Errorf("%w: %w", errToken, err)
	}
	if subtle.ConstantTimeCompare([]byte(idToken.Nonce), []byte(e.nonce)) != 1 {
		return user, fmt.Errorf("%w: another nonce", errToken)
	}
	var claims struct {
		Email    string `json:"email"`
		Verified bool   `json:"email_verified"`
	}
	if err := idToken.Claims(&claims); err != nil {
		return user, fmt.Errorf("%w: %w", errToken, err)
	}
	if idToken.Subject == "" {
		return user, fmt.Errorf("%w: no sub", errToken)
	}
	email, ok := identity.ParseEmail(claims.Email)
	if !ok {
		email = ""
	}
	return registrations.ProviderUser{ISS: idToken.Issuer, Sub: idToken.Subject, Email: email, Verified: claims.Verified}, nil
}
