package servertest_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/kit/apierr"
)

// TestEveryCodeHasAPlaceInTheDocuments follows error_uri: the address that every error
// names leads to a place, and the table there has its status.
func TestEveryCodeHasAPlaceInTheDocuments(t *testing.T) {
	srv, _ := documented(t)
	page, text := body(t, ask(srv, "GET", "/docs/errors")), body(t, ask(srv, "GET", "/docs/errors.md"))
	for _, c := range apierr.Codes() {
		row := ""
		for line := range strings.Lines(text) {
			if strings.Contains(line, "`"+c.Code+"`") && strings.HasPrefix(line, "|") {
				row = line
				break
			}
		}
		if !strings.Contains(page, `id="`+c.Code+`"`) || !strings.Contains(row, strconv.Itoa(c.Status)) {
			t.Errorf("/docs/errors has no place or no status for %s: %q", c.Code, row)
		}
	}
}
