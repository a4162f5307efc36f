package servertest_test

import (
	"testing"

	"github.com/firstpick/firstpick/server"
)

// TestStrictTransport: where the public address is https, every answer has browsers
// come by https alone (RFC 6797); nowhere else, for a browser would remember it of a
// developer's machine.
func TestStrictTransport(t *testing.T) {
	for address, want := range map[string]string{
		"https://firstpick.example":      "max-age=31536000",
		"https://firstpick.example:8443": "max-age=31536000",
		"http://firstpick.example":       "",
		"http://localhost:8080":          "",
		"https://localhost:8443":         "",
		"https://app.localhost":          "",
		"https://127.0.0.1:8443":         "",
		"https://[::1]:8443":             "",
		"https://192.0.2.1":              "", // RFC 6797, 8.1.1: not of an address
	} {
		srv := newServer(t, demoSite(t, 1), func(c *server.Config) { c.BaseURL = address })
		for _, path := range []string{"/", "/api/public/leaderboard", "/nowhere", "/signin", "/healthz", "/api/collect"} {
			if got := ask(srv, "GET", path).Header["Strict-Transport-Security"]; want == "" && got != nil || want != "" && (len(got) != 1 || got[0] != want) {
				t.Errorf("%s%s: %q, want %q", address, path, got, want)
			}
		}
	}
}
