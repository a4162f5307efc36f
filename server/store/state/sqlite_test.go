package state

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"testing"

	"github.com/firstpick/firstpick/server/kit/secret"
)

// TestSQLiteIsDurable: the connection that writes waits for the disk at each
// commit. Without that a crash of the machine loses what was acknowledged, and no
// test that kills the process alone would notice.
func TestSQLiteIsDurable(t *testing.T) {
	vault, err := secret.NewVault(make([]byte, secret.MasterSize), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	db, err := Open(t.Context(), "sqlite://"+filepath.Join(t.TempDir(), "state.db"), vault)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	writer, is := db.eng.(*groupCommit)
	if !is {
		t.Fatalf("the engine is a %T", db.eng)
	}
	pragma := func(name string) (value string) {
		t.Helper()
		if err := writer.sql.QueryRowContext(context.Background(), "pragma "+name).Scan(&value); err != nil {
			t.Fatal(err)
		}
		return value
	}
	for name, want := range map[string]string{
		"synchronous":   "2", // full
		"journal_mode":  "wal",
		"foreign_keys":  "1",
		"busy_timeout":  "5000",
		"secure_delete": "2", // fast
	} {
		if got := pragma(name); got != want {
			t.Errorf("pragma %s is %s, want %s", name, got, want)
		}
	}
}
