package webbotauth_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid/webbotauth"
)

// site answers for every address and notes who was asked.
type site struct {
	body  string
	code  int
	asked []string
}

func (s *site) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked = append(s.asked, r.URL.String())
	return &http.Response{StatusCode: s.code, Body: io.NopCloser(strings.NewReader(s.body)), Header: http.Header{}, Request: r}, nil
}

const oneKey = `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"` + testX + `"}]}`

func TestDirectory(t *testing.T) {
	const print, day = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U", 24 * time.Hour
	s := &site{body: oneKey, code: 200}
	client := &http.Client{Transport: s}
	d := webbotauth.NewDirectory([]string{"https://Chatgpt.com/", "http://plain.test"})
	check := func(what, agent, print string, at time.Time, want error) {
		t.Helper()
		key, _, err := d.Key(agent, print, at)
		if !errors.Is(err, want) || (key == nil) != (want != nil) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	check("before the first fetch", "https://chatgpt.com", print, created, webbotauth.ErrStaleKeys)
	if err := d.Refresh(t.Context(), client, created); err != nil {
		t.Fatal(err)
	}
	if len(s.asked) != 1 || s.asked[0] != "https://chatgpt.com/.well-known/http-message-signatures-directory" {
		t.Errorf("asked %v", s.asked)
	}
	check("now", "https://chatgpt.com", print, created, nil)
	check("found by its key", "", print, created, nil)
	check("two weeks on", "https://chatgpt.com", print, created.Add(14*day), nil)
	check("later", "https://chatgpt.com", print, created.Add(15*day), webbotauth.ErrStaleKeys)
	check("long ago", "https://chatgpt.com", print, created.Add(-15*day), webbotauth.ErrStaleKeys)
	check("another key", "https://chatgpt.com", "x", created, webbotauth.ErrUnknownKey)
	check("another key, later", "https://chatgpt.com", "x", created.Add(day), webbotauth.ErrStaleKeys)
	check("nobody's key", "", "x", created, webbotauth.ErrUnknownKey)
	check("somebody else", "https://elsewhere.test", print, created, webbotauth.ErrUnknownAgent)

	s.code = 500
	if err := d.Refresh(t.Context(), client, created.Add(day)); err == nil {
		t.Error("a failure was not told")
	}
	check("after a failure", "https://chatgpt.com", print, created, nil)
	s.code, s.body = 200, `{"keys":[]}`
	if err := d.Refresh(t.Context(), client, created.Add(2*day)); err != nil {
		t.Fatal(err)
	}
	check("withdrawn, of its day", "https://chatgpt.com", print, created, nil)
	check("withdrawn, later", "https://chatgpt.com", print, created.Add(day), webbotauth.ErrUnknownKey)
	if got := d.AsOf()["https://chatgpt.com"]; !got.Equal(created.Add(2 * day)) {
		t.Errorf("as of %s", got)
	}
}

func TestParseDirectory(t *testing.T) {
	for name, tc := range map[string]struct {
		raw  string
		keys int
		ok   bool
	}{
		"one":             {oneKey, 1, true},
		"none":            {`{"keys":[]}`, 0, true},
		"RSA is left out": {`{"keys":[{"kty":"RSA","n":"AQ","e":"AQAB"},{"kty":"OKP","crv":"Ed25519","x":"` + testX + `"}]}`, 1, true},
		"too short":       {`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AQ"}]}`, 0, true},
		"for encryption":  {`{"keys":[{"kty":"OKP","crv":"Ed25519","use":"enc","x":"` + testX + `"}]}`, 0, true},
		"no keys":         {`{}`, 0, false},
		"HTML":            {`<html>`, 0, false},
		"too many":        {`{"keys":[` + strings.Repeat(`{},`, 100) + `{}]}`, 0, false},
	} {
		keys, err := webbotauth.ParseDirectory([]byte(tc.raw))
		if len(keys) != tc.keys || (err == nil) != tc.ok {
			t.Errorf("%s: %v, %v", name, keys, err)
		}
	}
}

// Google's directory has short names, and signs with them.
func TestKeysByTheNameOfTheirSigner(t *testing.T) {
	keys, err := webbotauth.ParseDirectory([]byte(strings.Replace(oneKey, `"x"`, `"kid":"k1","x"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	d := webbotauth.NewDirectory([]string{agent, "https://other.test"})
	d.Put(agent, keys, created)
	d.Put("https://other.test", nil, created)
	for who, want := range map[string]error{agent: nil, "": webbotauth.ErrUnknownKey, "https://other.test": webbotauth.ErrUnknownKey} {
		if _, _, err := d.Key(who, "k1", created); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", who, err, want)
		}
	}
	if _, _, err := d.Key(agent, "", created); err == nil {
		t.Error("a key without name")
	}
}

func TestKeysHaveTheirTimes(t *testing.T) {
	raw := strings.Replace(oneKey, `"x"`, `"nbf":1735689600,"exp":1735693200000,"x"`, 1)
	keys, err := webbotauth.ParseDirectory([]byte(raw))
	if err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	d := webbotauth.NewDirectory([]string{agent})
	d.Put(agent, keys, created)
	for at, want := range map[time.Duration]error{0: nil, time.Hour: nil, 2 * time.Hour: webbotauth.ErrUnknownKey, -time.Hour: webbotauth.ErrUnknownKey} {
		if _, _, err := d.Key(agent, keys[0].Thumbprint, created.Add(at)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", at, err, want)
		}
	}
}
