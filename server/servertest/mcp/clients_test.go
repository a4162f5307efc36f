package mcp_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/firstpick/firstpick/server/public/tools"
)

// clientSteps is how many steps client.mjs has: one that ends early must not pass.
const clientSteps = 16

// TestTypeScriptClients has both clients of the TypeScript SDK use all that the server
// has: the first version, and the second in both protocols.
func TestTypeScriptClients(t *testing.T) {
	n := newNode(t)
	url := newServer(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(n.modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"v1", "v2", "newer"} {
		t.Run(way, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), n.program, "client.mjs")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "URL="+url, "WAY="+way)
			var out bytes.Buffer
			cmd.Stdout = io.MultiWriter(&out, t.Output())
			cmd.Stderr = cmd.Stdout
			err := cmd.Run()
			if done := len(regexp.MustCompile(`(?m)^ok \d+ `).FindAllString(out.String(), -1)); err != nil || done != clientSteps {
				t.Errorf("client.mjs did %d of %d steps and ended with %v", done, clientSteps, err)
			}
		})
	}
}

// TestInspector has the inspector look at all lists in both protocols; of the tools it
// says what clients may stumble over, and must say nothing.
func TestInspector(t *testing.T) {
	n := newNode(t)
	url := newServer(t)
	inspect := func(args ...string) (string, int) {
		return n.run(t, "@modelcontextprotocol/inspector/clients/launcher/build/index.js", append([]string{"--cli", url, "--transport", "http"}, args...)...)
	}
	for _, era := range []string{"legacy", "modern"} {
		for method, want := range map[string]int{"tools": len(tools.Tools()), "resources": 6, "prompts": 1} {
			args := []string{"--protocol-era", era, "--method", method + "/list"}
			if method == "tools" {
				args = append(args, "--strict")
			}
			out, code := inspect(args...)
			var lists map[string]json.RawMessage
			var list []any
			err := json.Unmarshal([]byte(out), &lists) // warnings would stand beside it
			if err == nil {
				err = json.Unmarshal(lists[method], &list)
			}
			if err != nil || code != 0 || len(list) < want {
				t.Errorf("%s %s: %v, exit code %d, %d of %d\n%s", era, method, err, code, len(list), want, out)
			}
		}
	}
	for tool, want := range map[string]int{"stripe": 0, "nope": 5} { // 5 is a result that says it is an error
		out, code := inspect("--protocol-era", "auto", "--method", "tools/call", "--tool-name", tools.GetPickRate, "--tool-arg", "tool="+tool)
		if code != want {
			t.Errorf("%s: exit code %d, want %d\n%s", tool, code, want, out)
		}
	}
}
