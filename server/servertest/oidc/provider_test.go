package oidc_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	clientID     = "firstpick client" // the blank must be escaped in the Basic scheme (RFC 6749, 2.3.1)
	clientSecret = "s3cret:+/%&="
)

// A provider is an OpenID provider (OpenID Connect Core 1.0) with the code flow
// and PKCE. It refuses what the standards say it must, and remembers what it was
// asked. Its fields are guarded by mu; tests use with.
type provider struct {
	URL   string
	close func() // stops it

	t   *testing.T
	now func() time.Time

	mu       sync.Mutex
	redirect string // the one that is registered
	sub      string
	claims   map[string]any // of the person who is signed in there
	es       *ecdsa.PrivateKey
	rs       *rsa.PrivateKey // signs in place of es where it is set
	kid      string
	codes    map[string]grant
	secrets  []string // codes, states, nonces and tokens that were seen
	asked    map[string]int
	problems []string // what of the server's requests was not right

	// What tests change.
	refuse   url.Values                          // the authorize endpoint answers this in place of a code
	lie      func(header, claims map[string]any) // changes an id_token before it is signed
	replace  func(idToken string) string         // changes it afterwards
	postOnly bool                                // the client's secret is taken from the body alone
	lax      bool                                // PKCE is not checked
	broken   map[string]http.HandlerFunc         // by path: answers in place of the endpoint
	verifier string                              // the last one that was shown
}

type grant struct{ nonce, challenge, redirect string }

func startProvider(t *testing.T, now func() time.Time) *provider {
	t.Helper()
	p := &provider{
		t: t, now: now, sub: "248289761001", claims: map[string]any{"email": "dana@example.com", "email_verified": true},
		codes: map[string]grant{}, asked: map[string]int{}, broken: map[string]http.HandlerFunc{},
	}
	p.rotate()
	s := httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(s.Close)
	p.URL, p.close = s.URL, s.Close
	t.Cleanup(func() {
		for _, problem := range p.problems {
			t.Error("the server asked wrongly: " + problem)
		}
	})
	return p
}

// with changes the provider.
func (p *provider) with(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// rotate replaces the key.
func (p *provider) rotate() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		p.t.Fatal(err)
	}
	p.with(func() { p.es, p.kid = key, rand.Text() })
}

// count returns how often a path was asked for.
func (p *provider) count(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked[path]
}

func (p *provider) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked[r.URL.Path]++
	broken := p.broken[r.URL.Path]
	p.mu.Unlock()
	if broken != nil {
		broken(w, r)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch r.Method + " " + r.URL.Path {
	case "GET /.well-known/openid-configuration":
		reply(w, http.StatusOK, map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/jwks",
			"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
			"id_token_signing_alg_values_supported": []string{"ES256", "RS256", "HS256", "none"},
			"code_challenge_methods_supported":      []string{"S256"},
		})
	case "GET /jwks":
		reply(w, http.StatusOK, map[string]any{"keys": []any{p.jwk()}})
	case "GET /authorize":
		p.authorize(w, r)
	case "POST /token":
		p.token(w, r)
	default:
		http.NotFound(w, r)
	}
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (p *provider) problem(format string, args ...any) {
	p.problems = append(p.problems, fmt.Sprintf(format, args...))
}

// authorize signs the person in, without asking, and sends the browser back.
func (p *provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	for name, v := range q {
		if len(v) != 1 {
			p.problem("%s stands %d times", name, len(v))
		}
	}
	switch {
	case q.Get("client_id") != clientID:
		p.problem("client_id is %q", q.Get("client_id"))
	case q.Get("redirect_uri") != p.redirect: // never redirect to what is not registered (RFC 9700, 2.1)
		p.problem("redirect_uri is %q", q.Get("redirect_uri"))
	case q.Get("response_type") != "code":
		p.problem("response_type is %q", q.Get("response_type"))
	case !slices.Contains(strings.Fields(q.Get("scope")), "openid"):
		p.problem("scope is %q", q.Get("scope"))
	case q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43:
		p.problem("the challenge is %q, %q", q.Get("code_challenge_method"), q.Get("code_challenge"))
	case len(q.Get("state")) < 22 || len(q.Get("nonce")) < 22 || q.Get("state") == q.Get("nonce"): // 128 bits
		p.problem("state %q or nonce %q", q.Get("state"), q.Get("nonce"))
	default:
		answer := url.Values{"state": {q.Get("state")}, "iss": {p.URL}} // RFC 9207
		if p.refuse != nil {
			for k, v := range p.refuse {
				answer[k] = v
			}
		} else {
			code := rand.Text()
			p.codes[code] = grant{q.Get("nonce"), q.Get("code_challenge"), q.Get("redirect_uri")}
			p.secrets = append(p.secrets, code, q.Get("state"), q.Get("nonce"))
			answer.Set("code", code)
		}
		http.Redirect(w, r, p.redirect+"?"+answer.Encode(), http.StatusFound)
		return
	}
	http.Error(w, "this request is refused", http.StatusBadRequest)
}

func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	fail := func(status int, code string) { reply(w, status, map[string]string{"error": code}) }
	if err := r.ParseForm(); err != nil {
		fail(http.StatusBadRequest, "invalid_request")
		return
	}
	if !p.client(r) {
		w.Header().Set("WWW-Authenticate", "Basic")
		fail(http.StatusUnauthorized, "invalid_client")
		return
	}
	p.verifier = r.PostForm.Get("code_verifier")
	p.secrets = append(p.secrets, p.verifier)
	code := r.PostForm.Get("code")
	g, known := p.codes[code]
	delete(p.codes, code) // it works once, whatever comes of it
	sum := sha256.Sum256([]byte(p.verifier))
	switch {
	case r.PostForm.Get("grant_type") != "authorization_code":
		fail(http.StatusBadRequest, "unsupported_grant_type")
		return
	case !known, r.PostForm.Get("redirect_uri") != g.redirect:
		fail(http.StatusBadRequest, "invalid_grant")
		return
	case !p.lax && b64(sum[:]) != g.challenge:
		fail(http.StatusBadRequest, "invalid_grant")
		return
	}
	answer := map[string]any{"access_token": rand.Text(), "token_type": "Bearer", "expires_in": 3600, "id_token": p.idToken(g.nonce)}
	if p.replace != nil {
		if answer["id_token"] = p.replace(answer["id_token"].(string)); answer["id_token"] == "" {
			delete(answer, "id_token")
		}
	}
	p.secrets = append(p.secrets, answer["access_token"].(string))
	if t, ok := answer["id_token"].(string); ok {
		p.secrets = append(p.secrets, t)
	}
	reply(w, http.StatusOK, answer)
}

// client checks how the server proves itself: one way at a time (RFC 6749, 2.3).
func (p *provider) client(r *http.Request) bool {
	id, secret, basic := r.BasicAuth()
	if basic {
		if r.PostForm.Has("client_secret") {
			p.problem("the client's secret is sent twice")
		}
		id, ierr := url.QueryUnescape(id)
		secret, serr := url.QueryUnescape(secret)
		return !p.postOnly && ierr == nil && serr == nil && id == clientID && secret == clientSecret
	}
	return r.PostForm.Get("client_id") == clientID && r.PostForm.Get("client_secret") == clientSecret
}

func (p *provider) idToken(nonce string) string {
	now := p.now().Unix()
	header := map[string]any{"alg": "ES256", "typ": "JWT", "kid": p.kid}
	if p.rs != nil {
		header["alg"] = "RS256"
	}
	claims := map[string]any{"iss": p.URL, "sub": p.sub, "aud": clientID, "iat": now, "exp": now + 300, "auth_time": now, "nonce": nonce}
	for k, v := range p.claims {
		claims[k] = v
	}
	if p.lie != nil {
		p.lie(header, claims)
	}
	h, err := json.Marshal(header)
	if err != nil {
		p.t.Error(err)
	}
	c, err := json.Marshal(claims)
	if err != nil {
		p.t.Error(err)
	}
	return p.sign(header["alg"], b64(h)+"."+b64(c))
}

// sign signs a text. It helps to lie: with alg none there is no signature, and
// HS256 is keyed with the client's secret.
func (p *provider) sign(alg any, text string) string {
	sum := sha256.Sum256([]byte(text))
	var sig []byte
	switch {
	case alg == "none":
	case alg == "HS256":
		mac := hmac.New(sha256.New, []byte(clientSecret))
		mac.Write([]byte(text))
		sig = mac.Sum(nil)
	case p.rs != nil:
		var err error
		if sig, err = rsa.SignPKCS1v15(rand.Reader, p.rs, crypto.SHA256, sum[:]); err != nil {
			p.t.Error(err)
		}
	default:
		r, s, err := ecdsa.Sign(rand.Reader, p.es, sum[:])
		if err != nil {
			p.t.Error(err)
		}
		sig = append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	}
	return text + "." + b64(sig)
}

func (p *provider) jwk() map[string]any {
	if p.rs != nil {
		return map[string]any{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": p.kid, "n": b64(p.rs.N.Bytes()), "e": b64(big.NewInt(int64(p.rs.E)).Bytes())}
	}
	point, err := p.es.PublicKey.Bytes() // 4, x, y
	if err != nil {
		p.t.Error(err)
	}
	return map[string]any{"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": p.kid, "x": b64(point[1:33]), "y": b64(point[33:])}
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
