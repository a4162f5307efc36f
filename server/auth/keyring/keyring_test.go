package keyring_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	mathrand "math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/firstpick/firstpick/server/auth/keyring"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

const (
	issuer = "https://firstpick.example"
	// accepted is how long a replaced key must do: an assertion's life and a bit.
	accepted = identity.MaxAssertion + 5*time.Minute
)

var start = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// A clock is set by tests and read by many goroutines.
type clock struct{ us atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.set(start)
	return c
}

func (c *clock) now() time.Time      { return time.UnixMicro(c.us.Load()).UTC() }
func (c *clock) set(t time.Time)     { c.us.Store(t.UnixMicro()) }
func (c *clock) add(d time.Duration) { c.us.Add(d.Microseconds()) }

func ring(db *state.DB, c *clock) *keyring.Ring {
	return &keyring.Ring{DB: db, Issuer: issuer, Now: c.now, Rand: rand.Reader}
}

// firstAt is when the first key of a bench became active.
var firstAt = start.Add(-time.Hour)

// bench returns a store, a clock and a loaded ring.
func bench(t *testing.T, address string) (*state.DB, *clock, *keyring.Ring) {
	t.Helper()
	db, c := statetest.Open(t, address), newClock()
	c.set(firstAt)
	r := ring(db, c)
	if err := r.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.set(start)
	return db, c, r
}

func lite(t *testing.T) string { t.Helper(); return statetest.Address(t, "sqlite") }

func onBoth(t *testing.T, f func(t *testing.T, address string)) {
	t.Helper()
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) { f(t, statetest.Address(t, engine)) })
	}
}

func assertion(c *clock, life time.Duration) keyring.Assertion {
	return keyring.Assertion{
		RegistrationID: "reg_1", Kind: identity.ServiceAuth, Generation: 1, JTI: "jti", IssuedAt: c.now(), ExpiresAt: c.now().Add(life),
	}
}

func sign(t *testing.T, r *keyring.Ring, a keyring.Assertion) string {
	t.Helper()
	raw, err := r.Sign(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func valid(t *testing.T, r *keyring.Ring, raw string) bool {
	t.Helper()
	got, err := r.Verify(t.Context(), raw)
	if err != nil && !errors.Is(err, keyring.ErrInvalid) {
		t.Error("another error than ErrInvalid:", err)
	}
	if err != nil && !cmp.Equal(got, keyring.Assertion{}) {
		t.Errorf("a refused assertion says %+v", got)
	}
	return err == nil
}

func rotate(t *testing.T, r *keyring.Ring, after time.Duration) string {
	t.Helper()
	kid, at, err := r.Rotate(t.Context(), after)
	if err != nil || !at.Equal(r.Now().Add(after)) {
		t.Fatal(at, err)
	}
	return kid
}

// part decodes a part of a token: 0 is the header, 1 the payload.
func part(t *testing.T, raw string, i int) map[string]any {
	t.Helper()
	data, err := base64.RawURLEncoding.DecodeString(strings.Split(raw, ".")[i])
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func kidOf(t *testing.T, raw string) string {
	t.Helper()
	return part(t, raw, 0)["kid"].(string)
}

// published returns the key set by kid, as a verifier elsewhere reads it.
func published(t *testing.T, r *keyring.Ring) map[string]map[string]string {
	t.Helper()
	data, err := r.JWKS(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var set struct {
		Keys []map[string]string `json:"keys"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&set); err != nil || set.Keys == nil {
		t.Fatalf("%v in %s", err, data)
	}
	out := map[string]map[string]string{}
	for _, k := range set.Keys {
		out[k["kid"]] = k
	}
	if len(out) != len(set.Keys) {
		t.Fatalf("two keys have one id: %s", data)
	}
	return out
}

// states returns the state of every key.
func states(t *testing.T, r *keyring.Ring) map[string]string {
	t.Helper()
	list, err := r.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, s := range list {
		out[s.KID] = s.State
	}
	return out
}

func TestEveryClaimComesBack(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		_, c, r := bench(t, address)
		for name, a := range map[string]keyring.Assertion{
			"anonymous":    {RegistrationID: "reg_1", Kind: identity.Anonymous, JTI: "j1", IssuedAt: c.now(), ExpiresAt: c.now().Add(time.Hour)},
			"service_auth": {RegistrationID: "reg_2", Kind: identity.ServiceAuth, Generation: 2, JTI: "j2", Email: "dana@example.com", IssuedAt: c.now(), ExpiresAt: c.now().Add(identity.MaxAssertion)},
			"by assertion": {
				RegistrationID: "reg_3", Kind: identity.IdentityAssertion, Generation: 1 << 40, JTI: "j3 \"ü", Email: "dana@example.com", AMR: []string{"pwd", "mfa"},
				IssuedAt: c.now(), ExpiresAt: c.now().Add(time.Hour),
			},
		} {
			got, err := r.Verify(t.Context(), sign(t, r, a))
			if diff := cmp.Diff(a, got); diff != "" || err != nil {
				t.Errorf("%s: %v %s", name, err, diff)
			}
		}
		a := assertion(c, time.Hour)
		a.IssuedAt = a.IssuedAt.Add(999 * time.Millisecond)
		got, err := r.Verify(t.Context(), sign(t, r, a))
		if err != nil || !got.IssuedAt.Equal(c.now()) {
			t.Errorf("parts of a second: %v, %v", got.IssuedAt, err)
		}
	})
}

func TestWhatStandsInAnAssertion(t *testing.T) {
	_, c, r := bench(t, lite(t))
	a := assertion(c, time.Hour)
	a.Kind, a.Email, a.EmailVerified, a.AMR = identity.IdentityAssertion, "dana@example.com", true, []string{"mfa"}
	raw := sign(t, r, a)
	var kid string
	for kid = range published(t, r) {
	}
	if diff := cmp.Diff(map[string]any{"alg": "ES256", "kid": kid, "typ": "oauth-id-jag+jwt"}, part(t, raw, 0)); diff != "" {
		t.Error(diff)
	}
	want := map[string]any{
		"iss": issuer, "sub": "reg_1", "aud": issuer, "client_id": issuer + "/agent-auth", "jti": "jti", "registration_type": "id_jag", "gen": 1.0,
		"iat": float64(start.Unix()), "exp": float64(start.Add(time.Hour).Unix()), "email": "dana@example.com", "email_verified": true, "amr": []any{"mfa"},
	}
	if diff := cmp.Diff(want, part(t, raw, 1)); diff != "" {
		t.Error(diff)
	}
	delete(want, "email")
	delete(want, "email_verified")
	delete(want, "amr")
	want["registration_type"] = "anonymous"
	a.Kind, a.Email, a.AMR = identity.Anonymous, "", nil
	if diff := cmp.Diff(want, part(t, sign(t, r, a), 1)); diff != "" {
		t.Error("before a claim:", diff)
	}
}

// Anybody can verify with the published set alone, and it holds nothing private.
func TestThePublishedSet(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		_, c, r := bench(t, address)
		rotate(t, r, keyring.Overlap)
		raw := sign(t, r, assertion(c, time.Hour))
		set := published(t, r)
		if len(set) != 2 {
			t.Fatalf("%d keys", len(set))
		}
		for kid, k := range set {
			x, xerr := base64.RawURLEncoding.Strict().DecodeString(k["x"])
			y, yerr := base64.RawURLEncoding.Strict().DecodeString(k["y"])
			if xerr != nil || yerr != nil || len(x) != 32 || len(y) != 32 {
				t.Fatalf("the point of %s: %v %v", kid, xerr, yerr)
			}
			want := map[string]string{"kty": "EC", "crv": "P-256", "x": k["x"], "y": k["y"], "kid": kid, "use": "sig", "alg": "ES256"}
			if diff := cmp.Diff(want, k); diff != "" {
				t.Error(diff)
			}
			canonical, err := json.Marshal(map[string]string{"kty": "EC", "crv": "P-256", "x": k["x"], "y": k["y"]}) // sorted, as RFC 7638 wants it
			sum := sha256.Sum256(canonical)
			if err != nil || kid != base64.RawURLEncoding.EncodeToString(sum[:]) {
				t.Errorf("%s is not the thumbprint of %s", kid, canonical)
			}
			pub, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, x, y))
			if err != nil {
				t.Fatal(err)
			}
			_, err = jwt.Parse(raw, func(*jwt.Token) (any, error) { return pub, nil }, jwt.WithValidMethods([]string{"ES256"}), jwt.WithTimeFunc(c.now))
			if (err == nil) != (kid == kidOf(t, raw)) {
				t.Errorf("%s verifies a token of %s: %v", kid, kidOf(t, raw), err)
			}
		}
	})
}

// forger signs what the ring would not, with the ring's own key.
type forger struct {
	t       *testing.T
	kid     string
	private *ecdsa.PrivateKey
}

func newForger(t *testing.T, db *state.DB) forger {
	t.Helper()
	rows, err := db.Read().SigningKeys(t.Context())
	if err != nil || len(rows) != 1 {
		t.Fatal(len(rows), err)
	}
	private, err := x509.ParsePKCS8PrivateKey(rows[0].Private)
	if err != nil {
		t.Fatal(err)
	}
	return forger{t, rows[0].KID, private.(*ecdsa.PrivateKey)}
}

func (f forger) sign(method jwt.SigningMethod, key any, edit func(header, claims map[string]any)) string {
	f.t.Helper()
	claims := jwt.MapClaims{
		"iss": issuer, "sub": "reg_1", "aud": issuer, "client_id": issuer + "/agent-auth", "jti": "jti", "registration_type": "service_auth", "gen": 1,
		"iat": start.Unix(), "exp": start.Add(time.Hour).Unix(),
	}
	token := jwt.NewWithClaims(method, claims)
	token.Header["typ"], token.Header["kid"] = "oauth-id-jag+jwt", f.kid
	edit(token.Header, claims)
	raw, err := token.SignedString(key)
	if err != nil {
		f.t.Fatal(err)
	}
	return raw
}

func TestWhatIsNoAssertion(t *testing.T) {
	db, _, r := bench(t, lite(t))
	f := newForger(t, db)
	good := f.sign(jwt.SigningMethodES256, f.private, func(_, _ map[string]any) {})
	if !valid(t, r, good) {
		t.Fatal("the forger's pattern is not good")
	}
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pub, err := f.private.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	spki, err := x509.MarshalPKIXPublicKey(&f.private.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	same := func(_, _ map[string]any) {}
	es256 := func(edit func(header, claims map[string]any)) string {
		return f.sign(jwt.SigningMethodES256, f.private, edit)
	}
	header := func(name string, value any) string {
		return es256(func(h, _ map[string]any) {
			if h[name] = value; value == nil {
				delete(h, name)
			}
		})
	}
	claim := func(name string, value any) string {
		return es256(func(_, c map[string]any) {
			if c[name] = value; value == nil {
				delete(c, name)
			}
		})
	}
	parts := strings.Split(good, ".")
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		t.Fatal(err)
	}
	der, err := ecdsaDER(signature)
	if err != nil {
		t.Fatal(err)
	}
	for name, raw := range map[string]string{
		"nothing":                    "",
		"dots":                       "..",
		"not a token":                "clm_hush",
		"two parts":                  parts[0] + "." + parts[1],
		"four parts":                 good + "." + parts[2],
		"no signature":               parts[0] + "." + parts[1] + ".",
		"padding":                    good + "=",
		"a line at the end":          good + "\n",
		"a line in the signature":    good[:len(good)-9] + "\r\n" + good[len(good)-9:],
		"a space before":             " " + good,
		"Bearer before":              "Bearer " + good,
		"a signature in DER":         parts[0] + "." + parts[1] + "." + der,
		"half a signature":           parts[0] + "." + parts[1] + "." + base64.RawURLEncoding.EncodeToString(signature[:32]),
		"a signature of zeros":       parts[0] + "." + parts[1] + "." + base64.RawURLEncoding.EncodeToString(make([]byte, 64)),
		"the payload of another":     parts[0] + "." + strings.Split(claim("sub", "reg_2"), ".")[1] + "." + parts[2],
		"the header of another":      strings.Split(header("more", 1), ".")[0] + "." + parts[1] + "." + parts[2],
		"longer than 8 KiB":          claim("more", strings.Repeat("x", 8<<10)),
		"alg none":                   f.sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, same),
		"alg HS256, the point":       f.sign(jwt.SigningMethodHS256, pub, same),
		"alg HS256, the public key":  f.sign(jwt.SigningMethodHS256, spki, same),
		"alg HS256, the kid":         f.sign(jwt.SigningMethodHS256, []byte(f.kid), same),
		"alg ES384":                  f.sign(jwt.SigningMethodES384, p384, same),
		"alg says ES384":             header("alg", "ES384"),
		"alg in lower case":          header("alg", "es256"),
		"no alg":                     header("alg", nil),
		"a key of somebody":          f.sign(jwt.SigningMethodES256, other, same),
		"an unknown kid":             header("kid", "unknown"),
		"no kid":                     header("kid", nil),
		"an empty kid":               header("kid", ""),
		"a kid that is a number":     header("kid", 1),
		"a kid that is a list":       header("kid", []string{f.kid}),
		"its own key in the header":  f.sign(jwt.SigningMethodES256, other, func(h, _ map[string]any) { h["kid"] = "own"; h["jwk"] = map[string]string{"kty": "EC"} }),
		"typ JWT":                    header("typ", "JWT"),
		"typ of an event token":      header("typ", "secevent+jwt"),
		"no typ":                     header("typ", nil),
		"typ as a media type":        header("typ", "application/oauth-id-jag+jwt"),
		"another issuer":             claim("iss", "https://idp.example"),
		"no issuer":                  claim("iss", nil),
		"an issuer with a slash":     claim("iss", issuer+"/"),
		"another audience":           claim("aud", issuer+"/api/"),
		"no audience":                claim("aud", nil),
		"a list of audiences":        claim("aud", []string{issuer}),
		"no subject":                 claim("sub", nil),
		"an empty subject":           claim("sub", ""),
		"a subject that is a number": claim("sub", 1),
		"no exp":                     claim("exp", nil),
		"exp 0":                      claim("exp", 0),
		"exp in words":               claim("exp", "never"),
		"no iat":                     claim("iat", nil),
		"iat in words":               claim("iat", "now"),
		"a generation in words":      claim("gen", "1"),
	} {
		if valid(t, r, raw) {
			t.Errorf("%s is accepted", name)
		}
	}
}

// ecdsaDER is a signature in the form of X.509.
func ecdsaDER(signature []byte) (string, error) {
	integer := func(b []byte) []byte {
		n := new(big.Int).SetBytes(b).Bytes()
		if n[0] >= 0x80 {
			n = append([]byte{0}, n...)
		}
		return append([]byte{2, byte(len(n))}, n...)
	}
	if len(signature) != 64 {
		return "", fmt.Errorf("%d bytes", len(signature))
	}
	body := append(integer(signature[:32]), integer(signature[32:])...)
	return base64.RawURLEncoding.EncodeToString(append([]byte{0x30, byte(len(body))}, body...)), nil
}

// No letter of a token can be another one, the last of a part included.
func TestATamperedAssertion(t *testing.T) {
	_, c, r := bench(t, lite(t))
	raw := sign(t, r, assertion(c, time.Hour))
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i := range raw {
		for _, flip := range []int{1, 2, 16, 63} {
			to := byte('A') // in place of a dot
			if at := strings.IndexByte(letters, raw[i]); at >= 0 {
				to = letters[(at+flip)%64]
			}
			if changed := raw[:i] + string(to) + raw[i+1:]; valid(t, r, changed) {
				t.Errorf("letter %d may be %c in place of %c", i, to, raw[i])
			}
		}
		if valid(t, r, raw[:i]) {
			t.Errorf("the first %d letters are enough", i)
		}
	}
}

// A clock may be a minute off, and no more.
func TestWhenAnAssertionIsValid(t *testing.T) {
	_, c, r := bench(t, lite(t))
	raw := sign(t, r, assertion(c, time.Hour))
	for name, test := range map[string]struct {
		at   time.Time
		want bool
	}{
		"when it is issued":              {start, true},
		"a minute before":                {start.Add(-identity.Skew), true},
		"more than a minute before":      {start.Add(-identity.Skew - time.Second), false},
		"at its end":                     {start.Add(time.Hour), true},
		"a moment before a minute after": {start.Add(time.Hour + identity.Skew - time.Microsecond), true},
		"a minute after":                 {start.Add(time.Hour + identity.Skew), false},
		"long after":                     {start.Add(48 * time.Hour), false},
	} {
		c.set(test.at)
		if got := valid(t, r, raw); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The whole life of a key, from its times alone: next, active, retiring, retired.
func TestTheLifeOfAKey(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		_, c, r := bench(t, address)
		first := kidOf(t, sign(t, r, assertion(c, time.Hour)))
		if diff := cmp.Diff(map[string]string{first: "active"}, states(t, r)); diff != "" {
			t.Fatal(diff)
		}
		c.set(start.Add(24 * time.Hour))
		second := rotate(t, r, keyring.Overlap)
		switched := c.now().Add(keyring.Overlap)
		var old string // the last that the first key signs
		for _, step := range []struct {
			name          string
			at            time.Time
			signs         string
			first, second string
			published     int
			oldIsValid    bool
		}{
			{"made", c.now(), first, "active", "next", 2, true},
			{"just before the switch", switched.Add(-time.Microsecond), first, "active", "next", 2, true},
			{"at the switch", switched, second, "retiring", "active", 2, true},
			{"when the last assertion ends", switched.Add(identity.MaxAssertion), second, "retiring", "active", 2, true},
			{"just before the first is gone", switched.Add(accepted - time.Microsecond), second, "retiring", "active", 2, false},
			{"the first is gone", switched.Add(accepted), second, "retired", "active", 1, false},
			{"years later", switched.AddDate(3, 0, 0), second, "retired", "active", 1, false},
		} {
			c.set(step.at)
			raw := sign(t, r, assertion(c, identity.MaxAssertion))
			if got := kidOf(t, raw); got != step.signs {
				t.Errorf("%s: %s signs", step.name, got)
			}
			if step.signs == first {
				old = raw
			}
			if !valid(t, r, raw) {
				t.Errorf("%s: what it signs is not valid", step.name)
			}
			if got := valid(t, r, old); got != step.oldIsValid {
				t.Errorf("%s: what the first key signed last is valid: %v", step.name, got)
			}
			if diff := cmp.Diff(map[string]string{first: step.first, second: step.second}, states(t, r)); diff != "" {
				t.Errorf("%s: %s", step.name, diff)
			}
			set := published(t, r)
			if len(set) != step.published || set[second] == nil || (set[first] != nil) != (step.first != "retired") {
				t.Errorf("%s: %d keys are published", step.name, len(set))
			}
		}
	})
}

// A retired key does not verify even what says that it still lives.
func TestARetiredKeyIsNotAccepted(t *testing.T) {
	db, c, r := bench(t, lite(t))
	f := newForger(t, db)
	rotate(t, r, 0)
	forever := f.sign(jwt.SigningMethodES256, f.private, func(_, claims map[string]any) { claims["exp"] = start.AddDate(10, 0, 0).Unix() })
	c.set(start.Add(accepted - time.Microsecond))
	if !valid(t, r, forever) {
		t.Error("it is not accepted while it is published")
	}
	c.set(start.Add(accepted))
	if valid(t, r, forever) {
		t.Error("it is accepted when it is retired")
	}
}

// Rotation at once is for a key that got out: the next signature is of the new
// one. Several waiting keys take their turns.
func TestRotations(t *testing.T) {
	_, c, r := bench(t, lite(t))
	now := rotate(t, r, 0)
	if got := kidOf(t, sign(t, r, assertion(c, time.Hour))); got != now {
		t.Error("at once:", got)
	}
	later, sooner := rotate(t, r, time.Hour), rotate(t, r, keyring.Overlap)
	for after, want := range map[time.Duration]string{
		keyring.Overlap - time.Second: now, keyring.Overlap: sooner, time.Hour - time.Second: sooner, time.Hour: later, 1000 * time.Hour: later,
	} {
		c.set(start.Add(after))
		if got := kidOf(t, sign(t, r, assertion(c, time.Hour))); got != want {
			t.Errorf("after %v: %s", after, got)
		}
	}
	list, err := r.List(t.Context())
	if err != nil || len(list) != 4 || !slices.IsSortedFunc(list, func(a, b keyring.Status) int { return a.ActiveFrom.Compare(b.ActiveFrom) }) {
		t.Error(list, err)
	}
}

func TestRotationByAge(t *testing.T) {
	db, c, r := bench(t, lite(t))
	other := ring(db, c)
	if err := other.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		after time.Duration
		ring  *keyring.Ring
		want  bool
	}{
		{time.Hour, r, false},
		{keyring.MaxAge - time.Microsecond, r, false},
		{keyring.MaxAge, r, true},
		{keyring.MaxAge, r, false}, // its successor is made
		{keyring.MaxAge + time.Minute, other, false},
		{keyring.MaxAge + keyring.Overlap + keyring.MaxAge - time.Microsecond, r, false},
		{keyring.MaxAge + keyring.Overlap + keyring.MaxAge, other, true},
	} {
		c.set(firstAt.Add(step.after))
		if got, err := step.ring.RotateOld(t.Context()); got != step.want || err != nil {
			t.Errorf("after %v: %v, %v", step.after, got, err)
		}
	}
	if got := states(t, r); len(got) != 3 {
		t.Error(got)
	}
}

// Whatever the rotations, an assertion is valid for as long as it says, and its
// key is published as long.
func TestNoRotationEndsAnAssertion(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	random := mathrand.New(mathrand.NewPCG(seed, 0))
	_, c, r := bench(t, lite(t))
	type issued struct {
		raw  string
		ends time.Time
	}
	var all []issued
	for step := range 150 {
		c.add(time.Duration(random.Int64N(int64(4 * 24 * time.Hour))).Truncate(time.Second))
		if random.IntN(4) == 0 {
			rotate(t, r, time.Duration(random.Int64N(int64(3*24*time.Hour))).Truncate(time.Second))
		}
		life := time.Duration(1+random.Int64N(int64(identity.MaxAssertion/time.Second))) * time.Second
		all = append(all, issued{sign(t, r, assertion(c, life)), c.now().Add(life)})
		set := published(t, r)
		kept := all[:0]
		for _, a := range all {
			lives := c.now().Before(a.ends)
			if lives && (!valid(t, r, a.raw) || set[kidOf(t, a.raw)] == nil) {
				t.Fatalf("step %d: an assertion that ends at %v is not valid at %v", step, a.ends, c.now())
			}
			if !lives && c.now().After(a.ends.Add(identity.Skew)) {
				if valid(t, r, a.raw) {
					t.Fatalf("step %d: an assertion that ended at %v is valid at %v", step, a.ends, c.now())
				}
				continue
			}
			kept = append(kept, a)
		}
		all = kept
	}
}

// A second server meets a key that the first has just made: it looks into the
// store, though not more than once a second.
func TestTwoRingsOnOneStore(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		_, c, a := bench(t, address)
		b := ring(statetest.Open(t, address), c)
		if !valid(t, b, sign(t, a, assertion(c, time.Hour))) || !valid(t, a, sign(t, b, assertion(c, time.Hour))) {
			t.Fatal("they do not share the first key")
		}
		second := rotate(t, a, 0)
		raw := sign(t, a, assertion(c, time.Hour))
		if kidOf(t, raw) != second {
			t.Fatal("the first key signs")
		}
		c.add(time.Second - time.Microsecond)
		if valid(t, b, raw) {
			t.Error("the store is asked again within a second")
		}
		c.add(time.Microsecond)
		if !valid(t, b, raw) {
			t.Error("a new key of the other is not found")
		}
		if got := kidOf(t, sign(t, b, assertion(c, time.Hour))); got != second {
			t.Error("then it does not sign with it")
		}
		c.add(time.Second)
		third := rotate(t, a, 0)
		c.add(time.Minute) // now without being asked for it
		if got := kidOf(t, sign(t, b, assertion(c, time.Hour))); got != third || published(t, b)[third] == nil {
			t.Error("a minute later the new key is not known")
		}
	})
}

// Servers that start on an empty store at once may each make a key. All of them
// are good everywhere.
func TestManyRingsOnAnEmptyStore(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		db, c := statetest.Open(t, address), newClock()
		rings := make([]*keyring.Ring, 4)
		var all sync.WaitGroup
		for i := range rings {
			rings[i] = ring(db, c)
			all.Go(func() {
				if err := rings[i].Load(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		var tokens []string
		for _, r := range rings {
			tokens = append(tokens, sign(t, r, assertion(c, time.Hour)))
		}
		c.add(time.Second)
		for i, r := range rings {
			for j, raw := range tokens {
				if !valid(t, r, raw) {
					t.Errorf("ring %d refuses what ring %d signed", i, j)
				}
			}
		}
		c.add(time.Minute)
		signers := map[string]bool{}
		for _, r := range rings {
			signers[kidOf(t, sign(t, r, assertion(c, time.Hour)))] = true
		}
		if len(signers) != 1 {
			t.Errorf("a minute later %d keys sign", len(signers))
		}
	})
}

func TestADroppedKey(t *testing.T) {
	db, c, r := bench(t, lite(t))
	old := sign(t, r, assertion(c, time.Hour))
	rotate(t, r, 0)
	fresh := sign(t, r, assertion(c, time.Hour))
	drop := func(kid string) {
		t.Helper()
		if err := db.Write(t.Context(), func(tx *state.Tx) error {
			ok, err := tx.DropSigningKey(t.Context(), kid)
			if !ok {
				t.Error("there is no key", kid)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	drop(kidOf(t, old))
	c.add(time.Minute)
	if valid(t, r, old) || published(t, r)[kidOf(t, old)] != nil {
		t.Error("it is accepted a minute later")
	}
	if !valid(t, r, fresh) {
		t.Error("the other is gone too")
	}
	drop(kidOf(t, fresh))
	c.add(time.Minute)
	next := sign(t, r, assertion(c, time.Hour))
	if valid(t, r, fresh) || !valid(t, r, next) || len(published(t, r)) != 1 {
		t.Error("without a key there is not one new one")
	}
}

// Of the store's trouble the ring knows nothing while it has keys.
func TestAStoreThatIsDown(t *testing.T) {
	address, c := statetest.Address(t, "sqlite"), newClock()
	db, err := state.Open(t.Context(), address, statetest.Vault(t))
	if err != nil {
		t.Fatal(err)
	}
	r, empty := ring(db, c), ring(db, c)
	raw := sign(t, r, assertion(c, time.Hour))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	c.add(2 * time.Minute)
	if !valid(t, r, raw) || !valid(t, r, sign(t, r, assertion(c, time.Hour))) || len(published(t, r)) != 1 {
		t.Error("the keys at hand do not serve")
	}
	if _, _, err := r.Rotate(t.Context(), 0); err == nil {
		t.Error("it rotates without a store")
	}
	if _, err := r.List(t.Context()); err == nil {
		t.Error("it lists without a store")
	}
	for name, f := range map[string]func() error{
		"Load":      func() error { return empty.Load(t.Context()) },
		"Sign":      func() error { _, err := empty.Sign(t.Context(), assertion(c, time.Hour)); return err },
		"JWKS":      func() error { _, err := empty.JWKS(t.Context()); return err },
		"RotateOld": func() error { _, err := empty.RotateOld(t.Context()); return err },
		"Verify":    func() error { _, err := empty.Verify(t.Context(), raw); return err },
	} {
		if f() == nil {
			t.Errorf("%s works without keys", name)
		}
	}
}

func TestKeysThatAreNone(t *testing.T) {
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := x509.MarshalPKCS8PrivateKey(p384)
	if err != nil {
		t.Fatal(err)
	}
	for name, private := range map[string][]byte{"of another curve": wrong, "damaged": []byte("damaged"), "empty": nil} {
		db, c, r := bench(t, lite(t))
		raw := sign(t, r, assertion(c, time.Hour))
		if err := db.Write(t.Context(), func(tx *state.Tx) error {
			return tx.AddSigningKey(t.Context(), &state.SigningKey{KID: "bad-key", Private: private, CreatedAt: start, ActiveFrom: start.Add(1)})
		}); err != nil {
			t.Fatal(err)
		}
		if err := r.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "bad-key") {
			t.Errorf("%s: %v", name, err)
		}
		if err := ring(db, c).Load(t.Context()); err == nil {
			t.Errorf("%s: a new server starts", name)
		}
		if !valid(t, r, raw) {
			t.Errorf("%s: it spoils the keys at hand", name)
		}
	}
	db, c := statetest.Open(t, statetest.Address(t, "sqlite")), newClock()
	r := ring(db, c)
	if _, _, err := r.Rotate(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Sign(t.Context(), assertion(c, time.Hour)); err == nil {
		t.Error("a key signs before its time")
	}
	if got := states(t, r); len(got) != 1 {
		t.Error(got)
	}
}

// Private keys lie sealed: neither files nor backups hold them, and another
// master key does not open them.
func TestPrivateKeysAreSealed(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		db, c, r := bench(t, address)
		rotate(t, r, 0)
		raw := sign(t, r, assertion(c, time.Hour))
		rows, err := db.Read().SigningKeys(t.Context())
		if err != nil || len(rows) == 0 {
			t.Fatal(len(rows), err)
		}
		places := map[string][]byte{"the backup": backup(t, db)}
		if file, ok := strings.CutPrefix(address, "sqlite://"); ok {
			for _, name := range []string{file, file + "-wal"} {
				if places[name], err = os.ReadFile(name); err != nil {
					t.Fatal(err)
				}
			}
		}
		found := 0
		for _, row := range rows {
			private, err := x509.ParsePKCS8PrivateKey(row.Private)
			if err != nil {
				t.Fatal(err)
			}
			d, err := private.(*ecdsa.PrivateKey).Bytes()
			if err != nil {
				t.Fatal(err)
			}
			for place, data := range places {
				if bytes.Contains(data, d) || bytes.Contains(data, row.Private) || bytes.Contains(data, []byte(base64.StdEncoding.EncodeToString(d))) {
					t.Errorf("%s holds the private key", place)
				}
				if bytes.Contains(data, []byte(row.KID)) {
					found++
				}
			}
		}
		if found < len(rows) {
			t.Error("the places looked at do not hold the keys")
		}
		master := bytes.Repeat([]byte{8}, secret.MasterSize)
		vault, err := secret.NewVault(master, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if other, err := state.Open(t.Context(), address, vault); err == nil {
			t.Error("another master key opens the store", other.Close())
		}
		again := ring(statetest.Open(t, address), c)
		if !valid(t, again, raw) {
			t.Error("the right one does not open the keys")
		}
	})
}

// backup returns all values of a backup, bytes as they are.
func backup(t *testing.T, db *state.DB) []byte {
	t.Helper()
	var packed, out bytes.Buffer
	if _, err := db.Backup(t.Context(), &packed); err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(&packed)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for dec := json.NewDecoder(z); dec.More(); {
		var row struct {
			V []any `json:"v"`
		}
		if err := dec.Decode(&row); err != nil {
			t.Fatal(err)
		}
		for _, v := range row.V {
			switch v := v.(type) {
			case string:
				out.WriteString(v + "\n")
			case map[string]any:
				data, err := base64.StdEncoding.DecodeString(v["b"].(string))
				if err != nil {
					t.Fatal(err)
				}
				out.Write(append(data, '\n'))
			}
		}
	}
	return out.Bytes()
}

// Rings are used by many requests while keys change and time passes.
func TestManyAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		db, c := statetest.Open(t, address), newClock()
		rings := []*keyring.Ring{ring(db, c), ring(db, c)}
		for _, r := range rings {
			if err := r.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for _, r := range rings {
			for range 3 {
				all.Go(func() {
					for ctx.Err() == nil {
						raw := sign(t, r, assertion(c, identity.MaxAssertion))
						if !valid(t, r, raw) {
							t.Error("its own assertion is refused")
							return
						}
						_, _ = r.JWKS(t.Context())
						_, _ = r.List(t.Context())
					}
				})
			}
		}
		for i := range 8 {
			rotate(t, rings[i%2], keyring.Overlap)
			c.add(keyring.Overlap)
		}
		stop()
		all.Wait()
	})
}

// However keys are dropped, one signs at once.
func TestDrop(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		_, c, r := bench(t, address)
		drop := func(kid string, want bool) {
			t.Helper()
			if found, err := r.Drop(t.Context(), kid); err != nil || found != want {
				t.Fatalf("%v, %v", found, err)
			}
		}
		first := sign(t, r, assertion(c, time.Hour))
		next := rotate(t, r, keyring.Overlap)
		drop("no such key", false)
		drop(kidOf(t, first), true)
		second := sign(t, r, assertion(c, time.Hour))
		if kidOf(t, second) != next || valid(t, r, first) || !valid(t, r, second) {
			t.Errorf("%s signs, not %s", kidOf(t, second), next)
		}
		drop(next, true)
		third := sign(t, r, assertion(c, time.Hour))
		if kidOf(t, third) == next || valid(t, r, second) || !valid(t, r, third) {
			t.Error("no new key signs")
		}
		newer := rotate(t, r, 0)
		drop(newer, true)
		if fourth := sign(t, r, assertion(c, time.Hour)); kidOf(t, fourth) != kidOf(t, third) {
			t.Error("the key before the dropped one does not sign")
		}
	})
}

func TestRetiredKeysGo(t *testing.T) {
	_, c, r := bench(t, lite(t))
	raw := sign(t, r, assertion(c, time.Hour))
	rotate(t, r, 0)
	c.add(accepted - time.Second)
	for _, want := range []int{2, 1} {
		if err := r.DropRetired(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := states(t, r); len(got) != want {
			t.Errorf("%v, want %d keys", got, want)
		}
		c.add(time.Second)
	}
	if _, there := states(t, r)[kidOf(t, raw)]; there {
		t.Error("the old key is there")
	}
}

// Servers that rotate by age at the same moment make one key.
func TestRotationByAgeAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		db, c, r := bench(t, address)
		c.set(firstAt.Add(keyring.MaxAge))
		var made atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			other := ring(db, c)
			if err := other.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
			all.Go(func() {
				did, err := other.RotateOld(t.Context())
				if err != nil {
					t.Error(err)
				}
				if did {
					made.Add(1)
				}
			})
		}
		all.Wait()
		if got := states(t, r); made.Load() != 1 || len(got) != 2 {
			t.Errorf("%d made, %v", made.Load(), got)
		}
	})
}
