// Package mcp_test has others judge /api/mcp: the conformance suite of the protocol,
// its inspector, and the clients that most programs are made with.
package mcp_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/public/docs/docstest"
	"github.com/firstpick/firstpick/server/public/mcp"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

const root = "../../.."

func TestMain(m *testing.M) { statetest.Main(m) }

// newServer starts a whole server and returns where it speaks the protocol.
func newServer(t *testing.T) string {
	t.Helper()
	s := servertest.New(t, servertest.Options{Server: func(c *server.Config) {
		holder := &snapshotview.Holder{}
		holder.Set(sitetest.New(t, 1))
		c.Source, c.CLI, c.Version = holder, docstest.CLI, "1.2.3"
	}})
	return s.URL + mcp.Path
}

// A node is a Node.js that is new enough for the judges, and where their packages are.
type node struct{ program, modules string }

// newNode skips where there is none; where FIRSTPICK_REQUIRE names npm, it fails.
func newNode(t *testing.T) node {
	t.Helper()
	missing := func(what string) {
		t.Helper()
		if slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), "npm") {
			t.Fatal("FIRSTPICK_REQUIRE names npm, and there is " + what)
		}
		t.Skip(what)
	}
	modules, err := filepath.Abs(filepath.Join(root, "server", "servertest", "npm", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(modules, "@modelcontextprotocol", "conformance")); err != nil {
		missing("no conformance suite; run npm ci in server/servertest/npm")
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(root, ".ci", "node22")).Output()
	if err != nil {
		missing("no Node 22 (.ci/node22: " + err.Error() + ")")
	}
	return node{strings.TrimSpace(string(out)), modules}
}

// run runs a script of a package with a folder of its own, and returns what it printed
// and its exit code.
func (n node) run(t *testing.T, script string, args ...string) (output string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), n.program, append([]string{filepath.Join(n.modules, filepath.FromSlash(script))}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}
