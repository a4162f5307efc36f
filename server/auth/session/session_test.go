package session_test

import (
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/auth/session"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

// A visit is a request of a signed-in browser, so long after the one before.
type visit struct {
	after  time.Duration
	signed bool
}

// TestSessionsEnd: a session ends when it was not used for Idle, and when it is
// as old as Whole, used or not.
func TestSessionsEnd(t *testing.T) {
	for name, visits := range map[string][]visit{
		"used within the idle time":                   {{session.Idle - time.Second, true}, {session.Idle - time.Second, true}},
		"idle for too long":                           {{session.Idle, false}},
		"idle for too long, after it was used":        {{time.Hour, true}, {session.Idle, false}},
		"an idle session stays ended":                 {{session.Idle, false}, {time.Second, false}},
		"in use all the time, and too old in the end": {{10 * time.Hour, true}, {10 * time.Hour, true}, {4*time.Hour - time.Second, true}, {time.Second, false}},
	} {
		for _, engine := range statetest.Engines() {
			t.Run(name+"/"+engine, func(t *testing.T) { play(t, statetest.Open(t, statetest.Address(t, engine)), visits) })
		}
	}
}

func play(t *testing.T, db *state.DB, visits []visit) {
	t.Helper()
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	m := &session.Manager{DB: db, Vault: statetest.Vault(t), Secrets: secret.Source{Rand: rand.Reader}, Now: func() time.Time { return now }}
	account := &state.Account{ID: "acc_1", Email: "dana@example.com", VerifiedAt: now, CreatedAt: now}
	if err := db.Write(t.Context(), func(tx *state.Tx) error { return tx.AddAccount(t.Context(), account) }); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/agents", http.NoBody)
	w := httptest.NewRecorder()
	if err := m.Begin(t.Context(), w, r, account); err != nil {
		t.Fatal(err)
	}
	for _, cookie := range w.Result().Cookies() {
		r.AddCookie(cookie)
	}
	for i, v := range visits {
		now = now.Add(v.after)
		signed, err := m.Current(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if got := signed != nil; got != v.signed {
			t.Errorf("visit %d, %s after the one before: signed in %v, want %v", i+1, v.after, got, v.signed)
		}
	}
}
