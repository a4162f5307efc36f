package servertest_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestDeprecationsAreDocumented compares openapi.yaml with /docs/versioning, which
// promises headers for deprecated operations: the first one needs a handler that sets
// them.
func TestDeprecationsAreDocumented(t *testing.T) {
	srv := newServer(t, demoSite(t, 1), nil)
	doc, _ := description(t, srv)
	resp := ask(srv, "GET", "/docs/versioning.md")
	text := body(t, resp)
	if resp.StatusCode != http.StatusOK || !strings.Contains(text, "Nothing is deprecated now.") {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.Deprecated {
				t.Errorf("%s %s is deprecated in openapi.yaml; /docs/versioning must list it, and its responses need Deprecation, Sunset and Link", method, path)
			}
		}
	}
}
