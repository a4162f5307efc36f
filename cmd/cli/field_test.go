package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/fixtures/observed"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
)

// TestObservedBoardsAreMarked: every row of every form says that it is observed.
func TestObservedBoardsAreMarked(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "s")
	data, err := observed.Encode(sitetest.FieldStudy())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(tty bool, args ...string) (stdout, stderr string) {
		t.Helper()
		var out, report bytes.Buffer
		env := OS()
		env.Args, env.Getenv, env.Environ = append([]string{"field", "--data", filepath.Join(dir, "data")}, args...), func(string) string { return "" }, nil
		env.Stdout, env.StdoutIsTTY, env.Stderr = &out, tty, &report
		if code := Main(env); code != exitOK {
			t.Fatalf("%v: exit code %d: %s", args, code, &report)
		}
		return out.String(), report.String()
	}
	run(false, "add", file)
	for _, args := range [][]string{{"boards"}, {"boards", "webserver"}, {"boards", "webserver", "--by", "agent"}, {"boards", "webserver", "--by", "language"}} {
		text, report := run(false, append(args, "--csv")...)
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(rows) < 2 || !strings.Contains(report, "OBSERVED") {
			t.Fatalf("%v: %q, %q, %v", args, text, report, err)
		}
		for _, row := range rows[1:] {
			if row[0] != "OBSERVED" {
				t.Errorf("%v: %q", args, row)
			}
		}
		for _, form := range []struct {
			tty  bool
			flag string
		}{{false, ""}, {true, ""}, {false, "--md"}} {
			more := append([]string{}, args...)
			if form.flag != "" {
				more = append(more, form.flag)
			}
			text, report := run(form.tty, more...)
			for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
				if strings.ContainsAny(line, "%") && !strings.Contains(line, "OBSERVED") || i == 0 && !strings.Contains(line, "observed") {
					t.Errorf("%v %+v: %q", args, form, line)
				}
			}
			if !strings.Contains(report, "OBSERVED: counted from real work") {
				t.Errorf("%v: no notice: %q", args, report)
			}
		}
	}
	for _, args := range [][]string{{"boards", "--json"}, {"boards", "webserver", "--json"}} {
		text, _ := run(false, args...)
		var doc struct{ Observed bool }
		if err := json.Unmarshal([]byte(text), &doc); err != nil || !doc.Observed {
			t.Errorf("%v: %s, %v", args, text, err)
		}
	}
}

// TestScanOfSeveralRepositories: one that fails does not keep the others from the study.
func TestScanOfSeveralRepositories(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git")
	}
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "--quiet"}, {"-c", "user.name=D", "-c", "user.email=cursoragent@cursor.com", "commit", "--quiet", "--allow-empty", "--message", "One"}} {
		if out, err := exec.CommandContext(t.Context(), git, append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	missing, study := filepath.Join(dir, "missing"), filepath.Join(dir, "study")
	for _, c := range []struct {
		repos   []string
		code    int
		written bool
		want    string
	}{
		{[]string{missing}, exitUsage, false, "error: " + missing + ": "},
		{[]string{missing, dir}, exitFailed, true, "1 commits of 1 repositories: 1 by agents"},
		{[]string{missing, dir}, exitFailed, true, "error: 1 of 2 repositories failed and are not in the study:\n       " + missing + ": "},
		{[]string{dir}, exitOK, true, "0 skipped; study scan in " + study},
	} {
		_ = os.Remove(study)
		var report bytes.Buffer
		env := OS()
		env.Args, env.Getenv, env.Environ = append([]string{"field", "scan", "--data", filepath.Join(dir, "data"), "--out", study}, c.repos...), func(string) string { return "" }, nil
		env.Stdout, env.Stderr = &report, &report
		code := Main(env)
		if _, err := os.Stat(study); code != c.code || (err == nil) != c.written || !strings.Contains(report.String(), c.want) {
			t.Errorf("%v: exit code %d, %v: %s", c.repos, code, err, &report)
		}
	}
}
