package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

const (
	tokenCallers = 64 // so that commits can be shared
	benchAgents  = 256
	writers      = 16 // beside the bearer check
)

// measureTokens compares token exchange with the commit of the same rows, and the
// bearer check with a request that needs no token; beside both stands the verification
// of an ES256 signature.
func measureTokens(b *bench) error {
	assertions, err := b.assertions()
	if err != nil {
		return err
	}
	var verified, committed, exchanged, free, checked, beside []rate
	for range b.rounds {
		tokens, err := b.tokens(assertions) // the exchanges of the last round displaced the older ones
		if err != nil {
			return err
		}
		for _, m := range []struct {
			into    *[]rate
			measure func() (rate, error)
		}{
			{&verified, b.verifySignatures},
			{&committed, b.commitTokens},
			{&free, func() (rate, error) { return b.requests("/healthz", nil, http.StatusOK) }},
			{&checked, func() (rate, error) { return b.requests("/api/agent/workspace", tokens, http.StatusForbidden) }},
			{&beside, func() (rate, error) { return b.checksBesideWrites(assertions, tokens) }},
			{&exchanged, func() (rate, error) {
				return load(tokenCallers, b.span, func(i int64) error { _, err := b.exchange(assertions[i%benchAgents]); return err })
			}},
		} {
			r, err := m.measure()
			if err != nil {
				return err
			}
			*m.into = append(*m.into, r)
		}
	}
	v, c, x, f, k, w := medians(verified), medians(committed), medians(exchanged), medians(free), medians(checked), medians(beside)
	fmt.Printf("  verify an ES256 signature    %8.0f /s\n", v.perSecond)
	fmt.Printf("  commit the rows of exchange  %8.0f /s\n", c.perSecond)
	fmt.Printf("  request without a token      %8.0f /s  p99 %.1f ms\n", f.perSecond, ms(f.p99))
	fmt.Printf("  exchange                     %8.0f /s  p99 %.1f ms, %.2f of the commit, %.2f of the request without a token\n",
		x.perSecond, ms(x.p99), x.perSecond/c.perSecond, x.perSecond/f.perSecond)
	fmt.Printf("  bearer check                 %8.0f /s  p99 %.1f ms, %.2f of the request without a token\n", k.perSecond, ms(k.p99), k.perSecond/f.perSecond)
	fmt.Printf("  bearer check beside writers  %8.0f /s  p99 %.1f ms\n", w.perSecond, ms(w.p99))
	return nil
}

func (b *bench) assertions() ([]string, error) {
	list := make([]string, benchAgents)
	for i := range list {
		r, err := b.register()
		if err != nil {
			return nil, err
		}
		list[i] = r.Assertion
	}
	return list, nil
}

// tokens exchanges each assertion once.
func (b *bench) tokens(assertions []string) ([]string, error) {
	list := make([]string, len(assertions))
	for i, a := range assertions {
		var err error
		if list[i], err = b.exchange(a); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (b *bench) exchange(assertion string) (string, error) {
	var got struct {
		AccessToken string `json:"access_token"`
	}
	err := b.call("/api/oauth2/token", "", url.Values{"grant_type": {registrations.GrantJWT}, "assertion": {assertion}}, &got)
	return got.AccessToken, err
}

// requests sends GET requests, with tokens by turns where there are any. A token
// without the scope is answered with 403: the check, and no read after it.
func (b *bench) requests(path string, tokens []string, want int) (rate, error) {
	return load(tokenCallers, b.span, func(i int64) error {
		token := ""
		if tokens != nil {
			token = tokens[i%int64(len(tokens))]
		}
		got, err := b.send(http.MethodGet, path, token, "", nil)
		if err == nil && got.status != want {
			err = fmt.Errorf("GET %s: %d %s; want %d", path, got.status, got.body, want)
		}
		return err
	})
}

// checksBesideWrites checks tokens while some callers exchange other assertions.
func (b *bench) checksBesideWrites(assertions, tokens []string) (rate, error) {
	var stop atomic.Bool
	var all sync.WaitGroup
	failed := make([]error, writers)
	for w := range writers {
		all.Go(func() {
			for !stop.Load() && failed[w] == nil {
				_, failed[w] = b.exchange(assertions[w])
			}
		})
	}
	r, err := b.requests("/api/agent/workspace", tokens[writers:], http.StatusForbidden)
	stop.Store(true)
	all.Wait()
	return r, errors.Join(append(failed, err)...)
}

func (b *bench) verifySignatures() (rate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return rate{}, err
	}
	digest := sha256.Sum256([]byte("an assertion"))
	signature, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
	if err != nil {
		return rate{}, err
	}
	return load(tokenCallers, b.span, func(int64) error {
		if !ecdsa.VerifyASN1(&key.PublicKey, digest[:], signature) {
			return errors.New("the signature does not verify")
		}
		return nil
	})
}

// commitTokens commits the rows of an exchange, and nothing else, in a store of its own.
func (b *bench) commitTokens() (r rate, err error) {
	vault, err := benchVault()
	if err != nil {
		return rate{}, err
	}
	db, err := b.bareStore()
	if err != nil {
		return rate{}, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	ctx := context.Background()
	service, err := registrations.New(ctx, registrations.Config{DB: db, Vault: vault, Log: slog.New(slog.DiscardHandler), Now: time.Now, BaseURL: b.base, LimitsOff: true})
	if err != nil {
		return rate{}, err
	}
	ids := make([]string, benchAgents)
	for i := range ids {
		got, err := service.RegisterAnonymous(ctx, &registrations.Caller{IP: netip.MustParseAddr("192.0.2.1")})
		if err != nil {
			return rate{}, err
		}
		ids[i] = got.Registration.ID
	}
	random := secret.Source{Rand: rand.Reader}
	return load(tokenCallers, b.span, func(i int64) error {
		id, now := random.ID(""), time.Now()
		return db.Write(ctx, func(tx *state.Tx) error {
			token := &state.AccessToken{Hash: secret.Hash(id), RegistrationID: ids[i%benchAgents], CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
			return errors.Join(tx.AddAccessToken(ctx, token, identity.LiveTokens), tx.Audit(ctx, state.AuditEntry{ID: id, At: now, Event: "token.issued"}))
		})
	})
}
