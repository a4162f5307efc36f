package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/public/pages"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
)

// TestWithoutASnapshot: the page of an empty server leads on, to the sign-in only where it is.
func TestWithoutASnapshot(t *testing.T) {
	for _, accounts := range []bool{true, false} {
		r := chi.NewRouter()
		(&pages.Handler{Current: func() *snapshotview.Site { return nil }, Errors: apierr.Writer{Base: sitetest.Base}, SignIn: accounts}).Mount(r)
		status, body := ask(r, "/")
		if status != http.StatusServiceUnavailable || !strings.Contains(body, "firstpick publish") || !strings.Contains(body, `href="/docs"`) || strings.Contains(body, `<a href="/signin">Sign in to create a workspace</a>`) != accounts {
			t.Errorf("accounts %v: %d %s", accounts, status, body)
		}
	}
}
