package dashboard_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state"
)

// TestAnOwnerDeletes a workspace, and then the account, each after typing what the form asks
// for.
func TestAnOwnerDeletes(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	dana, eve := newOwner(t, d, "dana@acme.dev"), newOwner(t, d, "eve@evil.example")
	status, body := dana.get(dana.at("/settings"))
	if status != http.StatusOK || !strings.Contains(body, "Delete this workspace") || !strings.Contains(body, "Type <b>"+dana.slug+"</b>") {
		t.Fatalf("%d %s", status, body)
	}
	token := dana.formToken(dana.at("/settings"))
	erase := func(o *owner, path, typed, token string) (int, string) {
		return o.post(path, url.Values{"confirm": {typed}, "form_token": {token}})
	}
	if status, body := erase(dana, dana.at("/settings/delete"), "something else", token); status != http.StatusBadRequest || !strings.Contains(body, "Nothing was deleted") {
		t.Errorf("another text: %d %s", status, body)
	}
	if status, _ := erase(eve, dana.at("/settings/delete"), dana.slug, eve.formToken(eve.at("/settings"))); status != http.StatusNotFound {
		t.Errorf("somebody else: %d", status)
	}
	if _, err := d.Agents.DB.Read().WorkspaceBySlug(t.Context(), dana.slug); err != nil {
		t.Fatal(err)
	}
	if status, body := erase(dana, dana.at("/settings/delete"), dana.slug, token); status != http.StatusOK || !strings.Contains(body, "will be deleted within a minute") {
		t.Errorf("deleting: %d %s", status, body)
	}
	if status, _ := dana.get(dana.at("")); status != http.StatusNotFound {
		t.Errorf("its owner still sees it: %d", status)
	}
	_, body = dana.get("/workspaces?all")
	if !strings.Contains(body, "Delete your account") || strings.Contains(body, dana.slug) {
		t.Errorf("the list: %s", body)
	}
	token = dana.formToken("/workspaces?all")
	if status, body := erase(dana, "/account/erase", "dana@acme.dev", token); status != http.StatusOK || !strings.Contains(body, "Account deleted") {
		t.Errorf("the account: %d %s", status, body)
	}
	if _, body := dana.get("/workspaces?all"); strings.Contains(body, "Delete your account") {
		t.Error("the session still works")
	}
	open, err := d.Agents.DB.Read().Erasures(t.Context(), true)
	if err != nil || len(open) != 2 {
		t.Errorf("%+v, %v", open, err)
	}
	if _, err := d.Agents.DB.Read().WorkspaceBySlug(t.Context(), eve.slug); errors.Is(err, state.ErrNotFound) {
		t.Error("another workspace is gone")
	}
}
