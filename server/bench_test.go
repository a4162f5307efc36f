package server_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/agents"
	"github.com/firstpick/firstpick/server/identity"
	"github.com/firstpick/firstpick/server/secret"
	"github.com/firstpick/firstpick/server/site"
	"github.com/firstpick/firstpick/server/state"
	"github.com/firstpick/firstpick/server/state/statetest"
)

// inFlight is how many callers a benchmark has, so that commits can be shared.
const inFlight = 64

// parallel runs f in inFlight goroutines, b.N times in all.
func parallel(b *testing.B, f func(i int64) error) {
	b.Helper()
	var next atomic.Int64
	var all sync.WaitGroup
	b.ResetTimer()
	for range inFlight {
		all.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := f(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "per_s")
}

// BenchmarkTokens measures token exchange and bearer check through HTTP handlers
// on both stores, beside what they cannot do without: the verification of an
// ES256 assertion, and the commit of the same rows. FIRSTPICK_DURABLE=1 makes
// PostgreSQL sync to disk, as SQLite always does here. `make bench` prints ratios.
func BenchmarkTokens(b *testing.B) {
	for _, engine := range statetest.Engines() {
		b.Run(engine, func(b *testing.B) { benchmarkTokens(b, engine) })
	}
}

func benchmarkTokens(b *testing.B, engine string) {
	log := slog.New(slog.DiscardHandler)
	uses, err := agents.New(b.Context(), agents.Config{
		DB: statetest.Open(b, statetest.Address(b, engine)), Vault: statetest.Vault(b), Log: log, Now: time.Now, BaseURL: base, LimitsOff: true,
	})
	if err != nil {
		b.Fatal(err)
	}
	srv, err := server.New(server.Config{Source: &site.Holder{}, Agents: uses, Log: log, Now: time.Now, BaseURL: base, IDPrefix: "b", LimitPerMinute: 1, LimitsOff: true})
	if err != nil {
		b.Fatal(err)
	}
	const registrations = 256
	assertions, tokens := make([]string, registrations), make([]string, registrations)
	for i := range assertions {
		got, err := uses.RegisterAnonymous(b.Context(), &agents.Caller{IP: netip.MustParseAddr("192.0.2.1")})
		if err != nil {
			b.Fatal(err)
		}
		t, err := uses.Exchange(b.Context(), &agents.Caller{}, got.Assertion, nil)
		if err != nil {
			b.Fatal(err)
		}
		assertions[i], tokens[i] = got.Assertion, t.AccessToken
	}
	b.Run("verify", func(b *testing.B) {
		parallel(b, func(i int64) error {
			_, err := uses.Ring.Verify(b.Context(), assertions[i%registrations])
			return err
		})
	})
	b.Run("write", func(b *testing.B) {
		parallel(b, func(i int64) error { return bareWrite(b.Context(), uses, assertions[i%registrations]) })
	})
	b.Run("exchange", func(b *testing.B) {
		parallel(b, func(i int64) error {
			form := "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=" + assertions[i%registrations]
			r := httptest.NewRequest(http.MethodPost, "/api/oauth2/token", strings.NewReader(form))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			return answered(srv, r, http.StatusOK)
		})
	})
	for i := range tokens { // the exchanges above pushed the first ones out
		t, err := uses.Exchange(b.Context(), &agents.Caller{}, assertions[i], nil)
		if err != nil {
			b.Fatal(err)
		}
		tokens[i] = t.AccessToken
	}
	check := func(i int64) error {
		r := httptest.NewRequest(http.MethodGet, "/api/agent/workspace", nil)
		r.Header.Set("Authorization", "Bearer "+tokens[i%registrations])
		return answered(srv, r, http.StatusForbidden) // a good token without the scope: the check, and no read after it
	}
	b.Run("bearer", func(b *testing.B) { parallel(b, check) })
	b.Run("bearer-under-writes", func(b *testing.B) {
		ctx, stop := context.WithCancel(b.Context())
		var writers sync.WaitGroup
		var written atomic.Int64
		for w := range 16 {
			writers.Go(func() {
				for ctx.Err() == nil {
					if bareWrite(ctx, uses, assertions[w]) == nil {
						written.Add(1)
					}
				}
			})
		}
		took := make([]time.Duration, b.N)
		parallel(b, func(i int64) error {
			start := time.Now()
			err := check(i)
			took[i-1] = time.Since(start)
			return err
		})
		b.ReportMetric(float64(written.Load())/b.Elapsed().Seconds(), "writes_per_s")
		stop()
		writers.Wait()
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99_ms")
	})
}

// bareWrite commits the rows of an exchange, and nothing else.
func bareWrite(ctx context.Context, uses *agents.Service, assertion string) error {
	id := secret.Source{Rand: rand.Reader}.ID("")
	now := time.Now()
	return uses.DB.Write(ctx, func(tx *state.Tx) error {
		if err := tx.AddAccessToken(ctx, &state.AccessToken{
			Hash: secret.Hash(id), RegistrationID: registrationOf(uses, assertion), CreatedAt: now, ExpiresAt: now.Add(time.Hour),
		}, identity.LiveTokens); err != nil {
			return err
		}
		return tx.Audit(ctx, state.AuditEntry{ID: id, At: now, Event: "token.issued"})
	})
}

var ids sync.Map

// registrationOf returns whose assertion it is, looked up once.
func registrationOf(uses *agents.Service, assertion string) string {
	if id, ok := ids.Load(assertion); ok {
		return id.(string)
	}
	a, err := uses.Ring.Verify(context.Background(), assertion)
	if err != nil {
		panic(err)
	}
	ids.Store(assertion, a.RegistrationID)
	return a.RegistrationID
}

type unexpected struct {
	status int
	body   string
}

func (u unexpected) Error() string { return http.StatusText(u.status) + ": " + u.body }

func answered(srv http.Handler, r *http.Request, want int) error {
	w := httptest.NewRecorder()
	srv.ServeHTTP(w, r)
	if w.Code != want {
		return unexpected{w.Code, w.Body.String()}
	}
	return nil
}
