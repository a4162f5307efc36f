package state_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// TestStoresOfEarlierVersionsAreMigrated: a store of schema version 8 gets the tables
// that came later and keeps its rows. Owners become members, and keys theirs.
func TestStoresOfEarlierVersionsAreMigrated(t *testing.T) {
	const version = 8
	files, err := filepath.Glob("schema/*.sql")
	if err != nil || len(files) <= version {
		t.Fatal(files, err)
	}
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			address := statetest.Address(t, engine)
			driver, source := "pgx", address
			if file, sqlite := strings.CutPrefix(address, "sqlite://"); sqlite {
				driver, source = "sqlite", file
			}
			old, err := sql.Open(driver, source)
			if err != nil {
				t.Fatal(err)
			}
			exec := func(query string, args ...any) {
				t.Helper()
				if _, err := old.ExecContext(t.Context(), query, args...); err != nil {
					t.Fatalf("%s: %v", query, err)
				}
			}
			exec("create table schema_version (version bigint primary key)")
			for i, file := range files[:version] {
				ddl, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				exec(string(ddl))
				exec("insert into schema_version (version) values ($1)", i+1)
			}
			exec(`insert into account (id, email_mac, email_sealed, verified_at, asserted_by, phone_sealed, admin, created_at, disabled_at)
				values ('dana', $1, $1, 1, '', $1, 0, 1, 0)`, []byte{})
			exec(`insert into workspace (id, slug, owner_id, plan, created_at, claimed_at, claim_expires) values
				('ws_dana', 'dana', 'dana', 'free', 1, 2, 1), ('ws_free', 'free', '', 'free', 1, 0, 9)`)
			for _, id := range []string{"dana", "free"} {
				exec(`insert into collector_key (id, hash, workspace_id, kind, label, shown, origins, created_at, last_used_at, revoked_at)
					values ($1, $2, $3, 'secret', '', '', '[]', 1, 0, 0)`, "key_"+id, []byte(id), "ws_"+id)
			}
			if err := old.Close(); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time there is nothing to do
				db := statetest.Open(t, address)
				if a, err := db.Read().Account(t.Context(), "dana"); err != nil || !a.Verified() {
					t.Fatalf("%+v, %v", a, err)
				}
			}
			db := statetest.Open(t, address)
			for _, c := range []struct{ workspace, want string }{{"ws_dana", "dana owner, key of dana"}, {"ws_free", ", key of "}} {
				members, err := db.Read().Members(t.Context(), c.workspace)
				if err != nil {
					t.Fatal(err)
				}
				keys, err := db.Read().CollectorKeys(t.Context(), c.workspace)
				if err != nil || len(keys) != 1 {
					t.Fatal(keys, err)
				}
				got := ""
				for _, m := range members {
					got += m.AccountID + " " + string(m.Role)
				}
				if got += ", key of " + keys[0].CreatedBy; got != c.want {
					t.Errorf("%s has %q, want %q", c.workspace, got, c.want)
				}
			}
			if err := db.Write(t.Context(), func(tx *state.Tx) error {
				return tx.AddSignInIdentity(t.Context(), "https://acme.example", "1", "dana", now)
			}); err != nil {
				t.Fatal(err)
			}
			if a, err := db.Read().SignInAccount(t.Context(), "https://acme.example", "1"); err != nil || a.ID != "dana" {
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
}
