// Package clitest finds the CLIs that `make test-cli` installs, for tests that run them.
package clitest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing" //nolint:depguard // a package of tests
)

// Folder returns the folder of the installed CLIs. Without FIRSTPICK_CLIS it skips the test.
func Folder(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("FIRSTPICK_CLIS") //nolint:forbidigo // for tests only
	if dir == "" {
		t.Skip("FIRSTPICK_CLIS is not set; make test-cli installs the CLIs and sets it")
	}
	return dir
}

// Program returns the path of a CLI in the folder, and skips the test if it does not run.
func Program(t testing.TB, dir, name string) string {
	t.Helper()
	program := filepath.Join(dir, "node_modules", ".bin", name)
	if out, err := exec.CommandContext(t.Context(), program, "--version").CombinedOutput(); err != nil { //nolint:gosec // a CLI that the test names
		t.Skipf("%s does not run here: %v: %.300s", name, err, out)
	}
	return program
}
