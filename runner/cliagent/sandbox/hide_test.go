package sandbox

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// meanwhile runs a script in the sandbox. When it has written a line, f changes files;
// then the script goes on. It returns what the script wrote after that.
func meanwhile(t *testing.T, s Sandbox, o Options, script string, f func()) string {
	t.Helper()
	argv := s.Wrap([]string{"/bin/sh", "-c", "echo started; read go; " + script}, o)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Env, cmd.Stderr = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	if line, err := r.ReadString('\n'); line != "started\n" {
		t.Fatalf("%q %v", line, err)
	}
	f()
	if _, err := io.WriteString(in, "\n"); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%s: %v", script, err)
	}
	return strings.TrimSpace(string(rest))
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestBubblewrapHidesWhatComesLater: a hidden name stays hidden when its file is made
// or replaced while the program runs. What else is in its folder shows, but for what is
// hidden itself.
func TestBubblewrapHidesWhatComesLater(t *testing.T) {
	for name, c := range map[string]struct {
		before string // that is there when the program starts
		change func(t *testing.T, file string)
	}{
		"a file that is made":     {"", func(t *testing.T, file string) { write(t, file, "SECRET") }},
		"a file that is replaced": {"SECRET", func(t *testing.T, file string) { write(t, file+".new", "SECRET"); rename(t, file+".new", file) }},
		"a file that is deleted and made again": {"SECRET", func(t *testing.T, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			write(t, file, "SECRET")
		}},
		"a file that stays":     {"SECRET", func(*testing.T, string) {}},
		"a folder that is made": {"", func(t *testing.T, file string) { write(t, filepath.Join(file, "inner"), "SECRET") }},
	} {
		t.Run(name, func(t *testing.T) {
			s, root := bubble(t), t.TempDir()
			s.user = nil // who could not enter the test's folder
			o := place(t, s)
			s.hidden, o.Tmp = nil, "" // of the machine's folders, in one of which tests are
			file := filepath.Join(root, "etc/state.db-wal")
			for path, text := range map[string]string{"etc/program.conf": "conf", "etc/sub/file": "file", "etc/data/runs": "SECRET", "etc/sub/deep/runs": "SECRET"} {
				write(t, filepath.Join(root, path), text)
			}
			if err := os.Symlink("program.conf", filepath.Join(root, "etc/link")); err != nil {
				t.Fatal(err)
			}
			if c.before != "" {
				write(t, file, c.before)
			}
			o.Hide = []string{file, filepath.Join(root, "etc/data"), filepath.Join(root, "etc/sub/deep"), "", filepath.Join(root, "etc")[1:]}
			script := "cat " + file + " " + file + "/inner " + root + "/etc/data/runs " + root + "/etc/sub/deep/runs 2>/dev/null; echo end; cat " +
				root + "/etc/program.conf " + root + "/etc/link " + root + "/etc/sub/file; (echo x > " + root + "/etc/new) 2>/dev/null; ls " + root + "/etc"
			got := meanwhile(t, s, o, script, func() { c.change(t, file) })
			if want := "end\nconfconffiledata\nlink\nprogram.conf\nsub"; got != want {
				t.Errorf("the program sees %q, want %q", got, want)
			}
		})
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}
