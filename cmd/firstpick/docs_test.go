package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var runnable = regexp.MustCompile("(?ms)^```sh run\n(.*?)^```$")

// TestQuickstartRuns does what the quickstart of a running server says: every block that
// is marked as one to run, in order, in one shell, in the folder of a project.
func TestQuickstartRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the demo and runs an eval: some seconds")
	}
	dir, addr := t.TempDir(), freeAddress(t)
	demo := firstpick(t, dir, "demo", "--listen", addr, "--data", filepath.Join(dir, "demo"))
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = demo.Process.Signal(os.Interrupt); _ = demo.Wait() })
	read := func(path string) string {
		t.Helper()
		for began := time.Now(); time.Since(began) < 2*time.Minute; time.Sleep(50 * time.Millisecond) {
			resp, err := http.Get("http://" + addr + path)
			if err != nil {
				continue
			}
			body, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("%s: %d %v %s", path, resp.StatusCode, err, body)
			}
			return string(body)
		}
		t.Fatal("the demo does not answer")
		return ""
	}
	var script strings.Builder
	source, err := os.ReadFile("../../server/public/docs/pages/quickstart.md") // the served page has no marks
	if err != nil {
		t.Fatal(err)
	}
	served := read("/docs/quickstart.md")
	found := runnable.FindAllStringSubmatch(string(source), -1)
	for _, m := range found {
		block := strings.ReplaceAll(m[1], "{{.Base}}", "http://"+addr)
		if !strings.Contains(served, "```sh\n"+block+"```") {
			t.Errorf("the served page lacks the block\n%s", block)
		}
		script.WriteString(block)
	}
	project := filepath.Join(dir, "project")
	if err := os.MkdirAll(project, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, "package.json"), []byte(`{"dependencies":{"express":"5"}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "bash", "-euc", script.String())
	cmd.Dir = project
	out := must(t, cmd)
	for _, want := range []string{`"categories":[`, `"category":"webserver"`, `"slug":"flask"`, "sk_live_", "express", "stripe"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in what the quickstart prints:\n%s", want, out)
		}
	}
	if len(found) != 5 {
		t.Errorf("%d blocks are marked to run", len(found))
	}
	if reference := read("/docs/cli.md"); !strings.Contains(reference, "\n## firstpick server\n") || !strings.Contains(reference, "`--listen`") {
		t.Error("the server's reference of the command line lacks its own command")
	}
}
