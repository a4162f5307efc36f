package change

import (
	"strings"
	"testing"
)

// No person is in what leaves, and nothing in it makes a new line of a mail.
func TestMaskAndClean(t *testing.T) {
	for path, want := range map[string]string{
		"/docs/quickstart.md": "/docs/quickstart.md", "/users/dana@example.com/x": "/users/*/x", "/u/dana%40example.com": "/u/*",
		"/invoice/20261121": "/invoice/*", "/v/12345": "/v/12345", "/blog/2026-11-21-news": "/blog/2026-11-21-news",
		"/tel/555-123-4567": "/tel/*", "/reset/9f86d081884c7d659a2feaa0c55ad015": "/reset/*", "/docs/how-to-upgrade-to-2024-release": "/docs/how-to-upgrade-to-2024-release",
		"/t/" + strings.Repeat("x", 49): "/t/*", "/t/" + strings.Repeat("x", 48): "/t/" + strings.Repeat("x", 48), "": "", "/": "/",
	} {
		if got := mask(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
	for raw, want := range map[string]string{
		"GPTBot": "GPTBot", "a\r\nBcc: b": "a  Bcc: b", "\x00\u202ea": "  a", "caf\u00e9": "caf\u00e9", "\xff": "", strings.Repeat("é", 121): strings.Repeat("é", 120) + "...",
	} {
		if got := Clean(raw); got != want {
			t.Errorf("%q: %q", raw, got)
		}
	}
}
