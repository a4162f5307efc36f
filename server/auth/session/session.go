// Package session keeps a person's browser signed in: an opaque cookie, its hash
// in the store. Cookies of other short-lived purposes are sealed, so that they
// need no row.
package session

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/state"
)

// Lifetimes of a session.
const (
	Idle   = 12 * time.Hour
	Whole  = 24 * time.Hour
	Recent = time.Hour // maximum age of a sign-in for irreversible actions
	// touchEvery bounds how often a session's last use is written.
	touchEvery = time.Minute
)

// ClaimCookie names the sealed cookie that holds the claim of a person's link.
const ClaimCookie = "claim"

// ReturnCookie names the sealed cookie that holds where a person was when they
// were asked to sign in.
const ReturnCookie = "return"

// returnLife is how long that is remembered: as long as the mailed link works, and
// a while to ask for it.
const returnLife = 30 * time.Minute

// maxReturn bounds an address that is remembered, in bytes: a browser keeps about
// 4,000 of a cookie.
const maxReturn = 1500

// knownCookie names the sealed cookie of a browser that signed in before, knownLife
// is how long it is kept after the last sign-in.
const (
	knownCookie = "known"
	knownLife   = 180 * 24 * time.Hour
)

// FormField is the name of the field that every form of a session carries.
const FormField = "form_token"

// A Manager begins, finds and ends sessions. All fields are required.
type Manager struct {
	DB      *state.DB
	Vault   *secret.Vault
	Secrets secret.Source
	Now     func() time.Time
	// Secure is set where the site is served over https: cookies get the __Host-
	// prefix, which binds them to this host (RFC 6265bis, 4.1.3).
	Secure bool
}

// A Signed is a signed-in person.
type Signed struct {
	Account *state.Account
	Session *state.Session
	mask    string // random, of this request
}

// Fresh reports whether the person signed in within the last hour.
func (s *Signed) Fresh(now time.Time) bool { return now.Before(s.Session.AuthenticatedAt.Add(Recent)) }

// FormToken returns the value of FormField for a page of this request. Each page has
// another one, because pages are compressed: the size of a compressed page leaks a
// secret that stays the same (the BREACH attack).
func (s *Signed) FormToken() string { return s.masked(s.mask) }

func (s *Signed) masked(mask string) string {
	mac := hmac.New(sha256.New, []byte(s.Session.FormToken))
	mac.Write([]byte(mask))
	return mask + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// FormOK reports whether a form was made for this session.
func (s *Signed) FormOK(r *http.Request) bool {
	token := r.PostFormValue(FormField)
	mask, _, _ := strings.Cut(token, ".")
	return hmac.Equal([]byte(token), []byte(s.masked(mask)))
}

// Current returns who is signed in, or nil.
func (m *Manager) Current(ctx context.Context, r *http.Request) (*Signed, error) {
	cookie := m.raw(r, "session")
	if cookie == "" {
		return nil, nil
	}
	now := m.Now()
	tx := m.DB.Read()
	s, err := tx.Session(ctx, secret.Hash(cookie))
	if errors.Is(err, state.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !now.Before(s.SeenAt.Add(Idle)) || !now.Before(s.CreatedAt.Add(Whole)) {
		return nil, nil
	}
	account, err := m.account(ctx, s.AccountID)
	if err != nil || account == nil || account.Disabled() {
		return nil, err
	}
	if now.Sub(s.SeenAt) >= touchEvery {
		if err := m.DB.Write(ctx, func(tx *state.Tx) error { return tx.TouchSession(ctx, s.Hash, now) }); err != nil {
			return nil, err
		}
	}
	return &Signed{Account: account, Session: s, mask: m.Secrets.ID("")}, nil
}

func (m *Manager) account(ctx context.Context, id string) (*state.Account, error) {
	a, err := m.DB.Read().Account(ctx, id)
	if errors.Is(err, state.ErrNotFound) {
		return nil, nil
	}
	return a, err
}

// Begin signs a browser in under a new id; the session it had is gone.
func (m *Manager) Begin(ctx context.Context, w http.ResponseWriter, r *http.Request, account *state.Account) error {
	now := m.Now()
	cookie := m.Secrets.Token("ses_")
	err := m.DB.Write(ctx, func(tx *state.Tx) error {
		if old := m.raw(r, "session"); old != "" {
			if err := tx.DropSession(ctx, secret.Hash(old)); err != nil {
				return err
			}
		}
		return tx.AddSession(ctx, &state.Session{
			Hash: secret.Hash(cookie), AccountID: account.ID, FormToken: m.Secrets.ID(""), CreatedAt: now, SeenAt: now, AuthenticatedAt: now,
		})
	})
	if err == nil {
		m.set(w, "session", cookie, Whole)
		m.Keep(w, knownCookie, m.Secrets.ID("")+" "+account.Email, knownLife)
	}
	return err
}

// Known returns an id of a browser that signed in as the owner of an address before,
// or "".
func (m *Manager) Known(r *http.Request, email string) string {
	id, of, _ := strings.Cut(m.Kept(r, knownCookie), " ")
	if of != email {
		return ""
	}
	return id
}

// End signs a browser out.
func (m *Manager) End(ctx context.Context, w http.ResponseWriter, r *http.Request) error {
	m.Forget(w, "session")
	old := m.raw(r, "session")
	if old == "" {
		return nil
	}
	return m.DB.Write(ctx, func(tx *state.Tx) error { return tx.DropSession(ctx, secret.Hash(old)) })
}

// Keep puts a value into a sealed cookie that the browser can neither read nor
// change, and that is void after its life.
func (m *Manager) Keep(w http.ResponseWriter, name, value string, life time.Duration) {
	until := strconv.FormatInt(m.Now().Add(life).Unix(), 10)
	m.set(w, name, m.Vault.SealText("cookie "+name, until+" "+value), life)
}

// AskSignIn sends a browser to sign in, and from there back to an address of ours.
func (m *Manager) AskSignIn(w http.ResponseWriter, r *http.Request, back string) {
	if len(back) > maxReturn {
		back, _, _ = strings.Cut(back, "?")
	}
	if len(back) <= maxReturn {
		m.Keep(w, ReturnCookie, back, returnLife)
	}
	See(w, r, "/signin")
}

// Kept returns the value of a sealed cookie, or "".
func (m *Manager) Kept(r *http.Request, name string) string {
	text, err := m.Vault.OpenText("cookie "+name, m.raw(r, name))
	if err != nil {
		return ""
	}
	until, value, _ := strings.Cut(text, " ")
	at, err := strconv.ParseInt(until, 10, 64)
	if err != nil || m.Now().Unix() >= at {
		return ""
	}
	return value
}

// Forget deletes a cookie.
func (m *Manager) Forget(w http.ResponseWriter, name string) { m.set(w, name, "", -time.Second) }

func (m *Manager) name(name string) string {
	if m.Secure {
		return "__Host-" + name
	}
	return name
}

func (m *Manager) raw(r *http.Request, name string) string {
	c, err := r.Cookie(m.name(name))
	if err != nil {
		return ""
	}
	return c.Value
}

// set writes a cookie. Lax, not Strict: a link opened from a chat or a mail must
// find the session.
func (m *Manager) set(w http.ResponseWriter, name, value string, life time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: m.name(name), Value: value, Path: "/", MaxAge: int(life.Seconds()), Secure: m.Secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}
