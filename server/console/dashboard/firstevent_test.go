package dashboard

import (
	"testing"

	"github.com/firstpick/firstpick/server/channel/traffic"
)

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

// TestAllElsewhere: a note says where all visits of a window went, if none was to the site.
func TestAllElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		site  string
		hosts []string
		want  string
	}{
		"a test host":         {"https://acme.dev", []string{"localhost:3000", "localhost:3000", "127.0.0.1"}, "localhost:3000, 127.0.0.1"},
		"one visit to it":     {"https://acme.dev", []string{"localhost:3000", "www.acme.dev"}, ""},
		"an unknown host":     {"https://acme.dev", []string{"localhost:3000", ""}, ""},
		"no visit":            {"https://acme.dev", nil, ""},
		"a site without name": {"", []string{"localhost"}, ""},
	} {
		r := &traffic.Report{}
		for _, host := range c.hosts {
			r.Source.Pages = append(r.Source.Pages, traffic.PageSource{Host: host})
		}
		if got := allElsewhere(c.site, r); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		r.Source.Landings = append(r.Source.Landings, traffic.Landing{Host: "acme.dev", Path: "/"})
		if got := allElsewhere(c.site, r); got != "" {
			t.Errorf("%s, and a landing: %q", name, got)
		}
	}
}
