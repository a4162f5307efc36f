package servertest_test

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func readiness(t testing.TB, s *servertest.Service) any {
	t.Helper()
	return (request{method: http.MethodGet, path: "/readyz"}).send(t, s).body["state"]
}

// becomesReady waits until the store is found to take writes again.
func becomesReady(t testing.TB, s *servertest.Service) {
	t.Helper()
	var last any
	for range 500 {
		s.Clock.Add(5 * time.Second)
		if last = readiness(t, s); last == "ok" {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("/readyz reports the store as %v", last)
}

// storeSession opens a connection to a store beside the server's.
func storeSession(t *testing.T, address string) *sql.Conn {
	t.Helper()
	driver, source := "pgx", address
	if file, sqlite := strings.CutPrefix(address, "sqlite://"); sqlite {
		driver, source = "sqlite", file
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(conn.Close(), db.Close()) })
	return conn
}

func execute(t *testing.T, conn *sql.Conn, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := conn.ExecContext(context.WithoutCancel(t.Context()), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// TestReadinessLooksAtWrites: a store that is read and not written is read-only, and
// ok again when it takes writes. Reading goes on meanwhile.
func TestReadinessLooksAtWrites(t *testing.T) {
	t.Parallel()
	for engine, lock := range map[string][]string{
		"sqlite":   {"begin immediate"},
		"postgres": {"begin", "lock table setting in exclusive mode"},
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			address := statetest.Address(t, engine)
			s := servertest.New(t, servertest.Options{State: address})
			if got := readiness(t, s); got != "ok" {
				t.Fatalf("before: %v", got)
			}
			conn := storeSession(t, address)
			execute(t, conn, lock...)
			if got := readiness(t, s); got != "ok" {
				t.Errorf("within five seconds of the last check: %v", got)
			}
			s.Clock.Add(5 * time.Second)
			for range 3 {
				began := time.Now()
				if got := readiness(t, s); got != "read-only" {
					t.Errorf("while nothing can be written: %v", got)
				}
				if d := time.Since(began); d > 4*time.Second {
					t.Errorf("the probe took %s", d)
				}
			}
			execute(t, conn, "rollback")
			becomesReady(t, s)
		})
	}
}

// TestReadinessLooksAtCommits: where the writes of clients fail, the store is
// read-only though a small write passes.
func TestReadinessLooksAtCommits(t *testing.T) {
	t.Parallel()
	address := statetest.Address(t, "postgres")
	s := servertest.New(t, servertest.Options{State: address})
	if got := readiness(t, s); got != "ok" {
		t.Fatalf("before: %v", got)
	}
	conn := storeSession(t, address)
	execute(t, conn, `create function full_disk() returns trigger language plpgsql as $$ begin raise exception 'no space left on device' using errcode = '53100'; end $$`,
		"create trigger full_disk before insert on registration for each row execute function full_disk()")
	register := post("/api/agent/identity", jsonMedia, `{"type":"anonymous"}`)
	fail := func() {
		t.Helper()
		if a := register.send(t, s); a.status != http.StatusServiceUnavailable {
			t.Fatalf("a registration on a full disk: %s", a)
		}
		s.Clock.Add(5 * time.Second)
	}
	for range 3 {
		fail()
		if got := readiness(t, s); got != "read-only" {
			t.Errorf("after a failed commit: %v", got)
		}
	}
	execute(t, conn, "drop trigger full_disk on registration")
	becomesReady(t, s)
	if a := register.send(t, s); a.status != http.StatusOK {
		t.Errorf("a registration with room again: %s", a)
	}
}
