package filelock_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/firstpick/firstpick/runner/filelock"
)

func TestOneHoldsALock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	first, second := open(), open()
	if err := filelock.TryLock(first); err != nil {
		t.Fatal(err)
	}
	if err := filelock.TryLock(second); !errors.Is(err, filelock.ErrHeld) {
		t.Errorf("a lock that is held: %v", err)
	}
	waited := make(chan error, 1)
	go func() { waited <- filelock.Lock(second) }()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; err != nil {
		t.Errorf("after the first was closed: %v", err)
	}
	if err := filelock.TryLock(open()); !errors.Is(err, filelock.ErrHeld) {
		t.Errorf("after the second took it: %v", err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if err := filelock.TryLock(second); err == nil || errors.Is(err, filelock.ErrHeld) {
		t.Errorf("a closed file: %v", err)
	}
}
