package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
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
