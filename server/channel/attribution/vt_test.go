package attribution

import (
	"bytes"
	"errors"
	"testing"
	"time"
)

func secret(b byte) []byte { return bytes.Repeat([]byte{b}, 32) }

func signer(t testing.TB) *Signer {
	t.Helper()
	s, err := NewSigner(2, map[byte][]byte{1: secret('a'), 2: secret('b')})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTag(t *testing.T) {
	s := signer(t)
	tag := s.Sign(77, "acme.dev", "/docs/a%20b", t0.Add(59*time.Minute))
	// Fixed, so that links already handed out stay good; computed once with Python.
	if want := "AgAAAAAAAABNAAeb-nT2o80eAEFYLY8"; len(tag) != TagLength || tag != want {
		t.Errorf("%s, not %s", tag, want)
	}
	old, err := NewSigner(1, map[byte][]byte{1: secret('a')})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		tag, host, path string
		after           time.Duration
		want            error
	}{
		"as signed":                     {tag, "acme.dev", "/docs/a%20b", 0, nil},
		"unescaped":                     {tag, "acme.dev", "/docs/a b", 0, nil},
		"with a final slash":            {tag, "acme.dev", "/docs/a%20b/", 0, nil},
		"host written otherwise":        {tag, "ACME.dev.:443", "/docs/a%20b", 0, nil},
		"with an older key":             {old.Sign(77, "acme.dev", "/x", t0), "acme.dev", "/x", 0, nil},
		"another host":                  {tag, "acme.de", "/docs/a%20b", 0, ErrTagSignature},
		"another port":                  {tag, "acme.dev:8080", "/docs/a%20b", 0, ErrTagSignature},
		"another path":                  {tag, "acme.dev", "/docs", 0, ErrTagSignature},
		"host and path moved":           {tag, "acme.de", "v/docs/a%20b", 0, ErrTagSignature},
		"the last moment":               {tag, "acme.dev", "/docs/a%20b", TagLife + time.Hour, nil},
		"after it":                      {tag, "acme.dev", "/docs/a%20b", TagLife + time.Hour + 1, ErrTagTime},
		"a clock that is behind":        {tag, "acme.dev", "/docs/a%20b", -5 * time.Minute, nil},
		"a clock that is far behind":    {tag, "acme.dev", "/docs/a%20b", -5*time.Minute - 1, ErrTagTime},
		"short":                         {tag[1:], "acme.dev", "/docs/a%20b", 0, ErrTagForm},
		"long":                          {tag + "A", "acme.dev", "/docs/a%20b", 0, ErrTagForm},
		"unused bits":                   {tag[:30] + "d", "acme.dev", "/docs/a%20b", 0, ErrTagForm},
		"a line break":                  {tag[:30] + "\n", "acme.dev", "/docs/a%20b", 0, ErrTagForm},
		"a key that there is not":       {"C" + tag[1:], "acme.dev", "/docs/a%20b", 0, ErrTagSignature},
		"a key that there is no longer": {signerOf(t, 9).Sign(77, "acme.dev", "/x", t0), "acme.dev", "/x", 0, ErrTagSignature},
	} {
		l, err := s.Check(c.tag, c.host, c.path, t0.Add(c.after))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, not %v", name, err, c.want)
		}
		if err == nil && (l.ID != 77 || !l.Hour.Equal(t0)) {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

func signerOf(t testing.TB, key byte) *Signer {
	t.Helper()
	s, err := NewSigner(key, map[byte][]byte{key: secret('z')})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Whatever one bit of a tag is changed to, it proves nothing.
func TestChangedTag(t *testing.T) {
	s := signer(t)
	tag := []byte(s.Sign(1<<63+5, "acme.dev", "/", t0))
	for i := range tag {
		for bit := range 8 {
			changed := bytes.Clone(tag)
			changed[i] ^= 1 << bit
			if l, err := s.Check(string(changed), "acme.dev", "/", t0); err == nil {
				t.Errorf("%s is as good as %s: %+v", changed, tag, l)
			}
		}
	}
}

func TestSecrets(t *testing.T) {
	if _, err := NewSigner(1, map[byte][]byte{1: secret('a')[1:]}); err == nil {
		t.Error("a short secret")
	}
	if _, err := NewSigner(3, map[byte][]byte{1: secret('a')}); err == nil {
		t.Error("no current key")
	}
	mine := secret('a')
	s, _ := NewSigner(1, map[byte][]byte{1: mine})
	tag := s.Sign(1, "h", "/", t0)
	mine[0] = 0
	if _, err := s.Check(tag, "h", "/", t0); err != nil {
		t.Error("the signer shares its secret with the caller")
	}
}

// What parses is written the same way again, so a tag has one form only.
func FuzzParseTag(f *testing.F) {
	s := signer(f)
	f.Add(s.Sign(77, "acme.dev", "/", t0))
	f.Add("")
	f.Add("AgAAAAAAAABNAAedCo0hEELd51F_0v\n")
	f.Add("===============================")
	f.Fuzz(func(t *testing.T, tag string) {
		l, err := ParseTag(tag)
		if err != nil {
			if _, err := s.Check(tag, "acme.dev", "/", t0); !errors.Is(err, ErrTagForm) {
				t.Errorf("%q: %v", tag, err)
			}
			return
		}
		same := signerOf(t, l.Key).Sign(l.ID, "acme.dev", "/", l.Hour)
		if same[:17] != tag[:17] {
			t.Errorf("%q is %+v, which is %q", tag, l, same)
		}
		if _, err := s.Check(tag, "never.example", "/", l.Hour); err == nil {
			t.Errorf("%q was never signed", tag)
		}
	})
}
