package process

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestRunLimits ends programs that use more than they may, and says of what.
func TestRunLimits(t *testing.T) {
	const forks = "i=0; while [ $i -lt 300 ]; do sleep 60 & i=$((i+1)); done; wait"
	for name, c := range map[string]struct {
		mode   string
		script string
		limits Limits
		why    Why
		excess string
	}{
		"700 MiB with 50":             {mode: "hold", limits: Limits{MemoryMB: 50}, why: Memory, excess: "the limit is 50 MB (memory_mb)"},
		"700 MiB in a file of memory": {mode: "memfd", limits: Limits{MemoryMB: 50}, why: Memory, excess: "the limit is 50 MB (memory_mb)"},
		"300 MiB on disk with 20":     {mode: "files", limits: Limits{DiskMB: 20}, why: Disk, excess: "the limit is 20 MB (disk_mb)"},
		"a file of 300 MiB with 20":   {mode: "file", limits: Limits{DiskMB: 20}, why: Disk, excess: "the limit is 20 MB (disk_mb)"},
		"a file without a name":       {mode: "unlinked", limits: Limits{DiskMB: 20}, why: Disk, excess: "the limit is 20 MB (disk_mb)"},
		"300 processes with 100":      {script: forks, limits: Limits{Processes: 100}, why: Processes, excess: "the limit is 100 (max_processes)"},
		"within all limits":           {mode: "plain", limits: Limits{MemoryMB: 500, DiskMB: 100, Processes: 10}, why: Exited},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(c.mode)
			if c.script != "" {
				s.Argv, s.Env = []string{"/bin/sh", "-c", c.script}, []string{"PATH=/usr/bin:/bin"}
			}
			s.Dir = t.TempDir()
			s.Limits, s.Wall = c.limits, time.Minute
			s.Limits.Folders = []string{s.Dir}
			col := collect(&s)
			e := ended(t, start(t.Context(), realClock(), s))
			if e.Why != c.why || !strings.HasSuffix(e.Excess, c.excess) || (e.Excess == "") != (c.excess == "") || e.CouldNotKill {
				t.Errorf("why %s, %q; want %s, %q", e.Why, e.Excess, c.why, c.excess)
			}
			gone(t, col.pids, 0)
		})
	}
}

// TestRunLimitsOfTheSystem: no core file, and no file beyond the disk limit.
func TestRunLimitsOfTheSystem(t *testing.T) {
	for name, c := range map[string]struct {
		limits Limits
		want   string
	}{
		"no limit":   {Limits{}, "core 0 0, file 18446744073709551615 18446744073709551615"},
		"disk limit": {Limits{DiskMB: 100}, "core 0 0, file 105906176 105906176"},
	} {
		s := spec("limits")
		s.Limits = c.limits
		// The tests themselves may write core files.
		was := unix.Rlimit{}
		if err := unix.Getrlimit(unix.RLIMIT_CORE, &was); err != nil {
			t.Fatal(err)
		}
		if was.Max == 0 {
			t.Fatal("the hard limit of core files is 0 here already: this test could not fail")
		}
		if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: was.Max, Max: was.Max}); err != nil {
			t.Fatal(err)
		}
		e := ended(t, start(t.Context(), realClock(), s))
		if err := unix.Setrlimit(unix.RLIMIT_CORE, &was); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(string(e.Raw)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestFolderSize counts each file once and follows no link.
func TestFolderSize(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	for path, size := range map[string]int{filepath.Join(dir, "a"): 1 << 20, filepath.Join(dir, "sub/b"): 2 << 20, filepath.Join(other, "c"): 8 << 20} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link": other, "file": filepath.Join(other, "c"), "up": ".."} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "same")); err != nil {
		t.Fatal(err)
	}
	if size := folderSize(dir, 1<<40, map[fileID]bool{}) >> 20; size != 3 {
		t.Errorf("%d MiB, want 3", size)
	}
	if size := folderSize(dir, 1<<20, map[fileID]bool{}); size > 4<<20 || size <= 1<<20 {
		t.Errorf("%d bytes when 1 MiB is enough", size)
	}
	if size := folderSize(filepath.Join(dir, "missing"), 1, nil); size != 0 {
		t.Errorf("%d bytes in no folder", size)
	}
}

// TestFolderSizeOfClosedFolders counts what lies in folders that their owner may not
// read. Root may read all: there the test looks as another user.
func TestFolderSizeOfClosedFolders(t *testing.T) {
	const nobody = 65534
	for name, c := range map[string]struct {
		closed string
		mode   os.FileMode
	}{
		"that cannot be listed":        {"sub", 0o300},
		"that cannot be entered":       {"sub", 0o600},
		"that nothing can be done in":  {"sub", 0},
		"the first one":                {".", 0o300},
		"the first one, not for entry": {".", 0o600},
	} {
		t.Run(name, func(t *testing.T) {
			above := t.TempDir()
			if err := os.Chmod(filepath.Dir(above), 0o755); err != nil { //nolint:gosec // for the other user
				t.Fatal(err)
			}
			dir := filepath.Join(above, "work")
			if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "sub/b"), make([]byte, 2<<20), 0o600); err != nil {
				t.Fatal(err)
			}
			if os.Getuid() == 0 {
				for _, path := range []string{"sub/b", "sub", "."} {
					if err := os.Chown(filepath.Join(dir, path), nobody, nobody); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := os.Chmod(filepath.Join(dir, c.closed), c.mode); err != nil {
				t.Fatal(err)
			}
			size := make(chan int64)
			go func() {
				runtime.LockOSThread() // it ends with the goroutine
				if os.Getuid() == 0 {
					_ = unix.Setfsuid(nobody)
				}
				size <- folderSize(dir, 1<<40, map[fileID]bool{})
			}()
			if got := <-size >> 20; got != 2 {
				t.Errorf("%d MiB, want 2", got)
			}
		})
	}
}
