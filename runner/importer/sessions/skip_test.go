package sessions_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/importer/sessions"
)

const (
	prompted = `{"type":"user","sessionId":"ID","cwd":"/w","message":{"role":"user","content":"Add payments."},"timestamp":"2026-11-20T10:00:01Z"}`
	answered = `{"type":"assistant","sessionId":"ID","message":{"id":"m","role":"assistant","model":"m1","content":[{"type":"text","text":"Use Stripe."}]},"timestamp":"2026-11-20T10:00:02Z"}`
)

// session is a session file with this id.
func session(id string, lines ...string) string {
	return strings.ReplaceAll(strings.Join(lines, "\n"), `"ID"`, `"`+id+`"`) + "\n"
}

func TestSkipped(t *testing.T) {
	side := strings.NewReplacer(`"sessionId"`, `"isSidechain":true,"sessionId"`)
	for name, tt := range map[string]struct {
		kind, file, text string
		want             sessions.Reason
		detail           string
	}{
		"another extension":   {"claude-code", "a.txt", "x", sessions.NotSession, "file name ends with .txt"},
		"no extension":        {"claude-code", "lock", "x", sessions.NotSession, "file name without"},
		"list of prompts":     {"codex", "history.jsonl", "{}", sessions.NotSession, "list of prompts"},
		"database":            {"cursor", "chats/h/s/store.db", "SQLite", sessions.NotSession, "agent-transcripts"},
		"empty":               {"claude-code", "a.jsonl", "\n", sessions.NotSession, "empty file"},
		"other objects":       {"claude-code", "a.jsonl", "{\"a\":1}\n", sessions.NotSession, "no line has the form"},
		"another program":     {"codex", "a.jsonl", session("s", prompted, answered), sessions.NotSession, "of codex"},
		"not JSON":            {"claude-code", "a.jsonl", "{\nx\n", sessions.Unreadable, "JSON line 1"},
		"bad document":        {"atif", "a.json", "{\n\"schema_version\": \"ATIF-v1.4\",\n x}", sessions.Unreadable, "JSON line 3"},
		"a later version":     {"atif", "a.json", `{"schema_version":"ATIF-v2.0","steps":[]}`, sessions.Version, `"ATIF-v2.0"`},
		"no version":          {"atif", "a.json", `{"steps":[]}`, sessions.NotSession, "no line has the form"},
		"side chain":          {"claude-code", "agent-1.jsonl", session("s", side.Replace(prompted), side.Replace(answered)), sessions.SideChain, ""},
		"sub-agent of Codex":  {"codex", "r.jsonl", `{"type":"session_meta","payload":{"id":"s","source":{"subagent":"review"}}}`, sessions.SideChain, ""},
		"sub-agent of Gemini": {"gemini", "r.jsonl", `{"sessionId":"s","kind":"subagent"}`, sessions.SideChain, ""},
		"no prompt":           {"claude-code", "a.jsonl", session("s", answered), sessions.NoPrompt, ""},
		"no answer":           {"claude-code", "a.jsonl", session("s", prompted), sessions.NoAnswer, ""},
		"only an error": {"claude-code", "a.jsonl", session("s", prompted, strings.NewReplacer(`"m1"`, `"<synthetic>"`, `"message"`, `"error":"server_error","message"`).Replace(answered)),
			sessions.NoAnswer, ""},
		"a cut line too": {"claude-code", "a.jsonl", session("s", prompted, `{"type":"assis`), sessions.NoAnswer, "1 unreadable lines, the first: JSON line 2"},
		"a long prompt":  {"claude-code", "a.jsonl", session("s", strings.Replace(prompted, "Add", strings.Repeat("Add ", 20_000), 1), answered), sessions.TooLarge, "64 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, sessions.Options{Kind: tt.kind}, write(t, t.TempDir(), map[string]string{tt.file: tt.text}))
			if len(r.Skipped) != 1 || r.Skipped[0].Reason != tt.want || !strings.Contains(r.Skipped[0].Detail, tt.detail) || len(r.Sessions) != 0 {
				t.Errorf("got %d sessions, skipped %.300v, want %s: %s", len(r.Sessions), r.Skipped, tt.want, tt.detail)
			}
		})
	}
}

func TestUnreadableLinesAreCounted(t *testing.T) {
	root := write(t, t.TempDir(), map[string]string{
		"a.jsonl": session("a", prompted, "{broken", answered, `{"type":"assis`),
		"b.jsonl": session("b", prompted, answered),
	})
	r := read(t, sessions.Options{Kind: "claude-code"}, root)
	if len(r.Sessions) != 2 || r.BadLines != 2 || !strings.HasSuffix(r.First, "a.jsonl: JSON line 2") {
		t.Errorf("%d sessions, %d bad lines, first %q", len(r.Sessions), r.BadLines, r.First)
	}
}

func TestLongLinesAreCounted(t *testing.T) {
	root := write(t, t.TempDir(), map[string]string{"a.jsonl": session("a", prompted, answered, `"`+strings.Repeat("x", sessions.MaxLine)+`"`)})
	r := read(t, sessions.Options{Kind: "claude-code"}, root)
	if len(r.Sessions) != 1 || r.BadLines != 1 || !strings.HasSuffix(r.First, "line 3 has more than 64 MiB") {
		t.Errorf("%d sessions, %d bad lines, first %q", len(r.Sessions), r.BadLines, r.First)
	}
}

func TestAFolderIsNotLeft(t *testing.T) {
	outside := write(t, t.TempDir(), map[string]string{"secret.jsonl": session("x", prompted, answered), "dir/a.jsonl": session("y", prompted, answered)})
	root := write(t, t.TempDir(), map[string]string{"a.jsonl": session("a", prompted, answered)})
	for name, target := range map[string]string{"out.jsonl": filepath.Join(outside, "secret.jsonl"), "dir": filepath.Join(outside, "dir"), "gone.jsonl": "nothing"} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Skip(err)
		}
	}
	r := read(t, sessions.Options{Kind: "claude-code"}, root)
	if len(r.Sessions) != 1 || len(r.Skipped) != 3 {
		t.Errorf("%+v", r)
	}
	for _, s := range r.Skipped {
		if s.Reason != sessions.NotSession || !strings.HasPrefix(s.Detail, "symbolic link") {
			t.Errorf("%+v", s)
		}
	}
}

func TestOneSessionInTwoFiles(t *testing.T) {
	root := write(t, t.TempDir(), map[string]string{"a.jsonl": session("s", prompted, answered), "b.jsonl": session("s", prompted, answered, answered)})
	r := read(t, sessions.Options{Kind: "claude-code"}, root)
	if len(r.Sessions) != 1 || len(r.Skipped) != 1 || r.Skipped[0].Reason != sessions.Duplicate {
		t.Errorf("%+v", r)
	}
}

func TestSessionsOfSubAgents(t *testing.T) {
	trajectory := func(id, more string) string {
		return `{"schema_version":"ATIF-v1.5","session_id":"` + id + `","agent":{"name":"x"},"steps":[{"source":"user","message":"Pay."},{"source":"agent","message":"Stripe."` + more + `}]}`
	}
	r := read(t, sessions.Options{Kind: "atif"}, write(t, t.TempDir(), map[string]string{
		"t.json": trajectory("s", `,"observation":{"results":[{"subagent_trajectory_ref":[{"session_id":"part"},{"session_id":"s","trajectory_path":"t.summary.json"}]}]}`),
		"a.json": trajectory("part", ""), "t.summary.json": trajectory("", ""), "u.json": trajectory("", ""),
	}))
	if len(r.Sessions) != 2 || len(r.Skipped) != 2 || r.Skipped[0].Reason != sessions.SideChain || r.Skipped[1].Reason != sessions.SideChain {
		t.Errorf("skipped %v", r.Skipped)
	}
	say := `{"role":"user","message":{"content":"Pay."}}` + "\n" + `{"role":"assistant","message":{"content":"Stripe."}}`
	root := write(t, t.TempDir(), map[string]string{"x/x.jsonl": say, "x/subagents/y.jsonl": say})
	r = read(t, sessions.Options{Kind: "cursor"}, root, root)
	if len(r.Sessions) != 1 || r.Sessions[0].ID != "x" || r.Files != 4 || r.Skipped[2].Reason != sessions.Duplicate {
		t.Errorf("skipped %v", r.Skipped)
	}
}

func TestSecretsAreRedacted(t *testing.T) {
	secret := "sk-ant-" + "api03-" + strings.Repeat("aB3dE5fG7h", 9)
	root := write(t, t.TempDir(), map[string]string{"a.jsonl": session("a",
		strings.Replace(prompted, "payments", "payments with "+secret, 1),
		`{"type":"assistant","sessionId":"ID","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"KEY=`+secret+` npm i"}},{"type":"tool_use","id":"w","name":"Write","input":{"file_path":"/w/.env","content":"K=`+secret+`"}}]}}`,
		`{"type":"user","sessionId":"ID","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":""},{"type":"tool_result","tool_use_id":"w","content":""}]}}`,
		strings.Replace(answered, "Stripe", secret, 1))})
	r := read(t, sessions.Options{Kind: "claude-code"}, root)
	got, err := json.Marshal(r)
	if err != nil || len(r.Sessions) != 1 || len(r.Sessions[0].Answer.Commands) != 1 || len(r.Sessions[0].Answer.Diff) != 1 || strings.Contains(string(got), secret[8:]) {
		t.Errorf("%v %s", err, got)
	}
}

func TestSummary(t *testing.T) {
	root := write(t, t.TempDir(), map[string]string{
		"1.txt": "", "2.txt": "", "3.txt": "", "4.txt": "", "5.txt": "", "6.txt": "", "b.jsonl": session("b", prompted),
		"a.jsonl": session("a", prompted, answered, strings.Replace(prompted, "Add payments", "Take another", 1), answered, "{"),
	})
	r := read(t, sessions.Options{Kind: "claude-code"}, root)
	want := []string{
		"read 8 files: 1 session, 7 skipped", "skipped 6: not a session", "1.txt", "2.txt", "3.txt", "4.txt", "5.txt", "  and 1 more (--skipped lists all)",
		"skipped 1: no answer", "b.jsonl", "1 line unreadable in imported sessions, the first: " + filepath.Join(root, "a.jsonl") + ": JSON line 5",
		"1 session with later prompts of the user, which may have steered the answer",
	}
	got := r.Summary(false)
	if len(got) != len(want) || len(r.Summary(true)) != len(want) || !slices.EqualFunc(got, want, strings.Contains) {
		t.Errorf("%q", got)
	}
}
