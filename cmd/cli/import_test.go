package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics"
)

// imports is a data folder and a file of three answers to two prompts.
type imports struct {
	t          *testing.T
	data, file string
}

func newImports(t *testing.T) imports {
	t.Helper()
	dir := t.TempDir()
	in := imports{t, filepath.Join(dir, "data"), filepath.Join(dir, "a.jsonl")}
	in.write("payments", "payments", "payments")
	return in
}

func (in imports) write(categories ...string) {
	in.t.Helper()
	var lines []string
	for i, c := range categories {
		lines = append(lines, fmt.Sprintf(`{"agent":"a","category":%q,"prompt_id":"p%d","prompt":"Task %d.","repeat":%d,"outcome":{"kind":"none"}}`, c, i%2, i%2, i))
	}
	if err := os.WriteFile(in.file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		in.t.Fatal(err)
	}
}

// run runs a command, which must exit with a code and write all of want.
func (in imports) run(code int, args []string, want ...string) (stdout string) {
	in.t.Helper()
	stdout, stderr := in.execute(code, args)
	for _, w := range want {
		if !strings.Contains(stderr, w) {
			in.t.Errorf("%q: want %q in\n%s", args, w, stderr)
		}
	}
	return stdout
}

// errors returns what a command that succeeds writes to stderr.
func (in imports) errors(args []string) string {
	in.t.Helper()
	_, stderr := in.execute(0, args)
	return stderr
}

func (in imports) execute(code int, args []string) (stdout, stderr string) {
	in.t.Helper()
	env := OS()
	var out, errs bytes.Buffer
	env.Args, env.Stdin, env.Stdout, env.Stderr = slices.Concat(args, []string{"--data", in.data}), strings.NewReader(""), &out, &errs
	env.Getenv, env.Environ = func(string) string { return "" }, nil
	if got := Main(env); got != code {
		in.t.Fatalf("%q: exit code %d, want %d\n%s", args, got, code, errs.String())
	}
	return out.String(), errs.String()
}

func (in imports) board() (b analytics.Board) {
	in.t.Helper()
	if err := json.Unmarshal([]byte(in.run(0, []string{"rank", "--category", "payments", "--json"})), &b); err != nil {
		in.t.Fatal(err)
	}
	return b
}

func TestAFileUnderTwoNamesIsRefused(t *testing.T) {
	in := newImports(t)
	in.run(0, []string{"import", in.file, "--eval", "one"})
	in.run(exitUsage, []string{"import", in.file, "--eval", "two"}, "as eval one: as eval two they would count twice", "--force stores")
	if b := in.board(); b.NTrials != 3 || b.NPrompts != 2 {
		t.Errorf("%d trials of %d prompts", b.NTrials, b.NPrompts)
	}
	in.run(0, []string{"import", in.file, "--eval", "two", "--force"}, "note: the answers of category payments are also in run", "as eval one: where both are read, they count twice")
	if b := in.board(); b.NTrials != 6 || b.NPrompts != 2 {
		t.Errorf("forced: %d trials of %d prompts, want 6 of 2", b.NTrials, b.NPrompts)
	}
}

func TestImportsOfAKnownPlan(t *testing.T) {
	in := newImports(t)
	arguments := func(planned string) []string { return []string{"import", in.file, "--eval", "e", "--planned", planned} }
	in.run(exitUsage, arguments("0"), "--planned must be at least 1 (got 0)")
	in.run(exitUsage, arguments("2"), "--planned is 2, and the file has 3 trials", "nothing was stored")
	in.run(0, arguments("3"))
	if b := in.board(); b.Coverage == nil || *b.Coverage != 1 || slices.Contains(b.Warnings, analytics.CoverageUnknown) || slices.Contains(b.Warnings, analytics.Incomplete) {
		t.Errorf("all of the plan: coverage %v, %q", b.Coverage, b.Warnings)
	}
	other := newImports(t)
	other.run(0, []string{"import", other.file, "--eval", "e", "--planned", "4"})
	if b := other.board(); b.Coverage == nil || *b.Coverage != 0.75 || slices.Contains(b.Warnings, analytics.CoverageUnknown) || !slices.Contains(b.Warnings, analytics.Incomplete) {
		t.Errorf("a part of the plan: coverage %v, %q", b.Coverage, b.Warnings)
	}
	other.run(exitIncomplete, []string{"publish"}, "3 of 4")
	other.run(0, []string{"publish", "--allow-incomplete"})
	other.run(0, []string{"snapshot", "verify"})
	in.write("payments", "auth")
	in.run(exitUsage, arguments("9"), "--planned is for one category, and the file has 2")
}

func TestAnImportNamesTheRunThatItReplaces(t *testing.T) {
	in := newImports(t)
	arguments := []string{"import", in.file, "--eval", "one"}
	quiet := func(args []string) {
		t.Helper()
		if got := in.errors(args); strings.Contains(got, "place of") {
			t.Errorf("%q: %s", args, got)
		}
	}
	quiet(arguments)
	in.run(0, arguments, "note: payments: the import takes the place of run ", " of eval one, with 3 trials\n")
	in.write("payments", "payments")
	quiet([]string{"import", in.file, "--eval", "one", "--planned", "9"}) // rank keeps the complete one
	quiet([]string{"import", in.file, "--eval", "two", "--force"})
	in.write("payments")
	in.run(0, arguments, " of eval one, with 3 trials; to count both, import this one with another --eval\n")
	in.run(exitUsage, []string{"rank", "--category", "own-thing"}, "hint: firstpick lint --categories lists them; one of your own is read with --catalog DIR\n")
	in.run(exitUsage, []string{"import", in.file + "x", "--eval", "one"}, "a.jsonlx: no such file\n")
}

func TestImportSessions(t *testing.T) {
	in := newImports(t)
	dir := filepath.Join("..", "..", "runner", "importer", "sessions", "testdata")
	in.run(exitUsage, []string{"import", "--from", "codex", dir}, "error: --eval is missing", "hint: firstpick import --from codex ")
	in.run(exitUsage, []string{"import", "--from", "codx", dir, "--eval", "e"}, `unknown kind "codx"`, "did you mean codex?")
	in.run(exitUsage, []string{"import", "--from", "codex", dir, "--eval", "e", "--category", "paymnts"}, `no category "paymnts"`, "did you mean payments?")
	in.run(exitUsage, []string{"import", in.file, "--eval", "e", "--category", "payments"}, "--category needs --from KIND")
	in.run(exitUsage, []string{"import", "--from", "codex", dir + "/none", "--eval", "e"}, "error: sessions: stat ")
	in.run(exitUsage, []string{"import", "--from", "codex", dir, "--eval", "e"},
		"read 6 files: 0 sessions, 6 skipped\n", "skipped 5: not a session\n", "skipped 1: no category\n", "error: no session was imported\n", "hint: --category SLUG")
	in.run(0, []string{"import", "--from", "codex", dir, "--eval", "e", "--category", "payments"}, "read 6 files: 1 session, 5 skipped\n", "imported 1 trial in 1 category as e\n")
	tasks := filepath.Join(t.TempDir(), "tasks.yaml")
	text := "name: shop\ncategory: payments\nprompts:\n  - {id: yearly, text: Let customers pay for a yearly plan.}\nagents:\n  - {name: a, kind: simulated, truth: {stripe: 1}}\n"
	if err := os.WriteFile(tasks, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	in.run(0, []string{"import", "--from", "claude-code", dir, "--eval", "e2", "--tasks", tasks, "--agent", "we"}, "imported 1 trial in 1 category as e2\n")
	board := in.board()
	if board.NTrials != 2 || len(board.Agents) != 2 || board.Tools[0].Slug != "stripe" || board.Tools[0].Picks != 2 {
		t.Errorf("%d trials, agents %+v, first tool %+v", board.NTrials, board.Agents, board.Tools[0])
	}
}
