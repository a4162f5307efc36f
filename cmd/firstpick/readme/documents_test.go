//go:build unix

package readme

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"
)

// TestPagesRun follows each page with blocks to run: in order, in one shell, in a folder of
// its own, and compares what they print with what the page shows.
func TestPagesRun(t *testing.T) {
	if testing.Short() {
		t.Skip("runs all tutorials and how-tos: half a minute")
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl on this machine")
	}
	eachPage(t, func(t *testing.T, path, page string) {
		if strings.HasSuffix(path, "/quickstart.md") { // cmd/firstpick runs it
			return
		}
		all := blocks(page)
		outputs := execute(t, all)
		changed := page
		for i := len(all) - 1; i > 0; i-- {
			b, printed := all[i], outputs[i-1]
			if b.language != "text" || b.file() != "" || !all[i-1].runs() {
				continue
			}
			if same(b.text, printed) {
				continue
			}
			if *update && !strings.Contains(b.text, "…") {
				changed = changed[:b.begin] + aligned(printed) + changed[b.end:]
				continue
			}
			t.Errorf("%s:%d: the block prints\n%s\nthe page shows\n%s", filepath.Base(path), b.line, aligned(printed), b.text)
		}
		if changed != page {
			if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
				t.Error(err)
			}
		}
	})
}

// serve runs a block in the background, in place of the one before, and shows what it printed
// when it answers.
const serve = `[ -z "${served-}" ] || { kill -INT -- "-$served"; wait "$served"; }
echo '@@block %d'
set -m
(
%s) > "$root/served.log" 2>&1 &
served=$!
set +m
curl -s -o /dev/null --retry 60 --retry-connrefused --retry-delay 1 http://%s/healthz
cat "$root/served.log"
echo "@@status $? 0"
`

// execute runs the blocks that are to be run and returns what each printed.
func execute(t *testing.T, all []block) map[int]string {
	t.Helper()
	home, listen, count := t.TempDir(), freeAddress(t), 0
	dir := filepath.Join(home, "work")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	script.WriteString("root=$PWD\n")
	for i, b := range all {
		switch {
		case b.file() != "":
			fmt.Fprintf(&script, "mkdir -p \"$(dirname '%[1]s')\"\ncat > '%[1]s' <<'@@end'\n%[2]s@@end\n", b.file(), b.text)
			continue
		case !b.runs():
			continue
		case b.mark == "serves":
			fmt.Fprintf(&script, serve, i, b.text, address)
		default:
			_, status, _ := strings.Cut(b.mark, "exit=")
			fmt.Fprintf(&script, "echo '@@block %d'\n%s\necho \"@@status $? %s\"\n", i, b.text, status)
		}
		count++
	}
	if count == 0 {
		return nil
	}
	script.WriteString("[ -z \"${served-}\" ] || kill -INT -- \"-$served\"\nwait\n")
	text := strings.NewReplacer("{{.Base}}", "http://"+listen, address, listen).Replace(script.String())
	cmd := exec.CommandContext(t.Context(), "bash", "-c", text)
	cmd.Dir = dir
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "FIRSTPICK_") && !strings.HasPrefix(name, "XDG_") && !strings.HasSuffix(name, "_API_KEY") && !strings.HasPrefix(name, "GITHUB_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "HOME="+home, "NO_COLOR=1", "FIRSTPICK_LISTEN="+listen, "USER=you")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	out, err := os.Create(filepath.Join(home, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	cmd.Stdout, cmd.Stderr = out, out
	err = cmd.Run()
	if err != nil {
		t.Log(err)
	}
	data, err := os.ReadFile(filepath.Join(home, "out"))
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte(home), []byte("/home/you")), []byte(listen), []byte(address))
	outputs := map[int]string{}
	for part := range strings.SplitSeq(string(data), "@@block ") {
		head, rest, _ := strings.Cut(part, "\n")
		printed, status, ended := strings.Cut(rest, "@@status ")
		var n, got, want int
		if _, err := fmt.Sscan(head, &n); err != nil {
			continue
		}
		_, _ = fmt.Sscan(status, &got, &want)
		if !ended || got != want {
			t.Errorf("line %d: exit status %d, want %d:\n%s%s", all[n].line, got, want, all[n].text, printed)
		}
		outputs[n] = printed
	}
	if len(outputs) != count {
		t.Errorf("%d of %d blocks ran", len(outputs), count)
	}
	return outputs
}

// variable is what differs from run to run: the ids of runs, digests, times and keys.
var variable = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`\b\d{8}-\d{6}-[a-z0-9]{6}\b`), "RUN"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?Z?)?`), "TIME"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d\b`), "DATE"},
	{regexp.MustCompile(`\b[0-9a-f]{12,}\b`), "DIGEST"},
	{regexp.MustCompile(`\b(sk_live_|fpe_|sin_|reg_|key_|run_|evl_)[\w-]+`), "KEY"},
	{regexp.MustCompile(`\b\d+ MB\b`), "SIZE"},
	{regexp.MustCompile(`[ \t]+`), " "},
	{regexp.MustCompile(`(?m) $`), ""},
}

// same reports whether a page shows what was printed. Columns may be aligned; … is any
// text of a line, and as a line of its own any lines.
func same(shown, printed string) bool {
	for _, v := range variable {
		shown, printed = v.pattern.ReplaceAllString(shown, v.name), v.pattern.ReplaceAllString(printed, v.name)
	}
	var pattern strings.Builder
	pattern.WriteString(`\A`)
	for line := range strings.SplitSeq(strings.TrimSpace(shown), "\n") {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString(`(?:[^\n]*\n)*?`)
			continue
		}
		pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(line)), "…", `[^\n]*`) + ` ?\n`)
	}
	printed = regexp.MustCompile(`(?m)^ `).ReplaceAllString(strings.TrimSpace(printed), "")
	return regexp.MustCompile(pattern.String() + `\z`).MatchString(printed + "\n")
}

// aligned sets tab-separated columns as a terminal shows them.
func aligned(printed string) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	_, _ = w.Write([]byte(strings.TrimRight(printed, "\n") + "\n"))
	_ = w.Flush()
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(out.String(), "")
}
