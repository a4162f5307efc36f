// Package agentcollecttest tests the module cmd/agentcollect against the server,
// which that module must not import, and runs its own tests.
package agentcollecttest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestModuleStandsAlone copies the module, as a customer downloads it, and runs its tests
// where no other module can be fetched.
func TestModuleStandsAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "agentcollect")
	if err := os.CopyFS(dir, os.DirFS("../agentcollect")); err != nil {
		t.Fatal(err)
	}
	run := func(arg ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", arg...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off", "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(arg, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if got := run("list", "-m", "all"); got != "github.com/firstpick/firstpick/cmd/agentcollect" {
		t.Errorf("modules in the graph:\n%s", got)
	}
	run("test", "./...") // builds and vets too
}
