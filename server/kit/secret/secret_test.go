package secret

import (
	"bytes"
	"crypto/rand"
	"errors"
	"regexp"
	"testing"
)

func vault(t *testing.T, fill byte) *Vault {
	t.Helper()
	v, err := NewVault(bytes.Repeat([]byte{fill}, MasterSize), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSealedValues(t *testing.T) {
	v := vault(t, 1)
	sealed := v.Seal("mail", []byte("dana@example.com"))
	if bytes.Contains(sealed, []byte("dana")) {
		t.Fatal("the value stands in what was sealed")
	}
	if plain, err := v.Open("mail", sealed); err != nil || string(plain) != "dana@example.com" {
		t.Fatalf("got %q, %v", plain, err)
	}
	if bytes.Equal(sealed, v.Seal("mail", []byte("dana@example.com"))) {
		t.Error("the same value is sealed the same way twice")
	}
	for name, open := range map[string]func() error{
		"another purpose": func() error { _, err := v.Open("key", sealed); return err },
		"another master":  func() error { _, err := vault(t, 2).Open("mail", sealed); return err },
		"a changed byte": func() error {
			c := bytes.Clone(sealed)
			c[len(c)-1] ^= 1
			_, err := v.Open("mail", c)
			return err
		},
		"a stump":        func() error { _, err := v.Open("mail", sealed[:5]); return err },
		"text, not ours": func() error { _, err := v.OpenText("mail", "!!"); return err },
		"empty text":     func() error { _, err := v.OpenText("mail", ""); return err },
	} {
		if err := open(); !errors.Is(err, ErrSealed) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := NewVault([]byte("short"), rand.Reader); err == nil {
		t.Error("a short master key is taken")
	}
}

func TestMACsOfDifferentParts(t *testing.T) {
	v := vault(t, 1)
	if bytes.Equal(v.MAC("p", "ab", "c"), v.MAC("p", "a", "bc")) {
		t.Error("parts run into one another")
	}
	if bytes.Equal(v.MAC("p", "a"), v.MAC("q", "a")) || bytes.Equal(v.MAC("p", "a"), vault(t, 2).MAC("p", "a")) {
		t.Error("purpose or key makes no difference")
	}
}

func TestRandomValues(t *testing.T) {
	s := Source{rand.Reader}
	code := regexp.MustCompile(`^[0-9]{6}$`)
	leading := false
	for range 2000 {
		c := s.Code()
		if !code.MatchString(c) {
			t.Fatalf("code %q", c)
		}
		leading = leading || c[0] == '0'
	}
	if !leading {
		t.Error("2,000 codes, and none begins with 0")
	}
	if tok := s.Token("at_"); len(tok) != 3+43 || tok == s.Token("at_") {
		t.Errorf("token %q", tok)
	}
}

// TestKeysCarryAChecksum: a key with one wrong character, a cut one and one of
// another kind are not keys, and cost no look-up.
func TestKeysCarryAChecksum(t *testing.T) {
	const prefix = "sk_live_"
	key := Source{rand.Reader}.Key(prefix)
	if !IsKey(key, prefix) {
		t.Fatalf("%q is not taken for a key", key)
	}
	for i := len(prefix); i < len(key); i++ {
		typo := []byte(key)
		typo[i] = 'x'
		if key[i] == 'x' {
			typo[i] = 'y'
		}
		if IsKey(string(typo), prefix) {
			t.Errorf("%q is taken for a key, with character %d changed from %q", typo, i, key)
		}
	}
	for name, text := range map[string]string{
		"cut": key[:len(key)-1], "longer": key + "x", "of another kind": "pk_live_" + key[len(prefix):], "without prefix": key[len(prefix):], "empty": "",
	} {
		if IsKey(text, prefix) {
			t.Errorf("%s: %q is taken for a key", name, text)
		}
	}
}
