package webbotauth_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid/webbotauth"
)

const (
	// The key test-key-ed25519 of RFC 9421, appendix B.1.4.
	testSeed = "n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU"
	testX    = "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"
	agent    = "https://signature-agent.test"
)

var created = time.Unix(1735689600, 0)

func private(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	seed, err := base64.RawURLEncoding.DecodeString(testSeed)
	if err != nil {
		t.Fatal(err)
	}
	return ed25519.NewKeyFromSeed(seed)
}

func keys(t testing.TB) *webbotauth.Directory {
	t.Helper()
	list, err := webbotauth.ParseDirectory([]byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"test-key-ed25519","x":"` + testX + `"}]}`))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	d := webbotauth.NewDirectory([]string{agent})
	d.Put(agent, list, created)
	return d
}

type vector struct {
	Name           string
	Signature      string `json:"signature"`
	SignatureInput string `json:"signature_input"`
	SignatureAgent string `json:"signature_agent"`
}

func vectors(t testing.TB) []vector {
	t.Helper()
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func (v vector) request() webbotauth.Request {
	return webbotauth.Request{
		Signature: v.Signature, SignatureInput: v.SignatureInput, SignatureAgent: v.SignatureAgent,
		Method: "GET", Authority: "example.com", Path: "/path/to/resource",
	}
}

const century = 101 * 365 * 24 * time.Hour // the second set is valid that long

func TestPublishedVectors(t *testing.T) {
	all := vectors(t)
	if len(all) != 4 {
		t.Fatalf("%d vectors", len(all))
	}
	for _, vec := range all {
		t.Run(vec.Name, func(t *testing.T) {
			v := &webbotauth.Verifier{Keys: keys(t), MaxLife: century}
			if got := v.Verify(vec.request(), created.Add(time.Minute)); got.Status != webbotauth.Verified || got.Agent != agent || got.KeyID != "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U" {
				t.Errorf("%+v", got)
			}
			for name, change := range map[string]func(*webbotauth.Request){
				"another authority": func(r *webbotauth.Request) { r.Authority = "example.org" },
				"a port":            func(r *webbotauth.Request) { r.Authority = "example.com:8443" },
				"another parameter": func(r *webbotauth.Request) {
					r.SignatureInput = strings.Replace(r.SignatureInput, "created=1735689600", "created=1735689601", 1)
				},
				"another signature": func(r *webbotauth.Request) { r.Signature = strings.Replace(r.Signature, "=:", "=:AAAA", 1) },
			} {
				r := vec.request()
				change(&r)
				if got := v.Verify(r, created.Add(time.Minute)); got.Status != webbotauth.Invalid {
					t.Errorf("%s: %+v", name, got)
				}
			}
			r := vec.request()
			r.Authority, r.Method, r.Path = "EXAMPLE.com:443", "POST", "/elsewhere"
			if got := v.Verify(r, created); got.Status != webbotauth.Verified {
				t.Errorf("what is not covered, and the same authority: %+v", got)
			}
		})
	}
}

// sign makes a request as a signer would.
func sign(t testing.TB, input string, lines ...string) webbotauth.Request {
	t.Helper()
	base := strings.Join(append(lines, `"@signature-params": `+input), "\n")
	return webbotauth.Request{
		SignatureInput: "sig1=" + input, Method: "GET", Authority: "example.com", Path: "/a", Query: "b=1",
		Signature: "sig1=:" + base64.StdEncoding.EncodeToString(ed25519.Sign(private(t), []byte(base))) + ":",
	}
}

func params(covered, more string) string {
	return fmt.Sprintf(`(%s);created=%d;expires=%d;keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"%s`, covered, created.Unix(), created.Unix()+300, more)
}

const tagged = `;tag="web-bot-auth"`

func TestVerify(t *testing.T) {
	plain := func(t *testing.T, more string) webbotauth.Request {
		return sign(t, params(`"@authority"`, more), `"@authority": example.com`)
	}
	for name, tc := range map[string]struct {
		make func(*testing.T) webbotauth.Request
		at   time.Duration // after created
		want webbotauth.Status
	}{
		"a good one":         {func(t *testing.T) webbotauth.Request { return plain(t, tagged) }, time.Minute, webbotauth.Verified},
		"at the last moment": {func(t *testing.T) webbotauth.Request { return plain(t, tagged) }, 6 * time.Minute, webbotauth.Verified},
		"too late":           {func(t *testing.T) webbotauth.Request { return plain(t, tagged) }, 6*time.Minute + time.Second, webbotauth.Expired},
		"too early":          {func(t *testing.T) webbotauth.Request { return plain(t, tagged) }, -61 * time.Second, webbotauth.Expired},
		"no tag":             {func(t *testing.T) webbotauth.Request { return plain(t, "") }, 0, webbotauth.Unsigned},
		"another tag":        {func(t *testing.T) webbotauth.Request { return plain(t, `;tag="other"`) }, 0, webbotauth.Unsigned},
		"another algorithm":  {func(t *testing.T) webbotauth.Request { return plain(t, `;alg="rsa-pss-sha512"`+tagged) }, 0, webbotauth.Unparsed},
		"nothing signed":     {func(*testing.T) webbotauth.Request { return webbotauth.Request{Authority: "example.com"} }, 0, webbotauth.Unsigned},
		"not bound to the site": {func(t *testing.T) webbotauth.Request {
			return sign(t, params(`"@method"`, tagged), `"@method": GET`)
		}, 0, webbotauth.Unparsed},
		"all that is derived": {func(t *testing.T) webbotauth.Request {
			return sign(t, params(`"@method" "@scheme" "@path" "@query" "@request-target" "@target-uri"`, tagged), `"@method": GET`, `"@scheme": https`,
				`"@path": /a`, `"@query": ?b=1`, `"@request-target": /a?b=1`, `"@target-uri": https://example.com/a?b=1`)
		}, 0, webbotauth.Verified},
		"a field that is passed on": {func(t *testing.T) webbotauth.Request {
			r := sign(t, params(`"@authority" "user-agent"`, tagged), `"@authority": example.com`, `"user-agent": x/1`)
			r.Fields = map[string]string{"user-agent": " x/1 "}
			return r
		}, 0, webbotauth.Verified},
		"a field that is not": {func(t *testing.T) webbotauth.Request {
			return sign(t, params(`"@authority" "user-agent"`, tagged), `"@authority": example.com`, `"user-agent": x/1`)
		}, 0, webbotauth.Unparsed},
		"a component twice": {func(t *testing.T) webbotauth.Request {
			return sign(t, params(`"@authority" "@authority"`, tagged), `"@authority": example.com`, `"@authority": example.com`)
		}, 0, webbotauth.Unparsed},
		"a component of the request in a response": {func(t *testing.T) webbotauth.Request {
			return sign(t, params(`"@authority" "@method";req`, tagged), `"@authority": example.com`, `"@method";req: GET`)
		}, 0, webbotauth.Unparsed},
		"an agent as ChatGPT names it": {func(t *testing.T) webbotauth.Request {
			r := sign(t, params(`"@authority" "signature-agent"`, tagged), `"@authority": example.com`, `"signature-agent": "`+agent+`"`)
			r.SignatureAgent = `"` + agent + `"`
			return r
		}, 0, webbotauth.Verified},
		"an agent with the parameters of the draft": {func(t *testing.T) webbotauth.Request {
			r := sign(t, params(`"@authority" "signature-agent";key="sig1"`, tagged), `"@authority": example.com`, `"signature-agent";key="sig1": "`+agent+`";type=directory`)
			r.SignatureAgent = `other="https://other.test", sig1="` + agent + `";type=directory`
			return r
		}, 0, webbotauth.Verified},
		"a dictionary that is covered whole": {func(t *testing.T) webbotauth.Request {
			r := sign(t, params(`"@authority" "signature-agent"`, tagged), `"@authority": example.com`, `"signature-agent": sig1="`+agent+`"`)
			r.SignatureAgent = `sig1="` + agent + `"`
			return r
		}, 0, webbotauth.Verified},
		"an agent that is not covered": {func(t *testing.T) webbotauth.Request {
			r := plain(t, tagged)
			r.SignatureAgent = `"` + agent + `"`
			return r
		}, 0, webbotauth.Unparsed},
		"an agent that is not on our list": {func(t *testing.T) webbotauth.Request {
			r := sign(t, params(`"@authority" "signature-agent"`, tagged), `"@authority": example.com`, `"signature-agent": "https://elsewhere.test"`)
			r.SignatureAgent = `"https://elsewhere.test"`
			return r
		}, 0, webbotauth.Unknown},
		"an agent inside our network": {func(t *testing.T) webbotauth.Request {
			r := sign(t, params(`"@authority" "signature-agent"`, tagged), `"@authority": example.com`, `"signature-agent": "http://169.254.169.254"`)
			r.SignatureAgent = `"http://169.254.169.254"`
			return r
		}, 0, webbotauth.Unknown},
		"another key": {func(t *testing.T) webbotauth.Request {
			r := plain(t, tagged)
			r.SignatureInput = strings.Replace(r.SignatureInput, "poqk", "aaaa", 1)
			return r
		}, 0, webbotauth.Unknown},
		"valid for too long": {func(t *testing.T) webbotauth.Request {
			in := strings.Replace(params(`"@authority"`, tagged), fmt.Sprint(created.Unix()+300), fmt.Sprint(created.Unix()+86401), 1)
			return sign(t, in, `"@authority": example.com`)
		}, 0, webbotauth.Expired},
		"garbage":       {func(*testing.T) webbotauth.Request { return webbotauth.Request{SignatureInput: "((", Signature: "x"} }, 0, webbotauth.Unparsed},
		"only an input": {func(t *testing.T) webbotauth.Request { r := plain(t, tagged); r.Signature = ""; return r }, 0, webbotauth.Unparsed},
		"no time":       {func(t *testing.T) webbotauth.Request { return sign(t, `("@authority");keyid="x"`+tagged) }, 0, webbotauth.Unparsed},
		"very long": {func(*testing.T) webbotauth.Request {
			return webbotauth.Request{SignatureInput: strings.Repeat("a", 9000)}
		}, 0, webbotauth.Unparsed},
		"of the wrong type": {func(t *testing.T) webbotauth.Request { r := plain(t, tagged); r.Signature = "sig1=5"; return r }, 0, webbotauth.Unparsed},
	} {
		t.Run(name, func(t *testing.T) {
			v := &webbotauth.Verifier{Keys: keys(t), Nonces: &webbotauth.Nonces{}}
			if got := v.Verify(tc.make(t), created.Add(tc.at)); got.Status != tc.want || (got.Err == nil) != (tc.want == webbotauth.Verified || got.Status == webbotauth.Unsigned && got.Err == nil) {
				t.Errorf("%+v, want %s", got, tc.want)
			}
		})
	}
}

func TestReplay(t *testing.T) {
	v := &webbotauth.Verifier{Keys: keys(t), Nonces: &webbotauth.Nonces{}}
	signed := func(nonce string) webbotauth.Request {
		return sign(t, params(`"@authority"`, `;nonce="`+nonce+`"`+tagged), `"@authority": example.com`)
	}
	bad := signed("one")
	bad.Authority = "example.org"
	for i, tc := range []struct {
		r    webbotauth.Request
		want webbotauth.Status
	}{
		{bad, webbotauth.Invalid}, {signed("one"), webbotauth.Verified}, {signed("one"), webbotauth.Replayed}, {signed("two"), webbotauth.Verified},
		{sign(t, params(`"@authority"`, tagged), `"@authority": example.com`), webbotauth.Verified},
		{sign(t, params(`"@authority"`, tagged), `"@authority": example.com`), webbotauth.Verified}, // no nonce, nothing to remember
	} {
		if got := v.Verify(tc.r, created); got.Status != tc.want {
			t.Errorf("%d: %+v, want %s", i, got, tc.want)
		}
	}
	for i := range 500 {
		if got := v.Verify(signed(fmt.Sprint("n", i)), created); got.Status != webbotauth.Verified {
			t.Fatalf("%d: %+v", i, got)
		}
	}
	if got := v.Verify(signed("n499"), created); got.Status != webbotauth.Replayed {
		t.Errorf("the latest was forgotten: %+v", got)
	}
}

func TestThumbprint(t *testing.T) {
	if got := webbotauth.Thumbprint(private(t).Public().(ed25519.PublicKey)); got != "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U" {
		t.Error(got)
	}
}

func FuzzVerify(f *testing.F) {
	for _, vec := range vectors(f) {
		f.Add(vec.Signature, vec.SignatureInput, vec.SignatureAgent, "example.com")
	}
	f.Add(`sig1=:AA==:`, `sig1=("@authority" "signature-agent";key="a");created=1;expires=2;keyid="k";tag="web-bot-auth"`, `a="https://x.test";b`, "x")
	k := keys(f)
	good := map[string]bool{}
	for _, vec := range vectors(f) {
		good[vec.Signature] = true
	}
	f.Fuzz(func(t *testing.T, sig, input, signer, authority string) {
		v := &webbotauth.Verifier{Keys: k, MaxLife: century}
		got := v.Verify(webbotauth.Request{Signature: sig, SignatureInput: input, SignatureAgent: signer, Method: "GET", Authority: authority}, created)
		if got.Status == webbotauth.Verified && (got.Agent != agent || got.Err != nil) {
			t.Errorf("verified: %+v", got)
		}
		if got.Status == webbotauth.Verified && !strings.EqualFold(strings.TrimSuffix(authority, ":443"), "example.com") {
			t.Errorf("verified for %q", authority)
		}
		if got.Status != webbotauth.Verified && got.Status != webbotauth.Unsigned && got.Err == nil {
			t.Errorf("no reason: %+v", got)
		}
		if errors.Is(got.Err, webbotauth.ErrUnknownAgent) && got.Status != webbotauth.Unknown {
			t.Errorf("%+v", got)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	v := &webbotauth.Verifier{Keys: keys(b), MaxLife: century}
	r := vectors(b)[3].request()
	b.ReportAllocs()
	for b.Loop() {
		if v.Verify(r, created).Status != webbotauth.Verified {
			b.Fatal("not verified")
		}
	}
}
