package dashboard

import "testing"

func TestElsewhere(t *testing.T) {
	for _, c := range []struct{ site, host, want string }{
		{"https://acme.dev", "acme.dev", ""},
		{"https://acme.dev", "docs.acme.dev", ""},
		{"https://www.acme.dev", "acme.dev", ""},
		{"https://www.acme.dev:8443", "www.acme.dev:8443", ""},
		{"https://acme.dev", "127.0.0.1:3000", "127.0.0.1:3000"},
		{"https://acme.dev", "notacme.dev", "notacme.dev"},
		{"https://acme.dev", "", ""},
		{"", "localhost", ""},
	} {
		if got := elsewhere(c.site, c.host); got != c.want {
			t.Errorf("%q of %q: %q, want %q", c.host, c.site, got, c.want)
		}
	}
}
