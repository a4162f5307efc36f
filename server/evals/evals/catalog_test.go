package evals_test

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

const ownText = "category: {slug: votes, name: Votes, domain: saas}\ntools: [{slug: votely, name: Votely}]\n"

// Editors and keys that may run change the catalogue; viewers, and keys that may read, read it.
func TestWhoChangesTheCatalogue(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		member := func(role identity.Role) evals.Actor {
			id := "acc_" + string(role)
			if err := w.DB.Write(t.Context(), func(tx *state.Tx) error {
				if err := tx.AddAccount(t.Context(), &state.Account{ID: id, Email: string(role) + "@example.com", CreatedAt: w.now, VerifiedAt: w.now}); err != nil {
					return err
				}
				return tx.PutMember(t.Context(), w.paid.Workspace.ID, id, role, w.now)
			}); err != nil {
				t.Fatal(err)
			}
			return evals.Actor{Workspace: w.paid.Workspace, By: id, Role: role}
		}
		reader, runner := w.paid, w.paid
		reader.By, reader.Scopes, runner.By, runner.Scopes = "evk_1", []string{"read"}, "evk_2", []string{"read", "run"}
		for i, c := range []struct {
			name  string
			actor evals.Actor
			code  string
		}{
			{"owner", w.paid, ""}, {"editor", member(identity.Editor), ""}, {"viewer", member(identity.Viewer), "access_denied"},
			{"key that reads", reader, "insufficient_scope"}, {"key that runs", runner, ""}, {"without the plan", w.free, "plan_required"},
		} {
			text := ownText + strings.Repeat("#", i) + "\n"
			got, changed, err := w.PutCatalog(t.Context(), c.actor, []byte(text), evals.AnyCatalog)
			if code(err) != c.code || changed != (c.code == "") {
				t.Errorf("%s: %+v %v %v", c.name, got, changed, err)
			}
			read, err := w.Catalog(t.Context(), c.actor)
			if err != nil || c.code == "" && read.Source != text {
				t.Errorf("%s reads %+v, %v", c.name, read, err)
			}
			if _, err := w.CheckCatalog(t.Context(), c.actor, []byte(text)); err != nil {
				t.Errorf("%s checks: %v", c.name, err)
			}
		}
		list, emails, err := w.CatalogHistory(t.Context(), w.paid, 9)
		if err != nil || len(list) != 3 || emails["acc_editor"] != "editor@example.com" || emails["acc_dana"] != "dana@example.com" || len(emails) != 2 {
			t.Errorf("%v %+v %v", err, list, emails)
		}
		log, err := w.DB.Read().AuditLog(t.Context(), state.AuditFilter{Limit: 50})
		if err != nil || !strings.Contains(events(log), "catalog.stored catalog.stored catalog.stored") {
			t.Errorf("%v %s", err, events(log))
		}
	})
}

func events(log []state.AuditEntry) string {
	var out []string
	for i := range log {
		if strings.HasPrefix(log[i].Event, "catalog.") {
			out = append(out, log[i].Event)
		}
	}
	return strings.Join(out, " ")
}

func TestCatalogueVersions(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		if c, err := w.Catalog(ctx, w.paid); err != nil || c.Version != 0 || c.Source != "" || c.CreatedAt != nil || c.URL != "https://fp.example/api/v1/catalog" {
			t.Errorf("before the first: %+v, %v", c, err)
		}
		for i, c := range []struct {
			text    string
			base    int
			version int
			changed bool
			code    string
		}{
			{"wrong", evals.AnyCatalog, 0, false, "invalid_catalog"},
			{"category: [", evals.AnyCatalog, 0, false, "invalid_catalog"},
			{ownText, 1, 0, false, "catalog_changed"},
			{ownText, 0, 1, true, ""},
			{ownText, evals.NoCatalog, 1, false, ""}, // a repeated request
			{"# none\n", 0, 0, false, "catalog_changed"},
			{"# none\n", 1, 2, true, ""},
			{"", 2, 3, true, ""},
		} {
			got, changed, err := w.PutCatalog(ctx, w.paid, []byte(c.text), c.base)
			if code(err) != c.code || changed != c.changed || err == nil && got.Version != c.version {
				t.Errorf("%d: %+v %v %v", i, got, changed, err)
			}
			if (c.code == "invalid_catalog") != (len(evals.Issues(err)) > 0) {
				t.Errorf("%d: issues %+v", i, evals.Issues(err))
			}
		}
		first, err := w.CatalogVersion(ctx, w.paid, 1)
		if err != nil || first.Source != ownText || !strings.HasPrefix(first.Digest, "sha256:") || first.URL != "https://fp.example/api/v1/catalog/versions/1" {
			t.Errorf("%+v, %v", first, err)
		}
		for name, a := range map[string]evals.Actor{"another workspace": w.eve, "another of the owner": w.free} {
			if _, err := w.CatalogVersion(ctx, a, 1); code(err) != "catalog_not_found" {
				t.Errorf("%s: %v", name, err)
			}
			if c, err := w.Catalog(ctx, a); err != nil || c.Version != 0 {
				t.Errorf("%s: %+v, %v", name, c, err)
			}
			if list, err := w.OwnCategories(ctx, a); err != nil || len(list) != 0 {
				t.Errorf("%s: %d categories, %v", name, len(list), err)
			}
		}
	})
}
