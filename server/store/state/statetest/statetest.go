package statetest

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing" //nolint:depguard // a package of tests

	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/state"
)

// Engines are the stores that everything is tested on.
func Engines() []string { return []string{"sqlite", "postgres"} }

// shared is the cluster of the test binary; Main stops it.
var shared struct {
	sync.Once
	cluster *Cluster
	err     error
}

// Main runs a package's tests and stops the cluster that they started. It is to
// be called by TestMain.
func Main(m *testing.M) {
	code := m.Run()
	if shared.cluster != nil {
		if err := shared.cluster.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "postgres:", err) //nolint:forbidigo // a test binary's own stream
			code = 1
		}
	}
	os.Exit(code) //nolint:forbidigo // TestMain ends so
}

// Address returns the address of a new store. Without PostgreSQL the test is
// skipped, or fails where FIRSTPICK_REQUIRE names it.
func Address(t testing.TB, engine string) string {
	t.Helper()
	if engine == "sqlite" {
		return "sqlite://" + filepath.Join(t.TempDir(), "state.db")
	}
	shared.Do(func() { shared.cluster, shared.err = StartCluster(false) })
	if errors.Is(shared.err, ErrNoPostgres) {
		if slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), "postgres") { //nolint:forbidigo // the switch of all tests
			t.Fatal("FIRSTPICK_REQUIRE names postgres, and it is not installed")
		}
		t.Skip("no postgres on this machine")
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	address, err := shared.cluster.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// Vault returns the vault of all test stores.
func Vault(t testing.TB) *secret.Vault {
	t.Helper()
	v, err := secret.NewVault(bytes.Repeat([]byte{7}, secret.MasterSize), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Open opens a store; it is closed with the test.
func Open(t testing.TB, address string) *state.DB {
	t.Helper()
	db, err := state.Open(t.Context(), address, Vault(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}
