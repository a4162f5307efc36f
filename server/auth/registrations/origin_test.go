package registrations

import (
	"net/url"
	"strings"
	"testing"
)

// TestOriginsAsBrowsersSendThem: what means an origin becomes what a browser sends from
// its pages; what means more or less is refused, with the origin that may be meant.
func TestOriginsAsBrowsersSendThem(t *testing.T) {
	for given, want := range map[string]string{
		"https://example.com":           "https://example.com",
		"https://EXAMPLE.com":           "https://example.com",
		"HTTPS://example.com":           "https://example.com",
		"https://example.com/":          "https://example.com",
		"https://example.com.":          "https://example.com",
		"https://example.com:443":       "https://example.com",
		"https://example.com:0443/":     "https://example.com",
		"https://example.com:80":        "https://example.com:80",
		"http://example.com:80":         "http://example.com",
		"http://localhost:3000":         "http://localhost:3000",
		"https://müller.example":        "https://xn--mller-kva.example",
		"https://xn--mller-kva.example": "https://xn--mller-kva.example",
		"https://例え.テスト":                "https://xn--r8jz45g.xn--zckzah",
		"https://my_app.example":        "https://my_app.example",
		"http://127.0.0.1:8080":         "http://127.0.0.1:8080",
		"http://[::1]:8080":             "http://[::1]:8080",
		"http://[0:0:0:0:0:0:0:1]":      "http://[::1]",
		"https://example.com:8443":      "https://example.com:8443",
		"*":                             "! must not contain a wildcard",
		"https://*.example.com":         "! list each",
		"https://*":                     "! list each",
		"null":                          "! such as https://example.com",
		"example.com":                   "! such as https://example.com",
		"//example.com":                 "! https or http",
		"ftp://example.com":             "! https or http",
		"":                              "! https or http",
		"https://":                      "! no such host",
		"https://example.com/app":       "! sends https://example.com.",
		"https://Example.com:443/app":   "! sends https://example.com.",
		"https://example.com?a=1":       "! sends https://example.com.",
		"https://example.com#top":       "! sends https://example.com.",
		"https://dana@example.com":      "! sends https://example.com.",
		"https://example.com:8443/a":    "! sends https://example.com:8443.",
		"https://example.com:":          "! no such host or port",
		"https://example.com:99999":     "! no such host or port",
		"https://exa mple.com":          "! https or http",
		"https://exam%70le.com":         "!",
		"https://a..example":            "! no such host",
		"https://.example":              "! no such host",
		"http://127.1":                  "! no such host",
		"http://0x7f000001":             "! no such host",
		"http://[::ffff:127.0.0.1]":     "! no such host",
		"http://[fe80::1%25eth0]":       "! no such host",
		"https://" + strings.Repeat("a", 64) + ".example": "! no such host",
	} {
		got, why := browserOrigin(given)
		if refused, text := strings.HasPrefix(want, "!"), strings.TrimPrefix(strings.TrimPrefix(want, "!"), " "); refused != (why != "") || refused && !strings.Contains(why, text) || !refused && got != want {
			t.Errorf("%q: %q %q, want %q", given, got, why, want)
		}
	}
}

// FuzzOrigins: an origin that is taken stays as it is when it is given again, and no
// refusal repeats what could break an error description.
func FuzzOrigins(f *testing.F) {
	for _, seed := range []string{"https://example.com:443/", "https://müller.example", "http://[::1]:80", "https://a.b.c./x?y", "https://ⓔxample.com", "https://1.2.3.4", "https://a_b:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		origin, why := browserOrigin(given)
		for _, c := range why {
			if c < ' ' || c > '~' || c == '"' || c == '\\' {
				t.Errorf("%q: %q", given, why)
			}
		}
		if why != "" {
			return
		}
		again, why := browserOrigin(origin)
		u, err := url.Parse(origin)
		if err != nil || again != origin || why != "" || u.Scheme+"://"+u.Host != origin || strings.ToLower(origin) != origin {
			t.Errorf("%q is %q, then %q %s", given, origin, again, why)
		}
	})
}
