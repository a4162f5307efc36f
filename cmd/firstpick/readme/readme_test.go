//go:build unix

// Package readme runs the blocks of README.md. It is apart from the program's other tests
// so that they run side by side.
package readme

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firstpick/firstpick/cmd/porttest"
)

// fenced is a block of the README, with the comment before it that tells the test what
// to do: "serves" for one that does not end, "skip, WHY" for one that needs something
// that is not here.
var fenced = regexp.MustCompile("(?m)^(?:<!-- test: (.*) -->\n)?```(sh|text)\n((?s:.*?))^```$")

// TestREADMERuns pastes the README's blocks one after the other into a shell, in a fresh
// copy of the checkout, and compares what they print with what it shows.
func TestREADMERuns(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and runs all of the README: a minute or two")
	}
	if _, err := exec.LookPath("curl"); err != nil {
		if slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), "curl") {
			t.Fatal("FIRSTPICK_REQUIRE names curl, and it is not installed")
		}
		t.Skip("no curl on this machine")
	}
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	dir, address := t.TempDir(), freeAddress(t)
	copyCheckout(t, "../../..", dir)
	var script strings.Builder
	shown := map[int][]string{} // lines, by the block that prints them
	skipped, ran := 0, 0
	for n, m := range fenced.FindAllSubmatch(readme, -1) {
		mark, kind, text := string(m[1]), string(m[2]), string(m[3])
		switch {
		case kind == "text":
			shown[n-1] = strings.Split(strings.TrimSpace(text), "\n")
			continue
		case strings.HasPrefix(mark, "skip, "):
			skipped++
			continue
		case mark == "serves":
			text = "set -m\n(\n" + text + ") & serving=$!\nset +m\ncurl -s --retry 300 --retry-connrefused --retry-delay 1 http://127.0.0.1:8080/readyz\nkill -INT -- -$serving\nwait $serving || true\n"
		case mark != "":
			t.Errorf("a block is marked %q", mark)
		}
		ran++
		fmt.Fprintf(&script, "echo '@@block %d'\n%s", n, text)
	}
	script.WriteString("echo '@@block end'\n")
	if skipped > 2 || ran < 5 {
		t.Errorf("%d blocks run and %d are skipped", ran, skipped)
	}
	text := strings.NewReplacer("127.0.0.1:8080", address, "file:///tmp/mail", "file://"+filepath.ToSlash(dir)+"/mail").Replace(script.String())
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", text)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "FIRSTPICK_LISTEN="+address, "FIRSTPICK_KEY=", "FIRSTPICK_SERVER=", "FIRSTPICK_REMOTE=", "FIRSTPICK_EVAL_KEY=", "GITHUB_STEP_SUMMARY=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 10 * time.Second
	err = cmd.Run()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // a server that a failed block left behind
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for n, lines := range shown {
		_, printed, _ := strings.Cut(out.String(), fmt.Sprintf("@@block %d\n", n))
		printed, _, _ = strings.Cut(printed, "@@block ")
		for _, line := range lines {
			_, after, found := strings.Cut(printed, line+"\n")
			if !found {
				t.Errorf("the README shows %q; block %d prints\n%s", line, n, printed)
			}
			printed = after
		}
	}
	if len(shown) == 0 {
		t.Error("the README shows no output")
	}
}

// copyCheckout copies what a checkout holds, as far as the program is built of it.
func copyCheckout(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch name := d.Name(); {
		case d.IsDir() && (name == ".git" || name == "node_modules" || name == ".firstpick"):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case !d.Type().IsRegular() || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := porttest.Free()
	if err != nil {
		t.Fatal(err)
	}
	return address
}
