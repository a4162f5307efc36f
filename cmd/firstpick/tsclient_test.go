package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/store/state"
)

const description = "../../server/public/openapi/openapi.yaml"

// clientSteps is how many steps flow.ts has: one that ends early must not pass.
const clientSteps = 18

// npmModules returns the folder node_modules of the test libraries, or skips; where
// FIRSTPICK_REQUIRE names npm, a machine without them fails.
func npmModules(t *testing.T, wanted string) string {
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
		dir = filepath.Join("..", "..", "server", "servertest", "npm")
	}
	dir, err := filepath.Abs(filepath.Join(dir, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(wanted))); err != nil {
		missing("no " + wanted + " in " + dir + "; run npm ci in server/servertest/npm")
	}
	return dir
}

// A tsProject is a folder with the TypeScript client, its types made anew from the
// description of the API.
type tsProject struct {
	t   *testing.T
	dir string
}

func newTSProject(t *testing.T) *tsProject {
	t.Helper()
	modules := npmModules(t, "openapi-typescript")
	p := &tsProject{t, t.TempDir()}
	if err := os.CopyFS(p.dir, os.DirFS("testdata/tsclient")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(p.dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	source, err := filepath.Abs(description)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := p.node("openapi-typescript/bin/cli.js", source, "-o", "api.d.ts").CombinedOutput(); err != nil {
		t.Fatalf("types of the description: %v\n%s", err, out)
	}
	return p
}

// node is a program of node_modules.
func (p *tsProject) node(script string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(p.t.Context(), "node", append([]string{filepath.Join("node_modules", filepath.FromSlash(script))}, args...)...)
	cmd.Dir = p.dir
	return cmd
}

// check compiles one file, without output, and returns what the compiler says.
func (p *tsProject) check(file string) (string, error) {
	config := `{"extends": "./tsconfig.json", "compilerOptions": {"noEmit": true}, "files": ["` + file + `"]}`
	name := strings.TrimSuffix(file, ".ts") + ".tsconfig.json"
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(config), 0o600); err != nil {
		p.t.Fatal(err)
	}
	out, err := p.node("typescript/bin/tsc", "-p", name, "--pretty", "false").CombinedOutput()
	return string(out), err
}

var compileError = regexp.MustCompile(`(?m)^(\S+\.ts)\((\d+),\d+\): error TS`)

// TestWhatTheDescriptionLacksDoesNotCompile compiles wrong.ts, in which each wrong line
// is marked: the compiler must refuse these and no others.
func TestWhatTheDescriptionLacksDoesNotCompile(t *testing.T) {
	p := newTSProject(t)
	source, err := os.ReadFile(filepath.Join(p.dir, "wrong.ts"))
	if err != nil {
		t.Fatal(err)
	}
	var want, got []int
	for i, line := range strings.Split(string(source), "\n") {
		if strings.HasSuffix(line, "// wrong") {
			want = append(want, i+1)
		}
	}
	out, err := p.check("wrong.ts")
	if err == nil {
		t.Error("wrong.ts compiles")
	}
	for _, m := range compileError.FindAllStringSubmatch(out, -1) {
		line, _ := strconv.Atoi(m[2]) // digits
		if m[1] != "wrong.ts" {
			t.Errorf("an error in %s", m[1])
		}
		got = append(got, line)
	}
	if !slices.Equal(slices.Compact(got), want) || len(want) < 20 {
		t.Errorf("refused are lines %v, want %v\n%s", got, want, out)
	}
}

// TestTypeScriptClient drives a real server through a client that is typed by the
// description of its API.
func TestTypeScriptClient(t *testing.T) {
	p := newTSProject(t)
	if out, err := p.check("flow.ts"); err != nil {
		t.Fatalf("the client does not compile: %v\n%s", err, out)
	}
	if out, err := p.node("typescript/bin/tsc").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	h := newHouse(t, "sqlite")
	h.write(func(tx *state.Tx) error {
		_, err := tx.AddWorkspace(t.Context(), &state.Workspace{ID: "wks_ts", Slug: "ts", OwnerID: "acc", Plan: state.PlanPaid, CreatedAt: time.Now(), ClaimedAt: time.Now()})
		return err
	})
	key := func(args ...string) string {
		out, err := firstpick(t, h.dir, append([]string{"admin", "eval-key", "create", "ts"}, args...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	listen := freeAddress(t)
	h.start("server", "--with-worker", "--worker-runs", "1", "--listen", listen, "--access-log=false")
	answers(t, "http://"+listen)

	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("js", "flow.js"))
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "BASE=http://"+listen, "KEY="+key("--label", "flow"), "READ_KEY="+key("--label", "reader", "--scope", "read"))
	var out bytes.Buffer
	cmd.Stdout = io.MultiWriter(&out, t.Output())
	cmd.Stderr = cmd.Stdout
	err := cmd.Run()
	if n := len(regexp.MustCompile(`(?m)^ok \d+ `).FindAllString(out.String(), -1)); err != nil || n != clientSteps {
		t.Fatalf("flow.ts did %d of %d steps and ended with %v", n, clientSteps, err)
	}
}

// answers waits until a server does.
func answers(t *testing.T, base string) {
	t.Helper()
	for range 600 {
		if res, err := http.Get(base + "/healthz"); err == nil {
			_ = res.Body.Close()
			return
		}
		time.Sleep(50 * time.Millisecond) // nothing tells that a process listens but that it answers
	}
	t.Fatal("the server does not answer")
}
