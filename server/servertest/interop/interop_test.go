// Package interop_test lets OAuth clients that others wrote, with their strict
// checks on, drive a whole server.
package interop_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

// steps is how many steps flow.mjs has: one that ends early must not pass.
const steps = 43

var stepLine = regexp.MustCompile(`(?m)^ok \d+ `)

// TestOAuth4WebAPI runs the public client library oauth4webapi against the
// server: discovery, challenges, both grants, the claim and revocation.
func TestOAuth4WebAPI(t *testing.T) {
	node, npm := tools(t)
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			s := servertest.New(t, servertest.Options{State: statetest.Address(t, engine)})
			h := newHands(t, s)
			cmd := exec.CommandContext(t.Context(), node, "flow.mjs")
			cmd.Dir = "testdata"
			cmd.Env = append(os.Environ(), "BASE="+s.URL, "CONTROL="+h.URL, "FIRSTPICK_NPM="+npm)
			var out bytes.Buffer
			cmd.Stdout = io.MultiWriter(&out, t.Output())
			cmd.Stderr = cmd.Stdout
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			var err error
			go func() { defer close(ended); err = cmd.Wait() }()
			t.Cleanup(func() { <-ended })
			h.serveUntil(ended)
			if n := len(stepLine.FindAllString(out.String(), -1)); err != nil || n != steps {
				t.Fatalf("flow.mjs did %d of %d steps and ended with %v", n, steps, err)
			}
		})
	}
}

// tools returns node and the folder that holds node_modules, or skips; where
// FIRSTPICK_REQUIRE names npm, a machine without them fails.
func tools(t *testing.T) (node, npm string) {
	t.Helper()
	missing := func(what string) {
		t.Helper()
		if slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), "npm") {
			t.Fatal("FIRSTPICK_REQUIRE names npm, and there is " + what)
		}
		t.Skip(what)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		missing("no node on this machine")
	}
	if npm = os.Getenv("FIRSTPICK_NPM"); npm == "" {
		npm = filepath.Join("..", "npm")
	}
	if npm, err = filepath.Abs(npm); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(npm, "node_modules", "oauth4webapi")); err != nil {
		missing("no oauth4webapi in " + filepath.Join(npm, "node_modules") + "; run npm ci in server/servertest/npm")
	}
	return node, npm
}
