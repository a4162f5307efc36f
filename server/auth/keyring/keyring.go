// Package keyring keeps the keys that sign our identity assertions, and mints
// and verifies those assertions (ES256 JWTs, RFC 7519).
//
// The state of a key follows from its times. It is published when it is created, and
// signs from ActiveFrom until its successor does. After that it is accepted for the
// lifetime of an assertion. Rotation adds one row: a new key whose ActiveFrom is late
// enough for every verifier to fetch it before.
package keyring

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

const (
	// Overlap is how long a new key is published before it signs.
	Overlap = 10 * time.Minute
	// MaxAge is how long a key signs before Rotate makes its successor.
	MaxAge = 90 * 24 * time.Hour
	// acceptAfter is how long a replaced key is still accepted.
	acceptAfter  = identity.MaxAssertion + 5*time.Minute
	reloadEvery  = time.Minute
	reloadPause  = time.Second // between reloads for unknown keys
	reloadWithin = 2 * time.Second
)

// A Ring holds the keys of the store. It reads them again every minute and when
// a token names a key it does not know.
type Ring struct {
	DB     *state.DB
	Issuer string // BASE: iss and aud of our assertions
	Now    func() time.Time
	Rand   io.Reader

	loading sync.Mutex // held while the store is read, and never together with mu

	mu      sync.Mutex
	keys    []key     // by ActiveFrom
	askedAt time.Time // when the store was last asked, whether or not it answered
}

type key struct {
	kid        string
	private    *ecdsa.PrivateKey
	activeFrom time.Time
	until      time.Time // accepted until; zero while it is the last
}

// Load reads the keys, and creates the first if necessary.
func (r *Ring) Load(ctx context.Context) error {
	r.loading.Lock()
	defer r.loading.Unlock()
	return r.load(ctx)
}

func (r *Ring) load(ctx context.Context) error {
	r.mu.Lock()
	r.askedAt = r.Now()
	r.mu.Unlock()
	rows, err := r.DB.Read().SigningKeys(ctx)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		first, err := r.generate(r.Now())
		if err != nil {
			return err
		}
		if err := r.DB.Write(ctx, func(tx *state.Tx) error { return tx.AddSigningKey(ctx, first) }); err != nil {
			return err
		}
		rows = []state.SigningKey{*first}
	}
	keys := make([]key, len(rows))
	for i, row := range rows {
		private, err := x509.ParsePKCS8PrivateKey(row.Private)
		if err != nil {
			return fmt.Errorf("signing key %s: %w", row.KID, err)
		}
		ec, ok := private.(*ecdsa.PrivateKey)
		if !ok || ec.Curve != elliptic.P256() {
			return fmt.Errorf("signing key %s is not on P-256", row.KID)
		}
		keys[i] = key{kid: row.KID, private: ec, activeFrom: row.ActiveFrom}
		if i > 0 {
			keys[i-1].until = row.ActiveFrom.Add(acceptAfter)
		}
	}
	r.mu.Lock()
	r.keys = keys
	r.mu.Unlock()
	return nil
}

func (r *Ring) generate(activeFrom time.Time) (*state.SigningKey, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), r.Rand)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	pub, err := jwkOf(&private.PublicKey)
	if err != nil {
		return nil, err
	}
	return &state.SigningKey{KID: pub.thumbprint(), Private: der, CreatedAt: r.Now(), ActiveFrom: activeFrom}, nil
}

// Rotate makes a key that signs from now+after on, and returns its id and that
// time. With less than Overlap, verifiers may meet it before they fetched it.
func (r *Ring) Rotate(ctx context.Context, after time.Duration) (string, time.Time, error) {
	next, err := r.generate(r.Now().Add(after))
	if err != nil {
		return "", time.Time{}, err
	}
	if err := r.DB.Write(ctx, func(tx *state.Tx) error { return tx.AddSigningKey(ctx, next) }); err != nil {
		return "", time.Time{}, err
	}
	return next.KID, next.ActiveFrom, r.Load(ctx)
}

// RotateOld rotates when the newest key is older than MaxAge. It reports whether it did.
func (r *Ring) RotateOld(ctx context.Context) (bool, error) {
	keys, err := r.current(ctx)
	if err != nil || r.Now().Before(keys[len(keys)-1].activeFrom.Add(MaxAge)) {
		return false, err
	}
	next, err := r.generate(r.Now().Add(Overlap))
	if err != nil {
		return false, err
	}
	made := false
	err = r.DB.Write(ctx, func(tx *state.Tx) error {
		made = false
		rows, err := tx.LockSigningKeys(ctx)
		if err != nil {
			return err
		}
		for _, row := range rows { // another server may have been first
			if row.ActiveFrom.After(keys[len(keys)-1].activeFrom) {
				return nil
			}
		}
		made = true
		return tx.AddSigningKey(ctx, next)
	})
	if err != nil || !made {
		return false, err
	}
	return true, r.Load(ctx)
}

// Drop deletes a key and so voids its signatures. If it was the signing key, its
// neighbour or a new key signs from now on. It reports whether the key existed.
func (r *Ring) Drop(ctx context.Context, kid string) (bool, error) {
	now := r.Now()
	fresh, err := r.generate(now)
	if err != nil {
		return false, err
	}
	dropped := false
	err = r.DB.Write(ctx, func(tx *state.Tx) error {
		rows, err := tx.LockSigningKeys(ctx)
		if err != nil {
			return err
		}
		if dropped, err = tx.DropSigningKey(ctx, kid); err != nil || !dropped {
			return err
		}
		rows = slices.DeleteFunc(rows, func(k state.SigningKey) bool { return k.KID == kid })
		switch {
		case len(rows) == 0:
			return tx.AddSigningKey(ctx, fresh)
		case rows[0].ActiveFrom.After(now):
			return tx.ActivateSigningKey(ctx, rows[0].KID, now)
		default:
			return nil
		}
	})
	if err != nil || !dropped {
		return false, err
	}
	return true, r.Load(ctx)
}

// DropRetired deletes the keys that nothing valid is signed with any more.
func (r *Ring) DropRetired(ctx context.Context) error {
	keys, err := r.current(ctx)
	if err != nil {
		return err
	}
	var over []string
	for _, k := range keys {
		if !k.until.IsZero() && !r.Now().Before(k.until) {
			over = append(over, k.kid)
		}
	}
	if len(over) == 0 {
		return nil
	}
	if err := r.DB.Write(ctx, func(tx *state.Tx) error {
		for _, kid := range over {
			if _, err := tx.DropSigningKey(ctx, kid); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	return r.Load(ctx)
}

// current returns the keys, asking the store once a minute. While one caller
// does, and when the store does not answer, the keys at hand go on serving.
func (r *Ring) current(ctx context.Context) ([]key, error) {
	keys := r.atHand()
	switch {
	case len(keys) == 0:
		if err := r.Load(ctx); err != nil {
			return nil, err
		}
	case r.due(reloadEvery):
		r.reload(ctx)
	default:
		return keys, nil
	}
	return r.atHand(), nil
}

func (r *Ring) atHand() []key {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.keys
}

// due reports whether the keys were not reloaded for a time.
func (r *Ring) due(pause time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Now().Sub(r.askedAt) >= pause
}

// reload reads the keys again, unless another caller is at it. When it fails, the
// keys at hand stay.
func (r *Ring) reload(ctx context.Context) {
	if !r.loading.TryLock() {
		return
	}
	defer r.loading.Unlock()
	ctx, cancel := context.WithTimeout(ctx, reloadWithin)
	defer cancel()
	_ = r.load(ctx)
}

// signer returns the key that signs at now: the newest that is active.
func signer(keys []key, now time.Time) (key, error) {
	for i := len(keys) - 1; i >= 0; i-- {
		if !now.Before(keys[i].activeFrom) {
			return keys[i], nil
		}
	}
	return key{}, errors.New("no signing key is active yet")
}

// find returns the key of an id, if it is still accepted at now.
func (r *Ring) find(ctx context.Context, kid string) (*ecdsa.PublicKey, bool) {
	keys, err := r.current(ctx)
	if err != nil {
		return nil, false
	}
	for again := true; ; again = false {
		for _, k := range keys {
			if k.kid == kid {
				return &k.private.PublicKey, k.until.IsZero() || r.Now().Before(k.until)
			}
		}
		if !again {
			return nil, false
		}
		if r.due(reloadPause) { // another server may have made it just now
			r.reload(ctx)
		}
		keys = r.atHand()
	}
}

// A Status is the public information about a key.
type Status struct {
	KID        string    `json:"kid"`
	State      string    `json:"state"` // next, active, retiring or retired
	ActiveFrom time.Time `json:"active_from"`
}

// List returns all keys and their states.
func (r *Ring) List(ctx context.Context) ([]Status, error) {
	if err := r.Load(ctx); err != nil {
		return nil, err
	}
	keys, err := r.current(ctx)
	if err != nil {
		return nil, err
	}
	now := r.Now()
	active, _ := signer(keys, now) // without a signer no key is listed as active
	var out []Status
	for _, k := range keys {
		s := Status{KID: k.kid, State: "retiring", ActiveFrom: k.activeFrom}
		switch {
		case now.Before(k.activeFrom):
			s.State = "next"
		case k.kid == active.kid:
			s.State = "active"
		case !now.Before(k.until):
			s.State = "retired"
		}
		out = append(out, s)
	}
	return out, nil
}

// JWKS returns the published key set (RFC 7517): all keys that are accepted or
// will be.
func (r *Ring) JWKS(ctx context.Context) ([]byte, error) {
	keys, err := r.current(ctx)
	if err != nil {
		return nil, err
	}
	set := struct {
		Keys []jwk `json:"keys"`
	}{Keys: []jwk{}}
	for _, k := range keys {
		if !k.until.IsZero() && !r.Now().Before(k.until) {
			continue
		}
		pub, err := jwkOf(&k.private.PublicKey)
		if err != nil {
			return nil, err
		}
		pub.KID, pub.Use, pub.Alg = k.kid, "sig", "ES256"
		set.Keys = append(set.Keys, pub)
	}
	return json.Marshal(set)
}

type jwk struct {
	Kty string `json:"kty"`
	Crv string `json:"crv"`
	X   string `json:"x"`
	Y   string `json:"y"`
	KID string `json:"kid"`
	Use string `json:"use"`
	Alg string `json:"alg"`
}

func jwkOf(pub *ecdsa.PublicKey) (jwk, error) {
	point, err := pub.Bytes() // 4, x, y
	if err != nil {
		return jwk{}, err
	}
	enc := base64.RawURLEncoding.EncodeToString
	return jwk{Kty: "EC", Crv: "P-256", X: enc(point[1:33]), Y: enc(point[33:])}, nil
}

// thumbprint is the key's id: SHA-256 over its canonical form (RFC 7638, 3).
func (k jwk) thumbprint() string {
	sum := sha256.Sum256([]byte(`{"crv":"` + k.Crv + `","kty":"` + k.Kty + `","x":"` + k.X + `","y":"` + k.Y + `"}`))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
