//go:build linux

package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestCollectorOnAFullDisk fills the disk of a server with events. Those that do
// not fit are refused with 503, those that were acknowledged stay, and with room
// again it goes on.
func TestCollectorOnAFullDisk(t *testing.T) {
	s := newKilled(t)
	disk := filepath.Join(s.dir, "data")
	if err := os.MkdirAll(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	room := func(flags uintptr, mebibytes int) error {
		return syscall.Mount("tmpfs", disk, "tmpfs", flags, fmt.Sprintf("size=%dm", mebibytes))
	}
	if err := room(0, 12); errors.Is(err, syscall.EPERM) {
		t.Skip("mounting a small disk needs root")
	} else if err != nil {
		t.Fatal(err)
	}
	defer func() {
		s.kill()
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	}()
	s.start(s.listen)
	token, key := s.claimedWorkspace()
	var acked []string
	refused := 0
	fill := func(prefix string, stop func() bool) {
		t.Helper()
		for n := 0; !stop(); n++ {
			ids := make([]string, 500)
			for i := range ids {
				ids[i] = fmt.Sprintf("%s-%d-%d", prefix, n, i)
			}
			a, err := s.send(http.DefaultClient, s.base, "POST", "/api/collect", touches(ids), key)
			switch {
			case err != nil:
				t.Fatal(err)
			case a.status == http.StatusAccepted:
				acked = append(acked, ids...)
			case a.status == http.StatusServiceUnavailable && a.number("retry_after") > 0:
				refused++
			default:
				t.Fatalf("answered %s", a)
			}
			if n > 5000 {
				t.Fatal("the disk is never full, or /readyz does not report it")
			}
		}
	}
	ready := func() string {
		t.Helper()
		a, err := s.send(http.DefaultClient, s.base, "GET", "/readyz", nil, "")
		if err != nil {
			t.Fatal(err)
		}
		return a.text("state")
	}
	if got := ready(); got != "ok" {
		t.Errorf("/readyz with room: %q", got)
	}
	fill("first", func() bool { return refused >= 5 && ready() == "read-only" })
	before := len(acked)
	if before == 0 {
		t.Fatal("nothing was taken before the disk was full")
	}
	if err := room(syscall.MS_REMOUNT, 200); err != nil {
		t.Fatal(err)
	}
	fill("second", func() bool { return len(acked) >= before+5000 })
	if accepted, _ := s.resend(key, acked); accepted != 0 {
		t.Errorf("%d of %d acknowledged events were not stored", accepted, len(acked))
	}
	s.reportWith(token, int64(len(acked))) // the read model comes after, too
	for end := time.Now().Add(time.Minute); ready() != "ok"; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("/readyz does not become ok again")
		}
	}
	t.Logf("%d events were taken, %d requests refused", len(acked), refused)
}
