package duck_test

import (
	"bufio"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/firstpick/firstpick/analytics/duck"
)

const holdEnv = "DUCK_TEST_HOLD"

// TestMain lets the test binary be the other process that holds a file.
func TestMain(m *testing.M) {
	if path := os.Getenv(holdEnv); path != "" {
		db, err := duck.Open(context.Background(), path, schema("a.sql"))
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("open")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		_ = db.Close()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func schema(names ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i, name := range names {
		fsys[name] = &fstest.MapFile{Data: fmt.Appendf(nil, "create table t%d (id varchar, n integer, body varchar using compression zstd)", i)}
	}
	return fsys
}

func numbered(n int) iter.Seq[[]driver.Value] {
	return func(yield func([]driver.Value) bool) {
		for i := range n {
			if !yield([]driver.Value{"id" + strconv.Itoa(i), int32(i), strings.Repeat("x", 100)}) {
				return
			}
		}
	}
}

func count(t *testing.T, db *sql.DB) int {
	t.Helper()
	var n int
	if err := db.QueryRowContext(t.Context(), "select count(*) from t0").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func openTest(t *testing.T, path string, names ...string) *sql.DB {
	t.Helper()
	db, err := duck.Open(t.Context(), path, schema(names...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestRollbackDiscardsAppendedRows(t *testing.T) {
	db := openTest(t, filepath.Join(t.TempDir(), "a.duckdb"), "a.sql")
	stop := errors.New("stop")
	for _, n := range []int{10, 300_000} {
		err := duck.InBatch(t.Context(), db, func(tx *duck.Tx) error {
			if err := tx.Append(t.Context(), "t0", numbered(n)); err != nil {
				return err
			}
			return stop
		})
		if !errors.Is(err, stop) {
			t.Fatalf("error %v, want the function's", err)
		}
		if got := count(t, db); got != 0 {
			t.Fatalf("%d rows left of %d after a rollback", got, n)
		}
	}
}

func TestCancelBeforeCommitDiscards(t *testing.T) {
	db := openTest(t, "", "a.sql")
	ctx, cancel := context.WithCancel(t.Context())
	err := duck.InBatch(ctx, db, func(tx *duck.Tx) error {
		if err := tx.Append(ctx, "t0", numbered(10)); err != nil {
			return err
		}
		cancel()
		_ = tx.Append(ctx, "t0", numbered(10)) // may or may not notice
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want context.Canceled", err)
	}
	if got := count(t, db); got != 0 {
		t.Fatalf("%d rows after a cancelled batch", got)
	}
}

func TestAppendThroughDropsKnownRows(t *testing.T) {
	db := openTest(t, "", "a.sql")
	const query = `insert into t0 select * from appended_data a where not exists (from t0 where t0.id = a.col1)`
	for _, n := range []int{100, 5000} {
		err := duck.InBatch(t.Context(), db, func(tx *duck.Tx) error {
			return tx.AppendThrough(t.Context(), query, "t0", nil, numbered(n))
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := count(t, db); got != n {
			t.Fatalf("%d rows, want %d", got, n)
		}
	}
}

func TestBadRowFailsTheBatch(t *testing.T) {
	db := openTest(t, "", "a.sql")
	err := duck.InBatch(t.Context(), db, func(tx *duck.Tx) error {
		if err := tx.Append(t.Context(), "t0", numbered(3)); err != nil {
			return err
		}
		return tx.Append(t.Context(), "t0", func(yield func([]driver.Value) bool) { yield([]driver.Value{"a", "not a number", "b"}) })
	})
	if err == nil || !strings.Contains(err.Error(), "append to t0") {
		t.Fatalf("error %v, want one that names the table", err)
	}
	if got := count(t, db); got != 0 {
		t.Fatalf("%d rows after a bad row", got)
	}
}

func TestMigrationsRunOnceAndRefuseNewerFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.duckdb")
	for range 2 {
		db := openTest(t, path, "a.sql", "b.sql")
		_ = db.Close()
	}
	_, err := duck.Open(t.Context(), path, schema("a.sql"))
	if err == nil || !strings.Contains(err.Error(), "newer firstpick") {
		t.Fatalf("error %v, want one that says the file is newer", err)
	}
}

func TestDamagedFileIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.duckdb")
	if err := os.WriteFile(path, []byte(strings.Repeat("not a database ", 1000)), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := duck.Open(t.Context(), path, schema("a.sql"))
	if !duck.IsDamaged(err) {
		t.Fatalf("error %v is not damage", err)
	}
	if _, locked := duck.IsLocked(err); locked {
		t.Fatalf("error %v counts as a lock", err)
	}
}

func TestLockedFileNamesTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.duckdb")
	exe, err := os.Executable()
	if err != nil {
		t.Skip("the test binary does not know its own path")
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), holdEnv+"="+path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip("this platform does not start processes")
	}
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "open\n" {
		t.Fatalf("the other process said %q", line)
	}
	_, err = duck.Open(t.Context(), path, schema("a.sql"))
	pid, locked := duck.IsLocked(err)
	if !locked || pid != strconv.Itoa(cmd.Process.Pid) {
		t.Errorf("IsLocked(%v) = %q, %t, want %d", err, pid, locked, cmd.Process.Pid)
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	openTest(t, path, "a.sql")
}
