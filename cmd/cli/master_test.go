package cli

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// TestMain stops the PostgreSQL of the tests.
func TestMain(m *testing.M) { statetest.Main(m) }

// TestTheKeyOfAPostgreSQLStore is that of the folder which the first command was given.
// A command with another folder neither opens the store nor leaves a key behind.
func TestTheKeyOfAPostgreSQLStore(t *testing.T) {
	address := statetest.Address(t, "postgres")
	open := func(data string) error {
		a := &app{cfg: Config{Data: data, State: address}}
		db, _, err := a.openState(t.Context())
		if err != nil {
			return err
		}
		return db.Close()
	}
	first, other := t.TempDir(), t.TempDir()
	for range 2 {
		if err := open(first); err != nil {
			t.Fatal(err)
		}
	}
	err := open(other)
	if err == nil || !strings.Contains(err.Error(), " is missing: "+filepath.Join(other, state.MasterFile)) {
		t.Errorf("another folder: %v", err)
	}
	if hint := hintOf(err); codeOf(err) != exitUsage || !strings.Contains(hint, "FIRSTPICK_STATE_KEY") || !strings.Contains(hint, "--data") {
		t.Errorf("what to do: %d %s", codeOf(err), hint)
	}
	if _, err := os.Stat(filepath.Join(other, state.MasterFile)); err == nil {
		t.Error("a key is left behind that opens nothing")
	}
	if err := open(first); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// refusalError is an error of a PostgreSQL server with its code.
type refusalError struct{ code string }

func (r refusalError) Error() string    { return "FATAL: no (SQLSTATE " + r.code + ")" }
func (r refusalError) SQLState() string { return r.code }

func TestARefusedConnectionHasANextStep(t *testing.T) {
	for code, hint := range map[string]string{"28P01": "PGPASSWORD", "28000": "PGPASSWORD", "3D000": "createdb --owner"} {
		err := databaseErr(fmt.Errorf("state postgres://a@b/c: failed to connect to `x`: %w", errors.Join(errors.New("tls error"), refusalError{code})))
		if err.Error() != "state postgres://a@b/c: FATAL: no (SQLSTATE "+code+")" || codeOf(err) != exitUsage || !strings.Contains(hintOf(err), hint) {
			t.Errorf("%s: %v, exit code %d, hint %q", code, err, codeOf(err), hintOf(err))
		}
	}
	for _, other := range []error{nil, errors.New("down"), refusalError{"57P03"}} {
		if got := databaseErr(other); !errors.Is(got, other) {
			t.Errorf("%v became %v", other, got)
		}
	}
	address, err := url.Parse(statetest.Address(t, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	address.Path = "/not_there"
	_, _, err = (&app{cfg: Config{Data: t.TempDir(), State: address.String()}}).openState(t.Context())
	if err == nil || strings.Contains(err.Error(), "tls error") || !strings.Contains(hintOf(err), "createdb --owner") {
		t.Errorf("%v, hint %q", err, hintOf(err))
	}
}
