package cli

import (
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
