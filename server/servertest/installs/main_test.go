// Package installs_test installs the collector as /setup.md tells it, in real
// frameworks and interpreters, and looks at what of their requests arrives at a
// real server. The code is the one that is served.
package installs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

// program returns the path of an interpreter, or skips.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip("no " + name + " on this machine")
	}
	return path
}

// modules returns the folder node_modules of the test libraries, or skips; where
// FIRSTPICK_REQUIRE names npm, a machine without them fails.
func modules(t *testing.T) string {
	t.Helper()
	missing := func(what string) {
		t.Helper()
		if slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), "npm") {
			t.Fatal("FIRSTPICK_REQUIRE names npm, and there is " + what)
		}
		t.Skip(what)
	}
	if _, err := exec.LookPath("node"); err != nil {
		missing("no node on this machine")
	}
	dir := os.Getenv("FIRSTPICK_NPM")
	if dir == "" {
		dir = filepath.Join("..", "npm")
	}
	dir, err := filepath.Abs(filepath.Join(dir, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "next")); err != nil {
		missing("no next in " + dir + "; run npm ci in server/servertest/npm")
	}
	return dir
}
