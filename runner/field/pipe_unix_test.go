//go:build unix

package field_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestPipesEndTheScan: git waits for a writer, and the scan does not.
func TestPipesEndTheScan(t *testing.T) {
	for _, name := range []string{"shallow", "objects/info/alternates", "included"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := plant(t)
			p.add("Cursor Agent", cursor, "jest", "Test")
			p.run("config", "include.path", "included")
			if err := unix.Mkfifo(filepath.Join(p.dir, ".git", name), 0o600); err != nil {
				t.Skip(err)
			}
			s := p.scanner()
			s.Stall = 300 * time.Millisecond
			if _, _, err := s.Scan(t.Context(), "x", "X", []string{p.dir}); err == nil || !strings.Contains(err.Error(), "git printed nothing for 300ms") {
				t.Errorf("%v", err)
			}
		})
	}
}
