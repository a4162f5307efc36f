package trust_test

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/auth/trust"
)

// TestForm feeds tokens that are wrong as bytes.
func TestForm(t *testing.T) {
	idp, v, _ := setup(t)
	good := idp.Assertion(resource, "user-1", "dana@example.com")
	h := map[string]any{"alg": "ES256", "kid": idp.Kid()}
	plain := `{"typ":"oauth-id-jag+jwt","alg":"ES256","kid":"` + idp.Kid() + `"}`
	claims := func(more string) string {
		payload, err := base64.RawURLEncoding.DecodeString(strings.Split(good, ".")[1])
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(string(payload), "}") + more + "}"
	}
	parts := strings.Split(good, ".")
	for name, raw := range map[string]string{
		"empty":                    "",
		"dots":                     "..",
		"two segments":             parts[0] + "." + parts[1],
		"four segments":            good + ".",
		"trailing garbage":         good + "!",
		"trailing line end":        good + "\n",
		"line end within":          parts[0] + "\n." + parts[1] + "." + parts[2],
		"padding":                  good + "==",
		"leading space":            " " + good,
		"base64 not strict":        parts[0] + "." + parts[1] + "." + loose(parts[2]),
		"header an array":          idp.SignRaw(h, `[]`, claims("")),
		"header null":              idp.SignRaw(h, `null`, claims("")),
		"payload null":             idp.SignRaw(h, plain, `null`),
		"payload a string":         idp.SignRaw(h, plain, `"x"`),
		"payload with more behind": idp.SignRaw(h, plain, claims("")+"{}"),
		"claim twice":              idp.SignRaw(h, plain, claims(`,"sub":"user-2"`)),
		"claim twice, escaped":     idp.SignRaw(h, plain, claims(`,"\u0073ub":"user-2"`)),
		"name twice within":        idp.SignRaw(h, plain, claims(`,"x":[{"a":1,"a":2}]`)),
		"header member twice":      idp.SignRaw(h, strings.Replace(plain, "{", `{"alg":"none",`, 1), claims("")),
		"not UTF-8":                idp.SignRaw(h, plain, claims(",\"x\":\"\xff\"")),
		"number with a zero":       idp.SignRaw(h, plain, claims(`,"x":01`)),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := v.Assertion(t.Context(), raw)
			if got := refusal(t, err); got != invalid+"malformed_assertion" {
				t.Errorf("got %q", got)
			}
			_, err = v.Event(t.Context(), raw)
			if got := refusal(t, err); got != invalid+"malformed_body" {
				t.Errorf("as an event: got %q", got)
			}
		})
	}
	if _, err := v.Assertion(t.Context(), idp.SignRaw(h, plain, claims(`,"Sub":"x","x":1e999`))); err != nil {
		t.Error("a claim that is not ours was read:", err)
	}
	broken := strings.Replace(claims(""), `"user-1"`, `"\ud800"`, 1)
	if _, err := v.Assertion(t.Context(), idp.SignRaw(h, plain, broken)); refusal(t, err) != invalid+"malformed_assertion" {
		t.Error("broken escape in sub:", err)
	}
}

// loose returns another spelling of the same bytes: 64 bytes leave four bits of
// the last character without meaning.
func loose(segment string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, segment[len(segment)-1])
	return segment[:len(segment)-1] + string(alphabet[last|1])
}

func TestSignature(t *testing.T) {
	idp, v, _ := setup(t)
	parts := strings.Split(idp.Assertion(resource, "user-1", "dana@example.com"), ".")
	others := strings.Split(idp.Assertion(resource, "user-2", "eve@example.com"), ".")
	for name, raw := range map[string]string{
		"of another token": parts[0] + "." + parts[1] + "." + others[2],
		"empty":            parts[0] + "." + parts[1] + ".",
		"short":            parts[0] + "." + parts[1] + ".AAAA",
		"all zero":         parts[0] + "." + parts[1] + "." + strings.Repeat("A", 86),
	} {
		_, err := v.Assertion(t.Context(), raw)
		if got := refusal(t, err); got != invalid+"invalid_signature" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// FuzzAssertion: whatever comes in is refused or is a valid assertion.
func FuzzAssertion(f *testing.F) {
	idp, v, _ := setup(f)
	header := map[string]any{"typ": "oauth-id-jag+jwt", "alg": "ES256", "kid": idp.Kid()}
	seed(f, idp.Assertion(resource, "user-1", "dana@example.com"))
	f.Fuzz(func(t *testing.T, raw, claims string) {
		for _, in := range []string{raw, idp.SignRaw(header, `{"typ":"oauth-id-jag+jwt","alg":"ES256","kid":"`+idp.Kid()+`"}`,
			strings.ReplaceAll(claims, "ISS", idp.URL))} {
			a, err := v.Assertion(context.Background(), in)
			if refusal(t, err) != "" {
				continue
			}
			if a.ISS != idp.URL || a.Aud != resource || a.Sub == "" || a.JTI == "" || a.Email+a.Phone == "" {
				t.Errorf("accepted %+v", a)
			}
		}
	})
}

// FuzzEvent: whatever comes in is refused or is a valid event.
func FuzzEvent(f *testing.F) {
	idp, v, _ := setup(f)
	header := map[string]any{"alg": "ES256", "kid": idp.Kid()}
	seed(f, idp.Event(resource, "user-1"))
	f.Fuzz(func(t *testing.T, raw, claims string) {
		for _, in := range []string{raw, idp.SignRaw(header, `{"typ":"secevent+jwt","alg":"ES256","kid":"`+idp.Kid()+`"}`,
			strings.ReplaceAll(claims, "ISS", idp.URL))} {
			e, err := v.Event(context.Background(), in)
			if refusal(t, err) != "" {
				continue
			}
			if e.ISS != idp.URL || e.JTI == "" || e.Revokes && e.Sub == "" || len(e.Types) == 0 {
				t.Errorf("accepted %+v", e)
			}
		}
	})
}

func seed(f *testing.F, good string) {
	payload := `{"iss":"ISS","aud":"` + resource + `","sub":"u","jti":"j","iat":1795255200,"exp":1795255500,` +
		`"auth_time":1795255200,"email":"a@b.example","email_verified":true,` +
		`"events":{"` + trust.EventRevoked + `":{"subject":{"format":"iss_sub","iss":"ISS","sub":"u"}}}}`
	f.Add(good, payload)
	f.Add("..", `{"iss":"ISS","aud":["`+resource+`"],"sub":"\ud800","exp":"1","iat":1e99}`)
	f.Add("a.b.c", `{"iss":"ISS","iss":"ISS"}`)
}
