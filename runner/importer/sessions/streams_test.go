package sessions_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/importer/sessions"
)

const streams = "../../../../shared/data/agent-cli-streams"

// The sessions among recorded streams are those that a count without the decoders finds.
func TestRecordedStreams(t *testing.T) {
	files, _ := filepath.Glob(streams + "/*")
	if len(files) == 0 {
		t.Skip("no shared/data/agent-cli-streams beside the project")
	}
	for kind, answered := range map[string]func([]map[string]any) bool{
		"claude-code": func(lines []map[string]any) bool {
			l := lines[len(lines)-1]
			limited := l["subtype"] == "error_max_turns" || l["subtype"] == "error_max_budget_usd"
			return l["type"] == "result" && l["total_cost_usd"] != nil && (limited || l["is_error"] == false)
		},
		"codex": func(lines []map[string]any) bool {
			return lines[0]["thread_id"] != nil && lines[len(lines)-1]["type"] == "turn.completed"
		},
		"gemini": func(lines []map[string]any) bool {
			l := lines[len(lines)-1]
			return l["type"] == "result" && l["status"] == "success" && l["stats"] != nil
		},
		"cursor": func([]map[string]any) bool { return false },
	} {
		t.Run(kind, func(t *testing.T) {
			var want, got []string
			commands, wantCommands := 0, 0
			for _, name := range files {
				lines, text := objects(t, name)
				if filepath.Ext(name) == ".jsonl" && len(lines) > 0 && answered(lines) {
					want = append(want, filepath.Base(name))
					wantCommands += commandsIn(kind, text)
				}
			}
			r := read(t, sessions.Options{Kind: kind, Prompt: "Add payments to this app."}, streams)
			for _, s := range r.Sessions {
				got = append(got, filepath.Base(s.Path))
				commands += len(s.Answer.Commands)
				if s.Answer.FinalText != "" && !strings.Contains(s.Answer.FinalText, "Stripe") {
					t.Errorf("%s: %q", s.Path, s.Answer.FinalText)
				}
				if strings.Contains(s.Path, "_write") && (len(s.Answer.Diff) != 1 || s.Answer.Diff[0].Path != "lib.js") {
					t.Errorf("%s: %+v", s.Path, s.Answer.Diff)
				}
			}
			slices.Sort(got)
			for _, s := range r.Skipped {
				if program, _, _ := strings.Cut(kind, "-"); s.Reason == sessions.NoAnswer && !strings.HasPrefix(filepath.Base(s.Path), program) {
					t.Errorf("%s is no session of %s: %+v", s.Path, kind, s)
				}
			}
			if r.Files != len(files) || !slices.Equal(got, want) || commands != wantCommands {
				t.Errorf("%d of %d files, %d commands, sessions %q; want %d commands, %q; skipped %v", r.Files, len(files), commands, got, wantCommands, want, r.Skipped)
			}
		})
	}
}

func objects(t *testing.T, name string) (lines []map[string]any, text []byte) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(bytes.NewReader(text))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var l map[string]any
		if json.Unmarshal(in.Bytes(), &l) == nil {
			lines = append(lines, l)
		}
	}
	return lines, text
}

// commandsIn counts the finished commands of a stream by its text.
func commandsIn(kind string, text []byte) int {
	if kind == "claude-code" && bytes.Contains(text, []byte(`"name":"Write"`)) {
		return 0
	}
	return bytes.Count(text, []byte(map[string]string{
		"claude-code": `"type":"tool_result"`, "codex": `"type":"item.completed","item":{"id":"item_2","type":"command_execution"`, "gemini": `"tool_name":"run_shell_command"`,
	}[kind]))
}

func fuzz(f *testing.F, kind string) {
	_ = filepath.WalkDir(filepath.Join("testdata", kind), func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, _ := os.ReadFile(name)
			f.Add(text, strings.HasSuffix(name, ".json"))
		}
		return err
	})
	f.Add([]byte(prompted+"\n"+answered), false)
	f.Fuzz(func(t *testing.T, text []byte, document bool) {
		name := map[bool]string{false: "a.jsonl", true: "a.json"}[document]
		r := read(t, sessions.Options{Kind: kind, Prompt: "x"}, write(t, t.TempDir(), map[string]string{name: string(text)}))
		if r.Files != 1 || len(r.Summary(true)) == 0 {
			t.Errorf("%d files", r.Files)
		}
		for _, s := range r.Sessions {
			if s.Prompt == "" || s.Answer.FinalText == "" && len(s.Answer.Commands)+len(s.Answer.Diff) == 0 {
				t.Errorf("session without prompt or answer: %+v", s)
			}
			for _, change := range s.Answer.Diff {
				if !filepath.IsLocal(filepath.FromSlash(change.Path)) {
					t.Errorf("path %q is outside", change.Path)
				}
			}
		}
		if lines := r.Trials(sessions.Scheme{Category: "payments"}); len(lines) != len(r.Sessions) {
			t.Errorf("%d trials of %d sessions", len(lines), len(r.Sessions))
		}
	})
}

func FuzzClaudeCode(f *testing.F) { fuzz(f, "claude-code") }
func FuzzCodex(f *testing.F)      { fuzz(f, "codex") }
func FuzzGemini(f *testing.F)     { fuzz(f, "gemini") }
func FuzzCursor(f *testing.F)     { fuzz(f, "cursor") }
func FuzzATIF(f *testing.F)       { fuzz(f, "atif") }
